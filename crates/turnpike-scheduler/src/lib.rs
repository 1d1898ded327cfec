//! The controlled scheduler: which thread of a program under test takes the next step, and what
//! that step does to the objects that threads share.
//!
//! A program is run by a *guest*: coroutines in the same process for Rust, fibers or OS threads
//! inside a preloaded library for C, plain closures in tests. All guests manage their threads'
//! stacks and data themselves and ask one [`Kernel`] for the next step, so that the semantics of a
//! mutex, the meaning of a choice, state fingerprints and random policies are implemented only
//! once.
//!
//! **Vocabulary.** An operation on a shared object is *visible*; everything else is invisible and
//! runs along with the visible operation before it. A state of the program is a situation in which
//! every thread is about to do a visible operation, has ended, or waits. A *choice* is a thread
//! together with an alternative (the value of a toss, the waiter that is woken); the choices of a
//! state form one list, ordered by thread name, then alternative. A schedule is the sequence of
//! positions in these lists. Creating a thread and ending it are not steps: they belong to the step
//! before.
//!
//! The crate has no dependencies and does not use the standard library, because it is compiled into
//! foreign processes.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bits;
mod dependence;
mod execution;
mod executor;
mod fingerprint;
mod frame;
mod kernel;
mod operation;
mod plan;
mod policy;
mod random;
pub mod script;
#[cfg(any(feature = "sources", test))]
mod sources;

pub use dependence::{asleep_after, contend, dependent, may_depend, reversible};
pub use execution::{
    Choice, End, Execution, Failure, FailureKind, Finding, ObjectRecord, Step, StepValue, ThreadRecord,
    ThreadStack,
};
pub use executor::{Executor, GuestError, GuestErrorKind};
pub use frame::{Frame, Origin, SourceLine};
pub use kernel::{Kernel, Next};
pub use operation::{AtomicValues, Kind, MemoryOrder, Object, ObjectId, Operation, Outcome, Site, ThreadId};
pub use plan::{Bounds, Detail, MayAccess, Memory, Plan, Policy, Reduction, Timeouts};
#[cfg(any(feature = "sources", test))]
pub use sources::SOURCES;
