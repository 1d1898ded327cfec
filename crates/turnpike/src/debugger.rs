//! Opens a debugger where a replayed schedule panics.

use std::process::Command;

/// Set besides `TURNPIKE_REPLAY`: replay under gdb.
pub(crate) const VARIABLE: &str = "TURNPIKE_GDB";

/// Stops at the panic, and selects the innermost call that is neither the library's nor turnpike's.
const SCRIPT: &str = r#"set debuginfod enabled off
set breakpoint pending on
break rust_panic
run
python
import os
def is_users(frame, turnpike):
    table = frame.find_sal().symtab
    if table is None:
        return False
    name = table.fullname()
    parts = name.split(os.sep)
    own = name.startswith(turnpike) and "/src/" in name[len(turnpike):]
    return "library" not in parts and "rustc" not in parts and not own
def select_user_code(turnpike):
    frame = gdb.newest_frame()
    while frame is not None and not is_users(frame, turnpike):
        frame = frame.older()
    if frame is not None:
        frame.select()
        gdb.execute("frame")
"#;

/// Runs this test binary again under gdb, until the user leaves it.
pub(crate) fn open() -> Result<(), String> {
    let failed = |error: std::io::Error| format!("gdb cannot be started: {error}");
    let script = std::env::temp_dir().join(format!("turnpike-{}.gdb", std::process::id()));
    // Sources of turnpike itself: of this crate, and of the crates beside it.
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let own = own.map_or(String::new(), |folder| folder.join("turnpike").display().to_string());
    let select = format!("if gdb.selected_inferior().threads():\n    select_user_code({own:?})\nend\n");
    std::fs::write(&script, format!("{SCRIPT}{select}")).map_err(failed)?;
    let mut arguments = std::env::args_os();
    let binary = arguments.next().unwrap_or_default();
    let done = Command::new("gdb")
        .arg("-q")
        .arg("-x")
        .arg(&script)
        .arg("--args")
        .arg(binary)
        .args(arguments)
        .env_remove(VARIABLE)
        .status();
    // A file in the folder of temporary files that cannot be removed is left behind.
    let _ = std::fs::remove_file(&script);
    done.map(|_| ()).map_err(failed)
}
