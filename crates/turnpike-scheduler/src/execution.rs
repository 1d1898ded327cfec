//! The record of one execution.

use alloc::string::String;
use alloc::vec::Vec;

use crate::operation::{Kind, Object, ObjectId, Site, ThreadId};

/// The record of one execution. Buffers are reused: [`crate::Executor::run`] clears it first.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// One entry per step.
    pub steps: Vec<Step>,
    /// With full detail: the choices of all states, concatenated ([`Step::first_choice`]),
    /// including those of the last state at `last_choices`.
    pub choices: Vec<Choice>,
    /// Index in `choices` of the choices of the last state (with [`crate::Policy::Stop`], at any
    /// detail).
    pub last_choices: usize,
    /// With `predict`: for each choice of the last state, the fingerprint that it leads to.
    pub predicted: Vec<u128>,
    /// The fingerprint of the last state.
    pub fingerprint: u128,
    /// Why it ended.
    pub end: End,
    /// Data races and leaked threads, which do not end an execution.
    pub findings: Vec<Finding>,
    /// With full detail, by thread id.
    pub threads: Vec<ThreadRecord>,
    /// With full detail, by object id.
    pub objects: Vec<ObjectRecord>,
    /// With [`crate::Detail::Stacks`]: the stacks of threads that have not ended, where available.
    pub stacks: Vec<ThreadStack>,
    /// Notes of the guest on waiting threads, such as which thread should have woken them. For the
    /// user.
    pub notes: Vec<(ThreadId, String)>,
    /// With full detail: what memory holds behind steps that access it, as far as it is known. For the user.
    pub values: Vec<StepValue>,
    /// With [`crate::Policy::Genes`]: the repaired bits.
    pub genes: Vec<u64>,
    /// Number of bits read.
    pub genes_read: u32,
    /// Sum over all states, first and last included, of the number of choices.
    pub enabled_sum: u64,
    /// Messages sent through queues or marked.
    pub messages: u32,
    /// Assertions evaluated.
    pub assertions: u32,
    /// New branches that count for fitness (distinct edges, if hooks report them).
    pub branches: u32,
    /// Something was bounded or uncontrolled (a spin loop was cut, a timeout policy excluded
    /// executions, a call blocked outside): the executions together prove nothing.
    pub incomplete: bool,
    /// A limit of time could have run out before what was awaited happened, and [`crate::Timeouts`] excluded that.
    pub timeouts_left_out: bool,
    /// [`crate::Bounds`] excluded a choice.
    pub bounded: bool,
    /// A thread entered a part marked for [`crate::Bounds::around`].
    pub entered: bool,
    /// Signatures of the errors that the host asked to ignore. Races and leaks among them are no
    /// longer in `findings`.
    pub suppressed: Vec<String>,
    /// Whether the execution ended with such an error.
    pub end_is_suppressed: bool,
    /// The guest's output, unless it was shown immediately.
    pub output: Vec<u8>,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Position of the chosen choice.
    pub taken: u32,
    /// The number of choices.
    pub count: u32,
    /// Index in [`Execution::choices`] of the choices of the state before it.
    pub first_choice: u32,
    /// The choice; with [`crate::Detail::Positions`] only thread and alternative are set.
    pub choice: Choice,
    /// Fingerprint of the state after it; 0 without [`crate::Detail::Steps`]. With
    /// [`crate::Policy::Sketch`], the sketch of the state before it.
    pub fingerprint: u128,
}

/// What memory holds behind a step that accesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepValue {
    /// The position of the step among all.
    pub step: u32,
    /// The bytes, as an unsigned number.
    pub value: u64,
    /// The number of bytes: 1, 2, 4 or 8.
    pub bytes: u8,
}

/// A thread that can take a step, and what the step would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The thread.
    pub thread: ThreadId,
    /// Which of its alternatives.
    pub alternative: u32,
    /// The operation.
    pub kind: Kind,
    /// The object.
    pub object: ObjectId,
    /// The second object.
    pub second: ObjectId,
    /// The regions of the two objects, as far as the step accesses them.
    pub within: [ObjectId; 2],
    /// Whether the thread may also time out whenever it has to wait.
    pub gives_up: bool,
    /// Whether the step modifies the object, as opposed to commuting with similar steps (reads,
    /// posts).
    pub exclusive: bool,
    /// Depends on the kind: the thread that is joined, unparked or woken by [`Kind::NotifyOne`]
    /// (`u64::MAX`: none), the number of nanoseconds, …; the round of a barrier; the number of a
    /// notification, also for the woken thread; for a queue, the number of the message in the lower
    /// half and the capacity in the upper half; the value of a semaphore before a post; for
    /// [`Kind::Close`] 0 = the last sender, 1 = the receiver or a sender after the last, more = one
    /// of that many senders; for [`Kind::TryReadLock`] whether it succeeds; for this and
    /// [`Kind::ReadLock`] plus 2 if the thread already reads the object.
    pub argument: u64,
    /// The source position.
    pub site: Site,
}

impl Choice {
    /// The alternative of timing out. It comes after the numbered ones.
    pub const TIMEOUT: u32 = u32::MAX;
    /// The alternative of a spurious wake-up, for a waiter of a condition variable or a parked
    /// thread.
    pub const SPURIOUS: u32 = u32::MAX - 1;
    /// Where only spurious wake-ups are possible: no thread wakes up, which is the end.
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
    /// No thread can take a step, and some have not ended. ([`ThreadRecord::waits`] says what they
    /// wait for.)
    Deadlock,
    /// All threads that have not ended spin on values that will not change.
    Livelock,
    /// An error.
    Failed(Failure),
    /// The plan's limit on steps was reached.
    StepLimit,
    /// The plan's prefix was executed.
    Stopped,
    /// All choices sleep.
    Asleep,
    /// The prefix demanded a choice that does not exist, at this step: the program is not
    /// deterministic, or a different one.
    Diverged(u32),
    /// A thread performed no visible operation for too long.
    Hung,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error.
    pub kind: FailureKind,
    /// The message for the user.
    pub message: String,
    /// The thread that failed.
    pub thread: ThreadId,
    /// The source position.
    pub site: Site,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An assertion failed.
    Assertion,
    /// A Rust panic.
    Panic,
    /// A fatal signal, an abort, or a non-zero exit code.
    Crash,
    /// Use after free, double free.
    Heap,
    /// Incorrect use of a synchronisation object, such as unlocking one that another thread holds.
    Misuse,
}

/// Something to report that does not end an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two unordered accesses to the same memory, at least one of them a write.
    Race {
        /// The earlier one.
        first: Site,
        /// The later one.
        second: Site,
        /// The message for the user.
        message: String,
    },
    /// A thread that had not ended at the end.
    Leak(ThreadId),
    /// A call that the scheduler does not control.
    Uncontrolled(String),
    /// Something may depend on whether an allocated block has the address of a freed one, where
    /// neither call is a step.
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
    /// Stable between executions: `main`, `main.0` for its first child, `main.0.2`; or the name
    /// given to it.
    pub name: String,
    /// Hash of the stable name.
    pub name_hash: u64,
    /// What it waits for at the end, if anything: the operation, and the holder of the object.
    pub waits: Option<(Choice, Option<ThreadId>)>,
    /// Mutexes and locks that it holds at the end, with the position of the acquisition.
    pub holds: Vec<(ObjectId, Site)>,
    /// Whether it had ended.
    pub ended: bool,
    /// Number of steps before its creation.
    pub born: u32,
    /// Where it was created.
    pub site: Site,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRecord {
    /// For the user: `mutex 2`, or the name of the variable if known.
    pub name: String,
    /// Hash of a name that is stable between executions as far as possible.
    pub name_hash: u64,
    /// Its kind.
    pub object: Object,
    /// Where it was registered.
    pub site: Site,
    /// Whether it was created there; otherwise it was first used there.
    pub created: bool,
}

/// The stack of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadStack {
    /// Whose stack it is.
    pub thread: ThreadId,
    /// Return addresses, innermost first; see [`crate::Executor::frames`].
    pub addresses: Vec<u64>,
}
