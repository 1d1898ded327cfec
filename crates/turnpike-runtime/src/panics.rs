//! Panics of the program under test: records their message and position, and keeps them quiet.
//!
//! One hook per process, in front of the existing one: a panic inside an execution is recorded with
//! the execution, and printed only if the execution is a replay; all other panics go to the
//! existing hook.

use std::any::Any;
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::Once;

use turnpike_scheduler::{Failure, FailureKind, Site, ThreadId};

use crate::context;
use crate::options::GuestOptions;
use crate::runtime::Runtime;
use crate::schedule;
use crate::site;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// Thrown through the threads of an execution that is over, so that their stacks are dropped
/// properly.
pub(crate) struct Teardown;

/// A panic, as seen by the hook.
#[derive(Clone, Default)]
pub(crate) struct PanicRecord {
    message: String,
    site: Site,
    pub(crate) backtrace: Option<String>,
    /// The previous panic in the same thread.
    before: Option<(String, Site)>,
}

impl PanicRecord {
    /// For a panic that no hook saw.
    pub(crate) fn of_payload(payload: &Payload) -> Self {
        PanicRecord { message: message(payload.as_ref()).to_owned(), ..PanicRecord::default() }
    }

    /// This panic, preceded by another one.
    pub(crate) fn after(self, first: PanicRecord) -> Self {
        PanicRecord { before: Some((first.message, first.site)), ..self }
    }

    /// The failure that ends an execution.
    pub(crate) fn failure(&self, thread: ThreadId) -> Failure {
        let kind =
            if self.message.starts_with("assertion") { FailureKind::Assertion } else { FailureKind::Panic };
        Failure { kind, message: self.message.clone(), thread, site: self.site }
    }
}

/// The standard library's message before it aborts the process because of a panic during cleanup.
const IN_CLEANUP: &str = "panic in a destructor during cleanup";

/// A destructor panicked while its thread unwound, so Rust aborts the process. It is too late to
/// return a result, so this prints one.
#[allow(clippy::print_stderr)]
fn print_abort_report(runtime: &Runtime) {
    let Some((execution, record)) = runtime.abort_report() else { return };
    let choices: Vec<u32> = execution.steps.iter().map(|step| step.taken).collect();
    let describe = |message: &str, place| format!("{message} ({})", site::explain(place).unwrap_or_default());
    if let Some((message, place)) = &record.before {
        eprintln!("a thread under check panicked: {}", describe(message, *place));
        eprintln!("and a destructor panicked while it unwound: {}", describe(&record.message, record.site));
    } else {
        eprintln!("a thread under check panicked: {}", describe(&record.message, record.site));
    }
    eprintln!("replay: TURNPIKE_REPLAY={}", schedule::encode(&choices));
}

/// Installs the hook, once.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Formatting and the previous hook may use any primitive, but not the execution.
            let runtime = context::active();
            context::outside(|| {
                if let Some(runtime) = runtime
                    && message(info.payload()) == IN_CLEANUP
                {
                    before(info);
                    print_abort_report(runtime);
                    return;
                }
                let show = match runtime {
                    Some(runtime) => {
                        let options = runtime.options();
                        let record = record(info, options);
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

fn record(info: &PanicHookInfo<'_>, options: &GuestOptions) -> PanicRecord {
    let mut location = info.location();
    if let (Some(found), Some((caller, own))) = (location, options.caller)
        && found.file() == own
    {
        location = Some(caller);
    }
    PanicRecord {
        message: message(info.payload()).to_owned(),
        site: location.map_or(Site(0), site::of_lent),
        backtrace: options.backtraces.then(|| Backtrace::force_capture().to_string()),
        before: None,
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
