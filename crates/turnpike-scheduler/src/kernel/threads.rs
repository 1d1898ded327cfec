//! Threads: their lifecycle, the order of their names, and which one runs.

use alloc::vec::Vec;

use super::{Kernel, NONE};
use crate::bits;
use crate::execution::End;
use crate::fingerprint::{self, Fingerprint};
use crate::kernel::objects::Cell;
use crate::operation::{Kind, ObjectId, Operation, Outcome, Site, ThreadId};

/// The phase of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It runs or is about to: it has no pending operation.
    Running,
    /// It announced an operation.
    Pending,
    /// Its function returned.
    Ended,
}

/// A thread of the execution. Slots are reused between executions for their buffers.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) phase: Phase,
    /// The operation that it is about to perform, if it is pending.
    pub(super) pending: Operation,
    pub(super) outcome: Outcome,
    /// Hash of its past, including its creation.
    pub(super) past: Fingerprint,
    /// Its contribution to the fingerprint of the state: nothing before its first step.
    pub(super) summand: u128,
    /// Position of its name among all names.
    pub(super) rank: u32,
    pub(super) parent: u32,
    /// Number of steps before its creation.
    pub(super) born: u32,
    /// Number among its parent's children.
    pub(super) index: u32,
    pub(super) depth: u32,
    pub(super) children: u32,
    /// Number of objects that it registered without a name.
    pub(super) objects: u32,
    pub(super) name: u64,
    pub(super) site: Site,
    pub(super) detached: bool,
    /// Whether another thread announced that it joins this one.
    pub(super) awaited: bool,
    /// The token of park and unpark, and its history.
    pub(super) token: bool,
    pub(super) token_cell: Cell,
    pub(super) token_time: u64,
    /// Whether a waiter was notified (or gave up) and needs only its mutex; or a waiter of a
    /// barrier or futex may leave.
    pub(super) woken: bool,
    pub(super) timed_out: bool,
    /// Whether it waits for a lock that it already reads, behind a waiting writer.
    pub(super) behind: bool,
    /// Number of the round or notification that woke it.
    pub(super) wake: u64,
    /// The step that woke it, for its fingerprint.
    pub(super) waker: Fingerprint,
    /// How often it had locked the recursive mutex that it released for waiting, and where.
    pub(super) saved: (u32, Site),
    /// Virtual time.
    pub(super) time: u64,
    /// Read locks that it holds, and where it acquired them.
    pub(super) reading: Vec<(ObjectId, Site)>,
    /// Objects that it read since it yielded, with their versions.
    pub(super) seen: Vec<(ObjectId, u32)>,
    pub(super) spin: Spin,
    /// Its own state at the start of the current iteration, how many yields may follow before the
    /// next one starts, and the limit for that.
    pub(super) turn: u64,
    pub(super) yields: u32,
    pub(super) patience: u32,
    /// Number of its steps.
    pub(super) steps: u32,
}

/// Whether a thread only reads between two yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It has not yielded, or has done something else since.
    No,
    /// It yielded, and has only read since.
    Maybe,
    /// It yielded again, nothing that it read has changed, and it waits for a change.
    Waiting,
}

impl Thread {
    pub(super) const fn new() -> Thread {
        Thread {
            phase: Phase::Running,
            pending: Operation::new(Kind::Yield, ObjectId::NONE, Site(0)),
            outcome: Outcome { value: 0, ok: false, timed_out: false },
            past: Fingerprint::START,
            summand: 0,
            rank: 0,
            parent: NONE,
            born: 0,
            index: 0,
            depth: 0,
            children: 0,
            objects: 0,
            name: 0,
            site: Site(0),
            detached: false,
            awaited: false,
            token: false,
            token_cell: Cell::NEW,
            token_time: 0,
            woken: false,
            timed_out: false,
            behind: false,
            wake: u64::MAX,
            waker: Fingerprint::ZERO,
            saved: (0, Site(0)),
            time: 0,
            reading: Vec::new(),
            seen: Vec::new(),
            spin: Spin::No,
            turn: 0,
            yields: 0,
            patience: 0,
            steps: 0,
        }
    }

    /// Resets the slot for a new thread, keeping its buffers.
    fn reset(&mut self) {
        let mut reading = core::mem::take(&mut self.reading);
        let mut seen = core::mem::take(&mut self.seen);
        reading.clear();
        seen.clear();
        *self = Thread { reading, seen, ..Thread::new() };
    }
}

impl Kernel {
    /// Thread `t`; ids from guests are checked before.
    #[inline]
    pub(super) fn thread(&self, t: u32) -> &Thread {
        &self.threads[t as usize]
    }

    #[inline]
    pub(super) fn thread_mut(&mut self, t: u32) -> &mut Thread {
        &mut self.threads[t as usize]
    }

    /// The thread at a rank.
    #[inline]
    pub(super) fn at_rank(&self, rank: u32) -> u32 {
        self.order[rank as usize]
    }

    /// Adds the main thread.
    pub(super) fn add_main(&mut self) {
        let t = self.add_thread();
        let thread = self.thread_mut(t);
        thread.name = fingerprint::name(0, 0);
        self.order.push(t);
    }

    /// Allocates a slot.
    fn add_thread(&mut self) -> u32 {
        let t = self.count;
        self.count += 1;
        self.live += 1;
        match self.threads.get_mut(t as usize) {
            Some(thread) => thread.reset(),
            None => self.threads.push(Thread::new()),
        }
        if self.count as usize > self.stride * 64 {
            self.widen();
        }
        self.draw_priority(t);
        t
    }

    /// Creates a child of the current thread, which becomes the current one.
    pub(super) fn add_child(&mut self, site: Site) -> u32 {
        let (parent, born) = (self.current, self.taken);
        let t = self.add_thread();
        let maker = self.thread_mut(parent);
        let index = maker.children;
        maker.children += 1;
        let (depth, name, past, time) = (maker.depth + 1, maker.name, maker.past, maker.time);
        let child = self.thread_mut(t);
        child.parent = parent;
        child.born = born;
        child.index = index;
        child.depth = depth;
        child.site = site;
        child.name = fingerprint::name(name, u64::from(index) + 1);
        child.past = past.mix_word(0x5_0000_0000 | u64::from(index));
        child.time = time;
        self.clocks.spawned(parent, t);
        self.weak_spawned(parent, t);
        self.insert_rank(t);
        self.starting.push(parent);
        self.current = t;
        t
    }

    /// Inserts the name of a new thread: after all descendants of its parent.
    fn insert_rank(&mut self, t: u32) {
        let parent = self.thread(self.thread(t).parent);
        let (depth, mut rank) = (parent.depth, parent.rank as usize + 1);
        if depth == 0 {
            rank = self.order.len();
        }
        while rank < self.order.len() && self.thread(self.order[rank]).depth > depth {
            rank += 1;
        }
        if rank == self.order.len() {
            self.order.push(t);
            self.thread_mut(t).rank = rank as u32;
            return;
        }
        // All later ones move by one position: remove them from all sets, and add them again.
        self.leave_sets(rank);
        self.order.insert(rank, t);
        for i in rank..self.order.len() {
            let moved = self.order[i];
            self.thread_mut(moved).rank = i as u32;
        }
        self.enter_sets(rank);
    }

    /// Grows all sets when there are more threads than bits.
    fn widen(&mut self) {
        self.leave_sets(0);
        self.stride *= 2;
        self.channels.clear();
        self.channels.resize(self.objects.len() * super::objects::CHANNELS * self.stride, 0);
        for set in [&mut self.ready, &mut self.several, &mut self.timed, &mut self.waiting] {
            set.clear();
            set.resize(self.stride, 0);
        }
        self.enter_sets(0);
    }

    /// Removes the threads from a rank on from all sets, because their ranks change.
    fn leave_sets(&mut self, from: usize) {
        for i in from..self.order.len() {
            let t = self.order[i];
            if self.thread(t).phase == Phase::Pending {
                self.retire(t);
            }
        }
    }

    /// Adds them again.
    fn enter_sets(&mut self, from: usize) {
        for i in from..self.order.len() {
            let t = self.order[i];
            if self.thread(t).phase == Phase::Pending {
                self.enlist(t);
            }
        }
    }

    /// The current thread's function returned.
    pub(super) fn end_current(&mut self) {
        let t = self.current;
        self.thread_mut(t).phase = Phase::Ended;
        self.live -= 1;
        self.clocks.ended(t);
        self.weak_ended(t);
        // Visiting all threads is slow if there are many: only if one can wait for this end.
        // Spinning threads count as odd.
        if !self.thread(t).awaited && self.odd == 0 {
            return;
        }
        for i in 0..self.count {
            let thread = self.thread(i);
            if thread.phase != Phase::Pending {
                continue;
            }
            if thread.pending.kind == Kind::Join && thread.pending.argument == u64::from(t) {
                let rank = thread.rank;
                bits::set(&mut self.ready, rank);
            } else if thread.spin == Spin::Waiting && thread.seen.iter().any(|&(o, _)| o == life(t)) {
                self.stop_spinning(i);
            }
        }
    }

    /// Whether thread `t` exists and has ended.
    pub(super) fn has_ended(&self, t: u64) -> bool {
        t < u64::from(self.count) && self.thread(t as u32).phase == Phase::Ended
    }

    /// The thread that continues after a new one reached its first announcement or its end: its
    /// creator.
    #[inline]
    pub(super) fn creator(&mut self) -> Option<u32> {
        let creator = self.starting.pop()?;
        self.current = creator;
        Some(creator)
    }

    /// The reason for the end when no choice is left.
    pub(super) fn stuck(&self) -> End {
        let mut waiting = false;
        for thread in &self.threads[..self.count as usize] {
            if thread.phase == Phase::Ended || thread.detached {
                continue;
            }
            if thread.spin == Spin::Waiting && thread.pending.object == ObjectId::NONE {
                return End::Livelock;
            }
            waiting = true;
        }
        if waiting { End::Deadlock } else { End::Finished }
    }
}

/// Represents the fact that a thread has not ended, among the objects that a spinning thread read.
pub(super) fn life(t: u32) -> ObjectId {
    ObjectId(0x8000_0000 | t)
}

impl Kernel {
    /// The thread that an operation's argument denotes.
    pub(super) fn named_thread(&self, argument: u64) -> Option<ThreadId> {
        (argument < u64::from(self.count)).then_some(ThreadId(argument as u32))
    }
}
