//! Virtual time, and threads that wait for it to pass by looking at the clock again and again.
//!
//! Time passes by sleeping and by waiting with a time limit only. A loop that looks at the clock
//! and yields would never end; so a thread that yields after looking sleeps instead, each time
//! longer than the last.

use std::time::Duration;

use turnpike_scheduler::Operation;

use super::Runtime;
use crate::thread::nanoseconds;

/// The first sleep of a thread that watches the clock, in nanoseconds.
const SHORTEST: u64 = 1_000_000;

/// No sleep of such a thread is longer than this.
const LONGEST: u64 = 1024 * SHORTEST;

/// How a thread watches the clock.
#[derive(Default)]
pub(super) struct Watch {
    /// How often it looked since it yielded.
    looks: u32,
    /// How long it slept when it yielded last after looking.
    slept: u64,
}

impl Runtime {
    /// Virtual time of the running thread, in nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        if self.teardown.get() { 0 } else { self.kernel.borrow().now() }
    }

    /// `operation` with a time limit, if there is one.
    pub(crate) fn limited(&self, operation: Operation, limit: Option<Duration>) -> Operation {
        let Some(limit) = limit else { return operation };
        let deadline = self.now().saturating_add(nanoseconds(limit));
        Operation { timed: true, deadline, ..operation }
    }

    /// The running thread looks at the clock.
    pub(crate) fn look(&self) -> u64 {
        if let Some(thread) = self.threads.borrow_mut().get_mut(self.current.get().0 as usize) {
            thread.watch.looks = thread.watch.looks.saturating_add(1);
        }
        self.now()
    }

    /// How many nanoseconds the running thread sleeps because it yields after looking at the clock.
    pub(crate) fn nap(&self) -> Option<u64> {
        let mut threads = self.threads.borrow_mut();
        let watch = &mut threads.get_mut(self.current.get().0 as usize)?.watch;
        let looks = std::mem::take(&mut watch.looks);
        if looks == 0 {
            return None;
        }
        // Looking twice begins a new wait: once for its start, once for its end.
        watch.slept = if looks > 1 { SHORTEST } else { (2 * watch.slept).clamp(SHORTEST, LONGEST) };
        Some(watch.slept)
    }
}
