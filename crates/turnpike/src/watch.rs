//! A check on an OS thread of its own, so that one that blocks outside control can be left behind.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use turnpike_program::stack::{Frame, called_by_user, resolve, user_part};
use turnpike_runtime::schedule::encode;
use turnpike_runtime::{Blocked, Watch, Watchdog};

/// How often the watchdog looks.
const SLICE: Duration = Duration::from_millis(50);

/// An execution that blocked outside control, or took too long.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The thread of the program that ran, such as `main.0`; empty if it is not known.
    pub thread: String,
    /// What it called that did not come back; `None` if it computes, or if it is not known.
    pub call: Option<String>,
    /// Its stack, innermost frame first; empty if it is not known.
    pub stack: Vec<Frame>,
    /// The steps before, as text.
    pub schedule: Option<String>,
    /// How long nothing happened.
    pub after: Duration,
    waits: bool,
    slow: bool,
}

impl Stuck {
    fn new(blocked: Blocked, after: Duration) -> Self {
        let stack = resolve(&blocked.stack);
        let call = called_by_user(&stack).map(full_name);
        Stuck {
            thread: blocked.thread,
            call,
            stack,
            schedule: blocked.schedule.map(|steps| encode(&steps)),
            after,
            waits: blocked.waits,
            slow: blocked.slow,
        }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.after.as_secs_f64();
        let thread = if self.thread.is_empty() { "a thread" } else { &self.thread };
        let place = self.stack.iter().find(|frame| frame.is_user()).map(Frame::position);
        let at = place.map_or(String::new(), |place| format!(" at {place}"));
        match &self.call {
            _ if self.slow => write!(f, "one execution took more than {seconds} s; {thread} runs{at}")?,
            Some(call) if self.waits => write!(
                f,
                "{thread} blocks outside turnpike's control: `{call}`, called{at}, did not return for {seconds} s"
            )?,
            Some(call) => {
                write!(f, "{thread} does nothing visible for {seconds} s, in `{call}`, called{at}")?
            }
            None => write!(f, "{thread} does nothing visible for {seconds} s{at}")?,
        }
        if !self.stack.is_empty() {
            writeln!(f, "\n\nstack of {thread}:")?;
            // What the user's code called, and the user's code.
            let shown = user_part(&self.stack);
            let called = called_by_user(&self.stack);
            for (number, frame) in called.into_iter().chain(shown).enumerate() {
                writeln!(f, "{number:>4}  {frame}")?;
            }
        }
        if let Some(schedule) = &self.schedule {
            write!(f, "\nschedule: {schedule}")?;
        }
        if let Some(instead) = self.call.as_deref().and_then(replacement) {
            write!(f, "\nhelp: use {instead}, which the scheduler controls")?;
        }
        Ok(())
    }
}

/// The name of the function, with its module if it is one of the standard library's: where it was inlined, the
/// debugging information has only the last part of the name.
fn full_name(frame: &Frame) -> String {
    let Some(name) = &frame.function else { return frame.position() };
    let is_path = name.starts_with('<') || name.split('<').next().is_some_and(|name| name.contains("::"));
    let file = frame.source.as_ref().map_or("", |source| source.file.as_str());
    match file.split_once("/library/std/src/") {
        Some((_, file)) if !is_path => {
            let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
            format!("std::{module}::{name}")
        }
        _ => name.clone(),
    }
}

/// What to use in place of a function of the standard library.
fn replacement(call: &str) -> Option<&'static str> {
    let path = call.trim_start_matches('<');
    let path = path.strip_prefix("std::")?;
    if path.starts_with("thread") {
        Some("`turnpike::thread` in place of `std::thread`")
    } else if path.contains("sync") {
        Some("`turnpike::sync` in place of `std::sync`")
    } else {
        None
    }
}

/// Does `work` on an OS thread of its own, whose executions `watch` sees. An execution that does
/// nothing visible for `idle`, or takes longer than `whole` and that, is left behind with its thread.
pub(crate) fn watched<R: Send + 'static>(
    watch: Watch,
    (idle, whole): (Duration, Option<Duration>),
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, Stuck> {
    // A check inside a check: its steps are steps of the outer one, which is watched.
    if idle.is_zero() || turnpike_runtime::is_checking() {
        return Ok(work());
    }
    let (sender, receiver) = channel();
    let mut builder = std::thread::Builder::new();
    if let Some(name) = std::thread::current().name() {
        builder = builder.name(name.to_owned());
    }
    let work = move || {
        // The receiver waits, unless it has given up.
        let _ = sender.send(work());
    };
    let worker = match builder.spawn(work) {
        Ok(worker) => worker,
        Err(error) => panic!("the check needs a thread of its own: {error}"),
    };
    let whole = whole.map(|whole| whole + idle);
    let mut watchdog = Watchdog::new(watch, idle, whole);
    let mut last = Instant::now();
    loop {
        match receiver.recv_timeout(SLICE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(payload) => resume_unwind(payload),
                Ok(()) => unreachable!("the worker sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        // A process that was stopped for a while has not lost that time.
        let passed = last.elapsed().min(4 * SLICE);
        last = Instant::now();
        if let Some(blocked) = watchdog.look(passed) {
            let after = if blocked.slow { whole.unwrap_or(idle) } else { idle };
            return Err(Stuck::new(blocked, after));
        }
    }
}
