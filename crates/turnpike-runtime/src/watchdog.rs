//! Notices executions that block outside control: on a lock of the standard library, in a system
//! call, in a loop without a visible operation.
//!
//! The OS thread of such an execution cannot be given back. The thread that waits for it asks a
//! [`Watchdog`] now and then, and abandons it when the watchdog says so. This is the only place
//! where elapsed time matters, and what comes of it is an error, never a result of the search.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// What an executor shows of its present execution.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Counts visible operations.
    operations: AtomicU64,
    /// Counts executions.
    executions: AtomicU64,
    /// The OS thread of the execution; 0 between executions.
    thread: AtomicU64,
}

impl Pulse {
    /// A visible operation.
    #[inline]
    pub(crate) fn beat(&self) {
        // Only the OS thread of the execution writes.
        self.operations.store(self.operations.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// An execution begins on the calling OS thread. It is over when the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Beating {
        self.executions.fetch_add(1, Ordering::Relaxed);
        let before = self.thread.swap(os::current_thread(), Ordering::Release);
        Beating { pulse: Arc::clone(self), before }
    }
}

/// An execution that goes on.
pub(crate) struct Beating {
    pulse: Arc<Pulse>,
    /// The execution that this one is nested in.
    before: u64,
}

impl Drop for Beating {
    fn drop(&mut self) {
        self.pulse.thread.store(self.before, Ordering::Release);
    }
}

/// Executors that are watched: all whose [`GuestOptions`](crate::GuestOptions) have this value.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<Vec<Weak<Pulse>>>>);

impl Watch {
    /// Nothing to watch yet.
    pub fn new() -> Self {
        Watch::default()
    }

    pub(crate) fn add(&self, pulse: &Arc<Pulse>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(pulse));
    }
}

/// An execution that does not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The thread of the program that runs, such as `main.0`; empty if it cannot be asked.
    pub thread: String,
    /// Its stack, innermost frame first, as addresses behind calls; empty if it cannot be asked.
    pub stack: Vec<u64>,
    /// The steps before: positions in the lists of choices. `None` if they cannot be asked for.
    pub schedule: Option<Vec<u32>>,
    /// Whether it waits in a system call, as opposed to computing.
    pub waits: bool,
    /// Whether there were visible operations, but the execution takes too long altogether.
    pub slow: bool,
}

/// Looks at executions from another OS thread.
#[derive(Debug)]
pub struct Watchdog {
    watch: Watch,
    idle: Duration,
    whole: Option<Duration>,
    seen: Vec<Seen>,
}

/// What was seen of an executor.
#[derive(Debug)]
struct Seen {
    pulse: Weak<Pulse>,
    operations: u64,
    executions: u64,
    /// Time without a visible operation, and time since the execution began.
    idle: Duration,
    whole: Duration,
    /// Processor time that the OS thread had used.
    used: Duration,
}

impl Watchdog {
    /// An execution is blocked after `idle` without a visible operation, or after `whole`
    /// altogether.
    pub fn new(watch: Watch, idle: Duration, whole: Option<Duration>) -> Self {
        Watchdog { watch, idle, whole, seen: Vec::new() }
    }

    /// Looks at all executions, `passed` after the last time.
    pub fn look(&mut self, passed: Duration) -> Option<Blocked> {
        let pulses = self.watch.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.seen.retain(|seen| seen.pulse.strong_count() > 0);
        for weak in pulses {
            let Some(pulse) = weak.upgrade() else { continue };
            let known = self.seen.iter().position(|seen| Weak::ptr_eq(&seen.pulse, &weak));
            let index = known.unwrap_or_else(|| {
                self.seen.push(Seen::new(weak));
                self.seen.len() - 1
            });
            let seen = &mut self.seen[index];
            let thread = pulse.thread.load(Ordering::Acquire);
            seen.update(&pulse, thread, passed);
            let slow = self.whole.is_some_and(|whole| seen.whole >= whole);
            if thread != 0 && (slow || seen.idle >= self.idle) && !os::is_traced() {
                let waits = os::state(thread).is_some_and(|state| state.sleeps);
                let slow = seen.idle < self.idle;
                return Some(Blocked { waits, slow, ..os::ask(thread) });
            }
        }
        None
    }
}

impl Seen {
    fn new(pulse: Weak<Pulse>) -> Self {
        let (idle, whole, used) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Seen { pulse, operations: u64::MAX, executions: u64::MAX, idle, whole, used }
    }

    fn update(&mut self, pulse: &Pulse, thread: u64, passed: Duration) {
        let operations = pulse.operations.load(Ordering::Relaxed);
        let executions = pulse.executions.load(Ordering::Relaxed);
        let state = if thread == 0 { None } else { os::state(thread) };
        let used = state.as_ref().map_or(Duration::ZERO, |state| state.used);
        if thread == 0 || executions != self.executions {
            (self.idle, self.whole) = (Duration::ZERO, Duration::ZERO);
        } else {
            self.whole += passed;
            if operations != self.operations {
                self.idle = Duration::ZERO;
            } else {
                // A machine that is busy with something else is given time.
                self.idle += match state {
                    Some(state) if !state.sleeps => used.saturating_sub(self.used).min(passed),
                    _ => passed,
                };
            }
        }
        (self.operations, self.executions, self.used) = (operations, executions, used);
    }
}

#[cfg(target_os = "linux")]
#[path = "watchdog/linux.rs"]
mod os;

/// Elsewhere only the time is known.
#[cfg(not(target_os = "linux"))]
mod os {
    use std::time::Duration;

    use super::Blocked;

    pub(super) struct State {
        pub(super) sleeps: bool,
        pub(super) used: Duration,
    }

    pub(super) fn current_thread() -> u64 {
        1
    }

    pub(super) fn state(_thread: u64) -> Option<State> {
        None
    }

    pub(super) fn is_traced() -> bool {
        false
    }

    pub(super) fn ask(_thread: u64) -> Blocked {
        Blocked { thread: String::new(), stack: Vec::new(), schedule: None, waits: true, slow: false }
    }
}
