//! What one execution is asked to do.

use crate::operation::ThreadId;

/// One execution: follow `prefix`, then `policy`.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Positions in the choice lists, from the initial state on.
    pub prefix: &'a [u32],
    /// How to go on after it.
    pub policy: Policy<'a>,
    /// Steps after which the execution is cut, prefix included.
    pub max_steps: u32,
    /// How much is recorded.
    pub detail: Detail,
    /// With [`Policy::Stop`]: also tell the fingerprint that each choice of the last state leads
    /// to.
    pub predict: bool,
    /// Whether choices are left out.
    pub reduction: Reduction<'a>,
    /// When timed operations time out.
    pub timeouts: Timeouts,
    /// How many spurious wake-ups of condition variables an execution may have.
    pub spurious: u32,
    /// How memory behaves.
    pub memory: Memory,
    /// Which schedules are left out.
    pub bounds: Bounds,
}

impl<'a> Plan<'a> {
    /// Executes `prefix` and stops, with the default settings: a million steps at most, positions
    /// only.
    pub const fn new(prefix: &'a [u32]) -> Plan<'a> {
        Plan {
            prefix,
            policy: Policy::Stop,
            max_steps: 1_000_000,
            detail: Detail::Positions,
            predict: false,
            reduction: Reduction { sleep: false, persistent: None },
            timeouts: Timeouts::WhenStuck,
            spurious: 0,
            memory: Memory::Sc,
            bounds: Bounds { preemptions: None, delays: None, around: false },
        }
    }
}

/// How an execution goes on after the prefix.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// Not at all: tell the choices of the state reached.
    Stop,
    /// The first choice.
    First,
    /// The thread of the last step as long as it can, else the first choice: few context switches.
    Continue,
    /// These threads with these alternatives, one after the other: what cannot be taken in a state
    /// is passed over; an alternative that the thread does not have there is replaced by its first
    /// one. When none is left, as [`Policy::Continue`]. Shortening tries other orders of a schedule
    /// this way.
    Follow {
        /// Thread and alternative.
        order: &'a [(ThreadId, u32)],
    },
    /// Each choice equally likely.
    Uniform {
        /// Of the random numbers.
        seed: u64,
    },
    /// Probabilistic concurrency testing: random priorities, `depth - 1` change points among the
    /// first `length` steps that had more than one enabled thread. Yielding lowers the priority
    /// below all.
    Pct {
        /// Of the random numbers.
        seed: u64,
        /// Bug depth.
        depth: u32,
        /// Expected number of steps with a choice.
        length: u32,
    },
    /// Partial-order sampling: random priorities of pending operations, drawn again for those that
    /// race with the step taken.
    Pos {
        /// Of the random numbers.
        seed: u64,
    },
    /// As [`Policy::Pos`], and each step carries a sketch of the state before it in place of a
    /// fingerprint: a hash of what threads are about to do, and of who modified each object last.
    Sketch {
        /// Of the random numbers.
        seed: u64,
    },
    /// Uniform random walk over interleavings: threads in proportion to the events they still have,
    /// by an estimate for each thread id (missing ones count 1).
    Weighted {
        /// Of the random numbers.
        seed: u64,
        /// Expected events of each thread.
        events: &'a [u32],
    },
    /// Genetic search: at a state with n > 1 choices the next ceil(log2 n) bits, most significant
    /// first, are the position. A value that is not a position is replaced by a random one, and the
    /// repaired bits are returned.
    Genes {
        /// Bits, in order from the most significant bit of the first word.
        bits: &'a [u64],
        /// For repairs, and for bits beyond the end.
        seed: u64,
    },
    /// The first choice that does not sleep, with these asleep in the state that the prefix
    /// reaches; those that depend on a step are woken by it. Ends as [`crate::End::Asleep`] when
    /// all choices sleep. Takes the place of [`Reduction::sleep`]: positions count all choices.
    Awake {
        /// Thread and alternative.
        sleep: &'a [(ThreadId, u32)],
    },
}

/// How much an execution records. Counters and the end are always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Position and number of choices of each step: what replaying needs.
    #[default]
    Positions,
    /// Also thread, operation and fingerprint of each step.
    Steps,
    /// Also all choices of each state, threads and objects by name, and what blocked threads wait
    /// for.
    Full,
    /// Also where each thread is at the end, with its callers.
    Stacks,
}

/// Choices that are left out because others stand for them (seed paper 004: partial-order reduction
/// under any strategy).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduction<'a> {
    /// Sleep sets: taking choice i puts the independent ones before it to sleep.
    pub sleep: bool,
    /// Persistent sets, from a table of what each thread may ever do.
    pub persistent: Option<&'a MayAccess>,
}

/// Which objects each thread may ever touch, by names that are stable between executions; made from
/// annotations or from recorded executions.
///
/// The entries of a thread also stand for the threads that it will make. A thread without entries
/// may do anything; one that touches nothing needs an entry with an object that does not exist. The
/// name of a thread may stand for an object: for threads that it asks whether they have ended, or
/// unparks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayAccess {
    /// Thread name hash, object name hash, whether it may modify the object; sorted.
    pub entries: alloc::vec::Vec<(u64, u64, bool)>,
    /// The table came from annotations; one from recorded executions proves nothing.
    pub proved: bool,
}

/// What atomic operations may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Sequential consistency: the last value that was written, whatever order is asked for.
    #[default]
    Sc,
    /// Total store order: stores wait in a buffer, as on x86.
    Tso,
    /// RC11: what C, C++ and Rust allow, but for values out of thin air.
    Rc11,
}

/// Schedules that are left out although nothing stands for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// How often an execution may leave a thread that could go on.
    pub preemptions: Option<u32>,
    /// How many threads an execution may pass over in the round of those that can take a step.
    pub delays: Option<u32>,
    /// Threads are scheduled only between [`crate::Kernel::open_part`] and
    /// [`crate::Kernel::close_part`]; otherwise each goes on until it waits.
    pub around: bool,
}

impl Bounds {
    /// Whether anything is left out.
    pub fn is_empty(&self) -> bool {
        *self == Bounds::default()
    }
}

/// When an operation with a time limit gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// Never.
    Never,
    /// When nothing else can happen.
    #[default]
    WhenStuck,
    /// Whenever the scheduler likes.
    Always,
}
