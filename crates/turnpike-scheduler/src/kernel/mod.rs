//! The state of one execution: threads, their pending operations, objects, the plan.
//!
//! How a guest uses it. `begin` makes thread 0 current; the guest runs its main function. Before each visible operation
//! the running thread calls [`Kernel::announce`]; the answer says which thread runs on (perhaps the same one), after the
//! kernel has performed that thread's pending operation on its objects; the thread that runs on reads what came of it by
//! [`Kernel::outcome`] and does the rest itself (reads the atomic, takes the message). A new thread runs at once up to
//! its first announcement ([`Kernel::spawn`]), then its creator goes on: neither is a step.

use crate::execution::{Execution, Failure, Finding};
use crate::operation::{Object, ObjectId, Operation, Outcome, Site, ThreadId};
use crate::plan::Plan;

/// Which thread runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This one, which may be the one that asked.
    Run(ThreadId),
    /// None: the execution is over; [`Kernel::finish`] tells why.
    End,
}

/// The scheduler of one guest. Reused from execution to execution without allocating.
pub struct Kernel {
    _private: (),
}

impl Kernel {
    /// A scheduler without an execution.
    pub const fn new() -> Self {
        Kernel { _private: () }
    }

    /// Begins an execution with one thread, the current one. The plan's borrowed parts are copied.
    pub fn begin(&mut self, plan: &Plan<'_>) {
        let _ = plan;
        unimplemented!()
    }

    /// The thread that runs.
    pub fn current(&self) -> ThreadId {
        unimplemented!()
    }

    /// Registers an object. `name` is a hash that is stable between executions (a static's address, a creation index);
    /// 0 = the kernel makes one of the current thread's name and a counter.
    pub fn register(&mut self, object: Object, name: u64, site: Site) -> ObjectId {
        let _ = (object, name, site);
        unimplemented!()
    }

    /// Creates a thread, and makes it the current one: the guest must run it now. Its first announcement (or its end)
    /// answers with the creator.
    pub fn spawn(&mut self, site: Site) -> ThreadId {
        let _ = site;
        unimplemented!()
    }

    /// The current thread is about to do `operation`. Answers who runs on.
    pub fn announce(&mut self, operation: Operation) -> Next {
        let _ = operation;
        unimplemented!()
    }

    /// What came of the current thread's last operation.
    pub fn outcome(&self) -> Outcome {
        unimplemented!()
    }

    /// The current thread's function returned. Answers who runs on. The end of thread 0 is only the end of a thread; a
    /// guest whose process ends with its main function announces [`crate::Kind::Exit`].
    pub fn end_thread(&mut self) -> Next {
        unimplemented!()
    }

    /// The execution failed, in the current thread.
    pub fn fail(&mut self, failure: Failure) -> Next {
        let _ = failure;
        unimplemented!()
    }

    /// Adds something worth telling.
    pub fn note(&mut self, finding: Finding) {
        let _ = finding;
        unimplemented!()
    }

    /// Nobody will join the thread: if it still lives at the end it is not leaked.
    pub fn detach(&mut self, thread: ThreadId) {
        let _ = thread;
        unimplemented!()
    }

    /// Virtual time of the current thread in nanoseconds. It flows along happens-before, so that it depends on no schedule.
    pub fn now(&self) -> u64 {
        unimplemented!()
    }

    /// The current thread's vector clock (own component last incremented by its last step), when `begin` was told to
    /// keep clocks by [`Kernel::keep_clocks`].
    pub fn clock(&self) -> &[u32] {
        unimplemented!()
    }

    /// Whether vector clocks are kept, for race detection in guests.
    pub fn keep_clocks(&mut self, keep: bool) {
        let _ = keep;
        unimplemented!()
    }

    /// Hands out the record of the execution (after [`Next::End`], or when the guest died).
    pub fn finish(&mut self, out: &mut Execution) {
        let _ = out;
        unimplemented!()
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::new()
    }
}
