//! Virtual time, and threads that wait for it by reading the clock in a loop.
//!
//! Time passes only by sleeping and by waiting with a time limit. A loop that reads the clock and
//! yields would never end; so a thread that yields after reading the clock sleeps instead, longer
//! each time.

use std::time::Duration;

use turnpike_scheduler::Operation;

use super::Runtime;
use crate::thread::nanoseconds;

/// The first sleep of a thread that polls the clock, in nanoseconds.
const SHORTEST: u64 = 1_000_000;

/// The longest sleep of such a thread.
const LONGEST: u64 = 1024 * SHORTEST;

/// How a thread polls the clock.
#[derive(Default)]
pub(super) struct Watch {
    /// How often it read the clock since it yielded.
    looks: u32,
    /// The length of its last sleep.
    slept: u64,
}

impl Runtime {
    /// Virtual time of the running thread, in nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        if self.teardown.get() { 0 } else { self.kernel.borrow().now() }
    }

    /// Adds a time limit to an operation, if there is one.
    pub(crate) fn limited(&self, operation: Operation, limit: Option<Duration>) -> Operation {
        let Some(limit) = limit else { return operation };
        let deadline = self.now().saturating_add(nanoseconds(limit));
        Operation { timed: true, deadline, ..operation }
    }

    /// Reads the clock for the running thread, and counts that.
    pub(crate) fn look(&self) -> u64 {
        if let Some(thread) = self.threads.borrow_mut().get_mut(self.current.get().0 as usize) {
            thread.watch.looks = thread.watch.looks.saturating_add(1);
        }
        self.now()
    }

    /// The number of nanoseconds that the running thread sleeps because it yields after reading the
    /// clock.
    pub(crate) fn nap(&self) -> Option<u64> {
        let mut threads = self.threads.borrow_mut();
        let watch = &mut threads.get_mut(self.current.get().0 as usize)?.watch;
        let looks = std::mem::take(&mut watch.looks);
        if looks == 0 {
            return None;
        }
        // Two reads start a new wait: one for its start, one for its end.
        watch.slept = if looks > 1 { SHORTEST } else { (2 * watch.slept).clamp(SHORTEST, LONGEST) };
        Some(watch.slept)
    }
}
