//! Unwinding of threads: after a panic, or because their execution is over.

use std::panic::resume_unwind;

use turnpike_scheduler::{Operation, ThreadId};

use super::{Runtime, Turn};
use crate::fiber::Fiber;
use crate::panics::Teardown;

/// How often all remaining threads are resumed without any of them ending, before they are
/// forgotten.
const TEARDOWN_ROUNDS: u32 = 64;

/// Limit on the operations in destructors before threads must let each other run.
const TEARDOWN_OPERATIONS: u32 = 1_000_000;

/// How often a thread may catch the teardown payload and continue, before it is abandoned.
const MOST_THROWN: u32 = 10_000;

impl Runtime {
    #[cold]
    pub(super) fn unwind(&self) -> ! {
        let me = self.current.get();
        let thrown = {
            let thread = &mut self.threads.borrow_mut()[me.0 as usize];
            thread.unwinding = true;
            thread.thrown += 1;
            thread.thrown
        };
        // A loop that catches every panic does not end this way.
        if thrown > MOST_THROWN {
            loop {
                self.exit.suspend();
                self.current.set(me);
            }
        }
        resume_unwind(Box::new(Teardown))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn special_turn(&self, operation: Operation) -> Turn {
        let me = self.current.get().0 as usize;
        let panicking = std::thread::panicking();
        if self.teardown.get() {
            let (unwinding, ending) = {
                let thread = &self.threads.borrow()[me];
                (thread.unwinding, thread.ending)
            };
            // Another thread may be suspended while unwinding, so `panicking` alone says nothing
            // about this one.
            if !(ending || (unwinding && panicking)) {
                self.unwind();
            }
            let operations = self.quiet_operations.get();
            if operations >= TEARDOWN_OPERATIONS {
                self.stall();
            } else {
                self.quiet_operations.set(operations + 1);
            }
            return Turn::Quiet;
        }
        if panicking {
            self.threads.borrow_mut()[me].deferred.push(operation);
            self.special.set(true);
            return Turn::Quiet;
        }
        self.announce_deferred();
        Turn::Step(self.step(operation))
    }

    /// Reports to the kernel what the running thread did while it unwound.
    #[cold]
    pub(super) fn announce_deferred(&self) {
        let me = self.current.get().0 as usize;
        let deferred = std::mem::take(&mut self.threads.borrow_mut()[me].deferred);
        for operation in deferred {
            // The hint refers to a stack frame that no longer exists.
            let _ = self.step(Operation { writes: None, ..operation });
        }
        let rest = self.threads.borrow().iter().any(|thread| !thread.deferred.is_empty());
        if !self.teardown.get() {
            self.special.set(rest);
        }
    }

    /// The running thread unwinds and cannot continue before other threads have run.
    #[cold]
    pub(crate) fn stall(&self) {
        let me = self.current.get();
        if !self.teardown.get() {
            let record = self.threads.borrow()[me.0 as usize].panic.clone().unwrap_or_default();
            let next = self.fail(me, &record);
            self.threads.borrow_mut()[me.0 as usize].unwinding = true;
            self.next.set(next);
        }
        self.exit.suspend();
        self.current.set(me);
    }

    pub(super) fn begin_teardown(&self) {
        self.teardown.set(true);
        self.special.set(true);
    }

    /// Unwinds all remaining threads.
    pub(super) fn unwind_rest(&self, fibers: &mut [Fiber]) {
        self.begin_teardown();
        let mut left = fibers.iter().filter(|fiber| !fiber.ended()).count();
        let mut rounds = 0;
        while left > 0 && rounds < TEARDOWN_ROUNDS {
            rounds += 1;
            // A thread can only borrow from older ones.
            for (index, fiber) in fibers.iter_mut().enumerate().rev() {
                if !fiber.ended() {
                    self.current.set(ThreadId(index as u32));
                    if fiber.resume() {
                        left -= 1;
                        rounds = 0;
                    }
                }
            }
        }
        self.forgotten.set(self.forgotten.get().saturating_add(left as u32));
    }
}
