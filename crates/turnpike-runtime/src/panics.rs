//! Panics of the program under test: what they said and where, kept quiet.
//!
//! One hook for the process, in front of the one that was there: a panic inside an execution is recorded with the
//! execution, and printed only when the execution is a replay; all other panics go the usual way.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::Once;

use turnpike_scheduler::{Failure, FailureKind, Site, ThreadId};

use crate::context;
use crate::site;

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// Thrown through threads of an execution that is over, so that their stacks are dropped in an orderly way.
pub(crate) struct Teardown;

/// A panic, as its hook saw it.
#[derive(Clone, Default)]
pub(crate) struct PanicRecord {
    message: String,
    site: Site,
    pub(crate) backtrace: Option<String>,
}

impl PanicRecord {
    /// Of a panic that no hook saw.
    pub(crate) fn of_payload(payload: &Payload) -> Self {
        PanicRecord { message: message(payload.as_ref()).to_owned(), ..PanicRecord::default() }
    }

    /// As the end of an execution.
    pub(crate) fn failure(&self, thread: ThreadId) -> Failure {
        let kind =
            if self.message.starts_with("assertion") { FailureKind::Assertion } else { FailureKind::Panic };
        Failure { kind, message: self.message.clone(), thread, site: self.site }
    }
}

/// Puts the hook in place, once.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Formatting and the hook before us may use anything, but not the execution.
            let runtime = context::active();
            context::outside(|| {
                let show = match runtime {
                    Some(runtime) => {
                        let options = runtime.options();
                        let record = record(info, options.backtraces);
                        runtime.record_panic(record);
                        options.show_panics
                    }
                    None => true,
                };
                if show {
                    before(info);
                }
            });
        }));
    });
}

fn record(info: &PanicHookInfo<'_>, backtraces: bool) -> PanicRecord {
    PanicRecord {
        message: message(info.payload()).to_owned(),
        site: info.location().map_or(Site(0), site::of_lent),
        backtrace: backtraces.then(|| Backtrace::force_capture().to_string()),
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}
