//! Ctrl-C: the first one ends the work with what is known so far, a later one ends the program.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use turnpike_model::Diagnostic;

use crate::failure::Outcome;

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The flag that the first Ctrl-C sets; other reasons to stop set it, too.
pub(crate) fn shared() -> Arc<AtomicBool> {
    Arc::clone(&INTERRUPTED)
}

/// What a shell expects of a program that was interrupted.
const ABORTED: i32 = 130;

/// Signals within this time of the first count as the first: `timeout` and shells signal a program and
/// its process group, so that it gets one request twice.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// Takes over Ctrl-C (and a request to terminate). The flag it gives is set by the first one, and a
/// note says that a report follows.
pub(crate) fn install() -> Outcome<&'static AtomicBool> {
    install_with(|| {
        let clear = if std::io::stderr().is_terminal() { super::progress::CLEAR } else { "" };
        super::note(&format!(
            "{clear}interrupted: finishing with a partial report; press Ctrl-C again to stop at once"
        ));
    })
}

/// The same for work without a report.
pub(crate) fn install_quietly() -> Outcome<&'static AtomicBool> {
    install_with(|| {})
}

fn install_with(say: fn()) -> Outcome<&'static AtomicBool> {
    let mut first: Option<Instant> = None;
    let handler = move || match first {
        None => {
            first = Some(Instant::now());
            INTERRUPTED.store(true, Ordering::SeqCst);
            say();
        }
        Some(first) if first.elapsed() >= SAME_REQUEST => std::process::exit(ABORTED),
        Some(_) => {}
    };
    match ctrlc::set_handler(handler) {
        Ok(()) => Ok(&INTERRUPTED),
        Err(error) => Err(Diagnostic::error(format!("cannot listen for Ctrl-C: {error}")).into()),
    }
}
