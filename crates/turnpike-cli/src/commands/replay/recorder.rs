//! Records a replay with rr, the debugger that can go backwards.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use turnpike_model::Diagnostic;

use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output;

/// Runs the same command again under rr, without the flag that asks for it.
pub(super) fn run(arguments: impl Iterator<Item = OsString>) -> Outcome {
    check_recorder()?;
    let mut is_flag = true;
    let same = arguments.skip(1).filter(|argument| {
        // What comes behind `--` belongs to the program.
        is_flag &= argument != "--";
        !(is_flag && argument == "--rr")
    });
    let turnpike = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let status = Command::new("rr").arg("record").arg(turnpike).args(same).status();
    let status = status.map_err(|error| failed(&error.to_string()))?;
    output::line("recorded: `rr ps` lists the processes, of which the last one is the execution;");
    output::line("`rr replay -f PID` opens it in gdb, where `reverse-continue` and `reverse-step` go back");
    Ok(match status.code() {
        Some(0) => Exit::Clean,
        Some(1) => Exit::Found,
        _ => return Err(failed("the replay failed")),
    })
}

/// Records something small, because rr says only then whether the machine has what it needs.
fn check_recorder() -> Outcome<()> {
    let trial = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
    let tried = Command::new("rr")
        .args(["record", "-o"])
        .arg(trial.path().join("trial"))
        .arg("true")
        .stdin(Stdio::null())
        .output();
    match tried {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let error = Diagnostic::error("rr is not installed");
            Err(error.help("install rr, or use --gdb, which stops at the end of the trace").into())
        }
        Err(error) => Err(failed(&error.to_string())),
        Ok(tried) if tried.status.success() => Ok(()),
        Ok(tried) => {
            let said = String::from_utf8_lossy(&tried.stderr);
            let reason = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
            // `[FATAL file:line:function()] ` is for people who work on rr.
            let reason = reason.split_once("] ").map_or(reason, |(_, reason)| reason);
            Err(failed(reason))
        }
    }
}

fn failed(reason: &str) -> crate::failure::Failure {
    Diagnostic::error(format!("rr cannot record here: {reason}"))
        .help(
            "rr needs the performance counters of the processor, which many virtual machines hide; \
             --gdb works without them",
        )
        .into()
}
