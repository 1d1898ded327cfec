//! Detects executions that block outside control: on a lock of the standard library, in a system
//! call, or in a loop without a visible operation.
//!
//! The OS thread of such an execution cannot be recovered. The thread that waits for it polls a
//! [`Watchdog`], and abandons the execution when the watchdog reports it. This is the only place
//! where elapsed time matters, and its outcome is an error, never a result of the search.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The progress of an executor's current execution.
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
    /// Counts a visible operation.
    #[inline]
    pub(crate) fn beat(&self) {
        // Only the OS thread of the execution writes.
        self.operations.store(self.operations.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Starts an execution on the calling OS thread. It ends when the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Beating {
        self.executions.fetch_add(1, Ordering::Relaxed);
        let before = self.thread.swap(os::current_thread(), Ordering::Release);
        Beating { pulse: Arc::clone(self), before }
    }
}

/// A running execution.
pub(crate) struct Beating {
    pulse: Arc<Pulse>,
    /// The enclosing execution, if it is nested.
    before: u64,
}

impl Drop for Beating {
    fn drop(&mut self) {
        self.pulse.thread.store(self.before, Ordering::Release);
    }
}

/// Executors to watch: all whose [`GuestOptions`](crate::GuestOptions) contain this value.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<Vec<Weak<Pulse>>>>);

impl Watch {
    /// No executors yet.
    pub fn new() -> Self {
        Watch::default()
    }

    pub(crate) fn add(&self, pulse: &Arc<Pulse>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(pulse));
    }
}

/// A blocked execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The running thread of the program, such as `main.0`; empty if it does not answer.
    pub thread: String,
    /// Its stack, innermost frame first, as return addresses; empty if it does not answer.
    pub stack: Vec<u64>,
    /// The schedule so far: positions in the lists of choices. `None` if the thread does not
    /// answer.
    pub schedule: Option<Vec<u32>>,
    /// Whether it waits in a system call, as opposed to computing.
    pub waits: bool,
    /// Whether there were visible operations, but the whole execution takes too long.
    pub slow: bool,
}

/// Watches executions from another OS thread.
#[derive(Debug)]
pub struct Watchdog {
    watch: Watch,
    idle: Duration,
    whole: Option<Duration>,
    seen: Vec<Seen>,
}

/// The observations of an executor.
#[derive(Debug)]
struct Seen {
    pulse: Weak<Pulse>,
    operations: u64,
    executions: u64,
    /// Time without a visible operation.
    idle: Duration,
    /// Time since the start of the execution.
    whole: Duration,
    /// Processor time used by the OS thread.
    used: Duration,
}

impl Watchdog {
    /// An execution is blocked after `idle` without a visible operation, or after `whole` in total.
    pub fn new(watch: Watch, idle: Duration, whole: Option<Duration>) -> Self {
        Watchdog { watch, idle, whole, seen: Vec::new() }
    }

    /// Checks all executions; `passed` is the time since the last check.
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
                // On a busy machine only processor time counts.
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

/// On other platforms only elapsed time is known.
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
