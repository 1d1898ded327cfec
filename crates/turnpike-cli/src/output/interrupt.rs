//! Ctrl-C: the first one ends the work with what is known so far, the second one ends the program.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use turnpike_model::Diagnostic;

use crate::failure::Outcome;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What a shell expects of a program that was interrupted.
const ABORTED: i32 = 130;

/// Takes over Ctrl-C (and a request to terminate). The flag it gives is set by the first one.
pub(crate) fn install() -> Outcome<&'static AtomicBool> {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(ABORTED);
        }
        let clear = if std::io::stderr().is_terminal() { super::progress::CLEAR } else { "" };
        super::note(&format!(
            "{clear}interrupted: finishing with a partial report; press Ctrl-C again to stop at once"
        ));
    };
    match ctrlc::set_handler(handler) {
        Ok(()) => Ok(&INTERRUPTED),
        Err(error) => Err(Diagnostic::error(format!("cannot listen for Ctrl-C: {error}")).into()),
    }
}
