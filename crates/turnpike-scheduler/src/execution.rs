//! What one execution did.

use alloc::string::String;
use alloc::vec::Vec;

use crate::operation::{Kind, Object, ObjectId, Site, ThreadId};

/// The record of one execution. Buffers are reused: [`crate::Executor::run`] clears it first.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// One entry a step.
    pub steps: Vec<Step>,
    /// With full detail: the choices of all states, one after the other ([`Step::first_choice`]);
    /// the last state's too, at `last_choices`.
    pub choices: Vec<Choice>,
    /// Where in `choices` those of the state at the end begin (with [`crate::Policy::Stop`] at any
    /// detail).
    pub last_choices: usize,
    /// With `predict`: for each choice of the last state, the fingerprint it leads to.
    pub predicted: Vec<u128>,
    /// Of the state at the end.
    pub fingerprint: u128,
    /// Why it ended.
    pub end: End,
    /// Data races and leaked threads, which do not end an execution.
    pub findings: Vec<Finding>,
    /// With full detail, by thread id.
    pub threads: Vec<ThreadRecord>,
    /// With full detail, by object id.
    pub objects: Vec<ObjectRecord>,
    /// With [`crate::Detail::Stacks`]: of threads that have not ended, as far as they are known.
    pub stacks: Vec<ThreadStack>,
    /// What the guest knows of threads that wait besides: who should have woken them. For the user.
    pub notes: Vec<(ThreadId, String)>,
    /// With [`crate::Policy::Genes`]: the bits as repaired, and how many were read.
    pub genes: Vec<u64>,
    /// Bits read.
    pub genes_read: u32,
    /// Sum over all states, first and last included, of the number of choices.
    pub enabled_sum: u64,
    /// Messages sent through queues or marked.
    pub messages: u32,
    /// Assertions evaluated.
    pub assertions: u32,
    /// Branches seen that count for fitness (distinct edges, where hooks tell them).
    pub branches: u32,
    /// Something was bounded or outside control (a spin loop was cut, a timeout policy left
    /// executions out, a call blocked outside): the executions together prove nothing.
    pub incomplete: bool,
    /// [`crate::Bounds`] left out a choice.
    pub bounded: bool,
    /// A thread entered a part that [`crate::Bounds::around`] is about.
    pub entered: bool,
    /// Errors that the host was asked to go on past, by their signatures. Races and leaks among them
    /// are no longer findings.
    pub suppressed: Vec<String>,
    /// Whether the end is such an error.
    pub end_is_suppressed: bool,
    /// What the guest printed, when it is not shown at once.
    pub output: Vec<u8>,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Position of the choice that was taken.
    pub taken: u32,
    /// How many choices there were.
    pub count: u32,
    /// Where in [`Execution::choices`] those of the state before it begin.
    pub first_choice: u32,
    /// The choice; with [`crate::Detail::Positions`] only thread and alternative are right.
    pub choice: Choice,
    /// Fingerprint of the state after it; 0 without [`crate::Detail::Steps`]. With
    /// [`crate::Policy::Sketch`] the sketch of the state before it.
    pub fingerprint: u128,
}

/// A thread that can take a step, and what the step would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Who.
    pub thread: ThreadId,
    /// Which of its alternatives.
    pub alternative: u32,
    /// What it does.
    pub kind: Kind,
    /// To what.
    pub object: ObjectId,
    /// To what else.
    pub second: ObjectId,
    /// The regions in which the two lie, as far as the step touches them.
    pub within: [ObjectId; 2],
    /// Whether the thread may also give up at any time, as long as it has to wait.
    pub gives_up: bool,
    /// Whether the step modifies the object, as opposed to one that commutes with its like (reads,
    /// posts).
    pub exclusive: bool,
    /// The thread that is joined, unparked or woken by [`Kind::NotifyOne`] (`u64::MAX`: none), the
    /// number of nanoseconds, …; the round of a barrier, the number of a notification and the same
    /// for whom it woke; of a queue the number of the message in the lower half, and the capacity
    /// in the upper half; a semaphore's value before it is posted; of [`Kind::Close`] 0 = the last
    /// sender, 1 = the receiver, or a sender after the last, more = one of so many senders; of
    /// [`Kind::TryReadLock`] whether it succeeds; of this and [`Kind::ReadLock`] 2 more if the
    /// thread reads the object already.
    pub argument: u64,
    /// Where.
    pub site: Site,
}

impl Choice {
    /// The alternative of giving up because the time is over. It comes after the numbered ones.
    pub const TIMEOUT: u32 = u32::MAX;
    /// The alternative of waking up for no reason, of a condition variable's waiter or a parked
    /// thread.
    pub const SPURIOUS: u32 = u32::MAX - 1;
    /// Where threads can only wake up for no reason: no thread does, which is the end.
    pub const STAY: u32 = u32::MAX - 2;

    /// Whether the order of the two steps matters: [`crate::dependent`].
    pub fn depends_on(&self, other: &Choice) -> bool {
        crate::dependent(self, other)
    }
}

/// Why an execution ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// All threads ended, or the process did.
    #[default]
    Finished,
    /// No thread can take a step, and some have not ended. (Who waits for what:
    /// [`ThreadRecord::waits`].)
    Deadlock,
    /// All threads that have not ended spin on values that no thread will change.
    Livelock,
    /// It went wrong.
    Failed(Failure),
    /// The plan's number of steps was reached.
    StepLimit,
    /// The plan's prefix was executed.
    Stopped,
    /// All choices sleep.
    Asleep,
    /// The prefix asked for a choice that does not exist, at this step: the program is not
    /// deterministic, or is another one.
    Diverged(u32),
    /// A thread made no visible operation for too long.
    Hung,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error.
    pub kind: FailureKind,
    /// For the user.
    pub message: String,
    /// Whose error it is.
    pub thread: ThreadId,
    /// Where.
    pub site: Site,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An assertion failed.
    Assertion,
    /// A Rust panic.
    Panic,
    /// A fatal signal, an abort, an exit code that is not zero.
    Crash,
    /// Use after free, double free.
    Heap,
    /// Use of a synchronisation object that its rules forbid: unlocking what another thread holds.
    Misuse,
}

/// Something worth telling that does not end an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two accesses to the same memory, at least one a write, that nothing orders.
    Race {
        /// The earlier one.
        first: Site,
        /// The later one.
        second: Site,
        /// For the user.
        message: String,
    },
    /// A thread that was still there at the end.
    Leak(ThreadId),
    /// A call that the scheduler does not control.
    Uncontrolled(String),
    /// Something may depend on whether a block that was allocated has the address of one that had
    /// been freed, where both calls are not steps.
    Reuse {
        /// Where it was freed.
        freed: Site,
        /// Where the newer one was allocated.
        allocated: Site,
    },
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRecord {
    /// Stable between executions: `main`, `main.0` for the first thread that it made, `main.0.2`;
    /// or the name it was given.
    pub name: String,
    /// Hash of the stable name.
    pub name_hash: u64,
    /// What it waits for at the end, if it does: the operation, and who holds the object.
    pub waits: Option<(Choice, Option<ThreadId>)>,
    /// Mutexes and locks it holds at the end, and where it got them.
    pub holds: Vec<(ObjectId, Site)>,
    /// Whether it had ended.
    pub ended: bool,
    /// Steps that had been taken when it was created.
    pub born: u32,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRecord {
    /// For the user: `mutex 2`, or the name of the variable where it is known.
    pub name: String,
    /// Hash of a name that is stable between executions as far as possible.
    pub name_hash: u64,
    /// What it is.
    pub object: Object,
    /// Where it was registered.
    pub site: Site,
    /// Whether it was created there; otherwise that is where it was first used.
    pub created: bool,
}

/// Where a thread is, with its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadStack {
    /// Whose stack it is.
    pub thread: ThreadId,
    /// Addresses behind calls, innermost first; see [`crate::Executor::frames`].
    pub addresses: Vec<u64>,
}
