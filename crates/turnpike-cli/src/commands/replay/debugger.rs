//! Opens a debugger where a schedule of a program ends.

use std::sync::Arc;

use turnpike_model::Trace;
use turnpike_program::ProgramModel;
use turnpike_program::native::NativeProgram;
use turnpike_session::{Held, ProgramSource, hold_at_end};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Selects the thread that ended the execution, and the innermost of its calls that is in the program itself.
const SELECT: &str = r#"python
def select_user_code(lwp, program):
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == lwp:
            thread.switch()
    # Code of headers that belong to the compiler is compiled into the program.
    headers = ('/usr/include/', '/usr/lib/', '/usr/lib64/', '/usr/local/include/', '/rustc/')
    frame, first = gdb.newest_frame(), None
    while frame is not None:
        table = frame.find_sal().symtab
        if table is not None and table.objfile.filename == program:
            first = first or frame
            if not table.fullname().startswith(headers):
                first = frame
                break
        frame = frame.older()
    if first is not None:
        first.select()
"#;

pub(super) fn run(source: &ProgramSource, program: &Arc<ProgramModel>, trace: &Trace) -> Outcome {
    let failed = |error: turnpike_scheduler::GuestError| Failure::usage(error.to_string());
    let followed = program.follow(trace).map_err(failed)?;
    if let Some(parting) = followed.parting {
        return Err(Failure::usage(format!(
            "step {} of the trace does not fit the program: {}",
            parting.step, parting.expected
        )));
    }
    let file = std::path::absolute(&source.path)
        .map_err(|error| Failure::usage(error.to_string()))?
        .display()
        .to_string();
    let mut opened = Ok(());
    let look = |program: &NativeProgram, held: Held| opened = open(program, &file, held);
    hold_at_end(source, program, &followed.choices, look).map_err(failed)?;
    opened.map(|()| Exit::Clean)
}

/// Runs the debugger until the user leaves it.
fn open(program: &NativeProgram, file: &str, held: Held) -> Outcome<()> {
    output::line("opening gdb where the trace ends: `info threads`, `thread apply all bt`, `quit`");
    let start = tempfile::NamedTempFile::with_suffix(".gdb").and_then(|script| {
        let call = format!("select_user_code({}, {file:?})\nend\nframe\n", held.thread);
        std::fs::write(script.path(), format!("{SELECT}{call}"))?;
        program
            .debugger("gdb")?
            .args(["-q", "-iex", "set debuginfod enabled off", "-p", &held.process.to_string(), "-x"])
            .arg(script.path())
            .status()
    });
    match start {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage(format!("gdb cannot be started: {error}"))),
    }
}
