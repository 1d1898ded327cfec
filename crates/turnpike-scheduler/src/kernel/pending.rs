//! Pending operations: adding threads to the sets that determine what is enabled, and removing
//! them.

use super::nature::{Waits, nature};
use super::objects::{SECOND, WATCH};
use super::threads::{Phase, Spin};
use super::{Kernel, MOST_ALTERNATIVES};
use crate::bits;
use crate::operation::{Kind, Object, ObjectId, Operation, ThreadId};
use crate::plan::Timeouts;

impl Kernel {
    /// Sets the pending operation of a thread.
    #[inline]
    pub(super) fn enter(&mut self, t: u32, operation: Operation) {
        let thread = self.thread_mut(t);
        thread.pending = operation;
        thread.phase = Phase::Pending;
        match operation.kind {
            Kind::Yield | Kind::Sleep => self.check_spinning(t),
            Kind::FutexWait | Kind::FutexWake => {
                if self.weak.is_calm() {
                    self.end_calm();
                }
                self.clocks.waits(t);
            }
            _ => {}
        }
        self.enlist(t);
    }

    /// From now on, the waiting thread may give up, as if it had a time limit. For guests whose
    /// threads can be cancelled.
    pub fn interrupt(&mut self, thread: ThreadId) {
        let t = thread.0;
        if t >= self.count || self.thread(t).phase != Phase::Pending || self.thread(t).pending.timed {
            return;
        }
        self.retire(t);
        self.thread_mut(t).pending.timed = true;
        self.enlist(t);
    }

    /// Adds a pending thread to all its sets, which depend on its state and that of its objects.
    #[inline]
    pub(super) fn enlist(&mut self, t: u32) {
        let thread = &self.threads[t as usize];
        let (rank, timed, waits) = (thread.rank, thread.pending.timed, nature(thread.pending.kind).waits);
        if waits == Waits::Never {
            bits::set(&mut self.ready, rank);
            return;
        }
        let channel = self.waits_in(t);
        let mut ready = true;
        if let Some((object, channel)) = channel {
            ready = self.thing(object).open(channel);
            bits::set(self.channel_mut(object, channel), rank);
        }
        if waits == Waits::Special {
            self.enlist_specially(t, ready);
        } else {
            if timed {
                self.add_timed(rank);
            }
            if ready {
                bits::set(&mut self.ready, rank);
            }
        }
    }

    /// The same for operations that do not simply wait in a channel of their object. `open` says
    /// whether the channel is open, if there is one.
    fn enlist_specially(&mut self, t: u32, open: bool) {
        let thread = &self.threads[t as usize];
        let (rank, argument, mut timed) = (thread.rank, thread.pending.argument, thread.pending.timed);
        let ready = match thread.pending.kind {
            Kind::Join => {
                // Joining a thread that does not exist is misuse, which is reported elsewhere.
                if let Some(awaited) = self.named_thread(argument) {
                    self.thread_mut(awaited.0).awaited = true;
                }
                self.has_ended(argument)
            }
            Kind::Park if thread.token => true,
            Kind::Park => {
                if self.spurious > 0 {
                    bits::set(&mut self.waiting, rank);
                    self.odd += 1;
                }
                false
            }
            Kind::ReadLock if thread.behind => false,
            Kind::ReadLock | Kind::TryReadLock if self.is_recursive(t) => {
                bits::set(&mut self.several, rank);
                self.odd += 1;
                open
            }
            Kind::TrySend if self.thing(thread.pending.object).object == (Object::Queue { capacity: 0 }) => {
                bits::set(&mut self.several, rank);
                self.odd += 1;
                true
            }
            Kind::Leave => self.may_leave(t),
            Kind::Reacquire if !thread.woken => {
                bits::set(&mut self.waiting, rank);
                self.odd += 1;
                false
            }
            kind @ (Kind::Yield | Kind::Sleep) if thread.spin == Spin::Waiting => {
                // A sleeper continues when nothing else can happen.
                timed |= kind == Kind::Sleep;
                for i in 0..self.threads[t as usize].seen.len() {
                    let (object, _) = self.threads[t as usize].seen[i];
                    if (object.0 as usize) < self.objects.len() {
                        bits::set(self.channel_mut(object, WATCH), rank);
                        self.thing_mut(object).watched = true;
                    }
                }
                false
            }
            kind @ (Kind::Toss | Kind::NotifyOne | Kind::FutexWake) => {
                if kind != Kind::Toss || argument > 0 || thread.pending.object != ObjectId::NONE {
                    bits::set(&mut self.several, rank);
                    self.odd += 1;
                }
                true
            }
            _ => open,
        };
        if timed {
            self.add_timed(rank);
        }
        if ready {
            bits::set(&mut self.ready, rank);
        }
    }

    fn add_timed(&mut self, rank: u32) {
        // It could have waited and timed out before it was enabled: whether it waits in this
        // execution depends on the order of independent steps.
        if self.timeouts != Timeouts::Always {
            (self.incomplete, self.timeouts_left_out) = (true, true);
        }
        bits::set(&mut self.timed, rank);
        self.odd += 1;
    }

    /// Removes a pending thread from all sets.
    #[inline]
    pub(super) fn retire(&mut self, t: u32) {
        let thread = &self.threads[t as usize];
        let rank = thread.rank;
        bits::clear(&mut self.ready, rank);
        if nature(thread.pending.kind).waits == Waits::Never {
            return;
        }
        if let Some((object, channel)) = self.waits_in(t) {
            bits::clear(self.channel_mut(object, channel), rank);
        }
        if self.odd != 0 {
            self.retire_odd(t);
        }
    }

    fn retire_odd(&mut self, t: u32) {
        let rank = self.thread(t).rank;
        let (word, bit) = (rank as usize / 64, rank % 64);
        for set in [&mut self.several, &mut self.timed, &mut self.waiting] {
            self.odd -= (set[word] >> bit & 1) as u32;
            set[word] &= !(1 << bit);
        }
        self.unwatch(t);
    }

    /// Whether a thread at a barrier, in a futex's queue or with an offer in a rendezvous queue is
    /// enabled.
    fn may_leave(&self, t: u32) -> bool {
        let thread = self.thread(t);
        let queue = self.thing(thread.pending.object);
        match queue.object {
            Object::Queue { .. } => queue.round > thread.pending.argument || queue.closed,
            _ => thread.woken,
        }
    }

    /// Whether a thread is about to acquire a read lock again that may let writers go first
    /// (`argument` 1).
    pub(super) fn is_recursive(&self, t: u32) -> bool {
        let thread = self.thread(t);
        let operation = &thread.pending;
        operation.argument == 1 && thread.reading.iter().any(|&(held, _)| held == operation.object)
    }

    /// Whether a writer waits for it, too: it is unspecified whether the lock then admits the
    /// thread.
    pub(super) fn may_queue(&self, t: u32) -> bool {
        self.is_recursive(t)
            && self.channel(self.thread(t).pending.object, SECOND).iter().any(|&writers| writers != 0)
    }

    /// The number of alternatives of a ready thread's operation.
    pub(super) fn alternatives(&self, t: u32) -> u32 {
        let operation = &self.thread(t).pending;
        match operation.kind {
            Kind::Toss if operation.object != ObjectId::NONE => {
                self.thing(operation.object).count.min(MOST_ALTERNATIVES as u32 - 1) + 1
            }
            Kind::Toss => operation.argument.min(MOST_ALTERNATIVES - 1) as u32 + 1,
            Kind::NotifyOne => self.waiters(operation.object).max(1),
            Kind::FutexWake => sets(self.waiters(operation.object), operation.argument),
            // A receiver that is about to wait may not be waiting yet.
            Kind::TrySend => 1 + u32::from(self.sendable(operation.object)),
            Kind::ReadLock | Kind::TryReadLock => 1 + u32::from(self.may_queue(t)),
            _ => 1,
        }
    }
}

/// The number of sets of `n` waiters, limited to the number of alternatives.
pub(super) fn sets(waiters: u32, n: u64) -> u32 {
    let n = n.min(u64::from(waiters)) as u32;
    let n = u64::from(n.min(waiters - n));
    let mut result = 1u64;
    for i in 0..n {
        // The result is a binomial coefficient in every iteration, so the division is exact.
        result = result * (u64::from(waiters) - i) / (i + 1);
        if result >= MOST_ALTERNATIVES {
            return MOST_ALTERNATIVES as u32;
        }
    }
    result as u32
}
