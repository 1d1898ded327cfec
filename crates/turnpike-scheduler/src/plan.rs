//! The instructions for one execution.

use crate::operation::ThreadId;

/// One execution: follow `prefix`, then `policy`.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Positions in the choice lists, from the initial state on.
    pub prefix: &'a [u32],
    /// How to continue after it.
    pub policy: Policy<'a>,
    /// Limit on steps, including the prefix.
    pub max_steps: u32,
    /// How much is recorded.
    pub detail: Detail,
    /// With [`Policy::Stop`]: also compute the fingerprint that each choice of the last state leads
    /// to.
    pub predict: bool,
    /// Which redundant choices to prune.
    pub reduction: Reduction<'a>,
    /// When timed operations time out.
    pub timeouts: Timeouts,
    /// Limit on spurious wake-ups of condition variables.
    pub spurious: u32,
    /// The memory model.
    pub memory: Memory,
    /// Which schedules to exclude.
    pub bounds: Bounds,
}

impl<'a> Plan<'a> {
    /// Executes `prefix` and stops, with the default settings: at most a million steps, positions
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

/// How an execution continues after the prefix.
#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// Stop, and list the choices of the state reached.
    Stop,
    /// The first choice.
    First,
    /// The thread of the last step while it is enabled, otherwise the first choice: few context
    /// switches.
    Continue,
    /// These threads with these alternatives, in order. An entry whose thread is disabled is
    /// skipped; an alternative that the thread does not have is replaced by its first one. After
    /// the last entry, as [`Policy::Continue`]. Minimisation tries other orders of a schedule this
    /// way.
    Follow {
        /// Thread and alternative.
        order: &'a [(ThreadId, u32)],
    },
    /// Each choice equally likely.
    Uniform {
        /// Seed of the random numbers.
        seed: u64,
    },
    /// Probabilistic concurrency testing: random priorities, and `depth - 1` change points among
    /// the first `length` steps with more than one enabled thread. Yielding lowers the priority
    /// below all others.
    Pct {
        /// Seed of the random numbers.
        seed: u64,
        /// Bug depth.
        depth: u32,
        /// Expected number of steps with a choice.
        length: u32,
    },
    /// Partial-order sampling: random priorities of pending operations, drawn again for those that
    /// race with the step taken.
    Pos {
        /// Seed of the random numbers.
        seed: u64,
    },
    /// As [`Policy::Pos`] with few threads at once: one or some of each kind, which are drawn, go first,
    /// and others only where none of these can take a step. Threads that were created at the same
    /// place in the program are of one kind.
    Few {
        /// Of the random numbers.
        seed: u64,
    },
    /// The thread that took the fewest steps, the first one of equals: all go on in turn.
    Turns,
    /// As [`Policy::Pos`], but each step carries a sketch of the state before it instead of a
    /// fingerprint: a hash of the pending operations of all threads, and of the last modification
    /// of each object.
    Sketch {
        /// Seed of the random numbers.
        seed: u64,
    },
    /// Uniform random walk over interleavings: threads are chosen in proportion to their remaining
    /// events, according to an estimate for each thread id (missing ones count 1).
    Weighted {
        /// Seed of the random numbers.
        seed: u64,
        /// Expected events of each thread.
        events: &'a [u32],
    },
    /// Genetic search: in a state with n > 1 choices, the next ceil(log2 n) bits, most significant
    /// first, are the position. A value that is not a position is replaced by a random one, and the
    /// repaired bits are returned.
    Genes {
        /// Bits, in order from the most significant bit of the first word.
        bits: &'a [u64],
        /// Seed for repairs, and for bits beyond the end.
        seed: u64,
    },
    /// The first choice that is not asleep, given the sleep set of the state that the prefix
    /// reaches; a step wakes the sleepers that depend on it. Ends as [`crate::End::Asleep`] if all
    /// choices are asleep. Replaces [`Reduction::sleep`]: positions count all choices. As long as the
    /// next entry of the order is possible and awake, it is taken instead of the first choice.
    Awake {
        /// Thread and alternative.
        sleep: &'a [(ThreadId, u32)],
        /// Thread and alternative; [`Choice::STAY`](crate::Choice::STAY) stands for any.
        order: &'a [(ThreadId, u32)],
    },
}

/// How much an execution records. Counters and the end are always recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Position and number of choices of each step, as needed for replay.
    #[default]
    Positions,
    /// Also thread, operation and fingerprint of each step.
    Steps,
    /// Also all choices of each state, the names of threads and objects, and what blocked threads
    /// wait for.
    Full,
    /// Also the final call stack of each thread.
    Stacks,
}

/// Pruning of choices that are represented by others (seed paper 004: partial-order reduction under
/// any strategy).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduction<'a> {
    /// Sleep sets: taking choice i puts the independent choices before it to sleep.
    pub sleep: bool,
    /// Persistent sets, from a table of what each thread may ever access.
    pub persistent: Option<&'a MayAccess>,
}

/// Which objects each thread may ever access, by names that are stable between executions; from
/// annotations or recorded executions.
///
/// The entries of a thread include those of its future children. A thread without entries may do
/// anything; one that accesses nothing needs an entry with an object that does not exist. A
/// thread's name may occur as an object: for threads that test whether it has ended, or unpark it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayAccess {
    /// Thread name hash, object name hash, whether the thread may modify the object; sorted.
    pub entries: alloc::vec::Vec<(u64, u64, bool)>,
    /// Whether the table came from annotations; one from recorded executions proves nothing.
    pub proved: bool,
}

/// The memory model: what atomic operations may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Sequential consistency: the last value written, whatever order is requested.
    #[default]
    Sc,
    /// Total store order: stores wait in a buffer, as on x86.
    Tso,
    /// RC11: what C, C++ and Rust allow, except out-of-thin-air values.
    Rc11,
}

/// Bounds that exclude schedules, although no other schedules represent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Limit on preemptions: switches away from a thread that could continue.
    pub preemptions: Option<u32>,
    /// Limit on delays: enabled threads that are skipped in round-robin order.
    pub delays: Option<u32>,
    /// Schedule threads only between [`crate::Kernel::open_part`] and
    /// [`crate::Kernel::close_part`]; otherwise each thread runs until it waits.
    pub around: bool,
}

impl Bounds {
    /// Whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        *self == Bounds::default()
    }
}

/// When an operation with a time limit times out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// Never.
    Never,
    /// When nothing else can happen.
    #[default]
    WhenStuck,
    /// At any time, as a choice of the scheduler.
    Always,
}
