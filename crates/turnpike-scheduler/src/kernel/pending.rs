//! Pending operations: entering them into the sets that tell what can happen, and taking them out.

use super::nature::{Waits, nature};
use super::objects::WATCH;
use super::threads::{Phase, Spin, life};
use super::{Kernel, MOST_ALTERNATIVES};
use crate::bits;
use crate::operation::{Kind, ObjectId, Operation};

/// A spinning thread that reads more objects than this between two yields is not watched.
const MOST_SEEN: usize = 64;

impl Kernel {
    /// The thread waits for its turn to do this.
    #[inline]
    pub(super) fn enter(&mut self, t: u32, operation: Operation) {
        let thread = self.thread_mut(t);
        thread.pending = operation;
        thread.phase = Phase::Pending;
        match operation.kind {
            Kind::Yield | Kind::Sleep => self.check_spinning(t),
            Kind::FutexWait | Kind::FutexWake => self.clocks.waits(t),
            _ => {}
        }
        self.enlist(t);
    }

    /// Puts a pending thread into all sets where it belongs: a function of its state and its objects'.
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

    /// The same for what does not just wait in a channel of its object. `open` tells whether its channel is, if it has one.
    fn enlist_specially(&mut self, t: u32, open: bool) {
        let thread = &self.threads[t as usize];
        let (rank, argument, mut timed) = (thread.rank, thread.pending.argument, thread.pending.timed);
        let ready = match thread.pending.kind {
            Kind::Join => self.has_ended(argument),
            Kind::Park => thread.token,
            Kind::Leave => self.may_leave(t),
            Kind::Reacquire if !thread.woken => {
                bits::set(&mut self.waiting, rank);
                self.odd += 1;
                false
            }
            kind @ (Kind::Yield | Kind::Sleep) if thread.spin == Spin::Waiting => {
                // Time passes for a sleeper: it goes on when nothing else can.
                timed = kind == Kind::Sleep;
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
                if kind != Kind::Toss || argument > 0 {
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
        bits::set(&mut self.timed, rank);
        self.odd += 1;
    }

    /// Takes a pending thread out of all sets.
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

    /// Takes a spinning thread out of the channels of what it watches.
    fn unwatch(&mut self, t: u32) {
        let thread = &self.threads[t as usize];
        if thread.spin != Spin::Waiting {
            return;
        }
        let rank = thread.rank;
        for i in 0..thread.seen.len() {
            let (object, _) = self.threads[t as usize].seen[i];
            if (object.0 as usize) < self.objects.len() {
                bits::clear(self.channel_mut(object, WATCH), rank);
            }
        }
    }

    /// A thread at a barrier, in a futex's queue or with an offer in a rendezvous queue may go on.
    fn may_leave(&self, t: u32) -> bool {
        let thread = self.thread(t);
        let queue = self.thing(thread.pending.object);
        match queue.object {
            crate::Object::Queue { .. } => queue.round > thread.pending.argument || queue.closed,
            _ => thread.woken,
        }
    }

    /// How many alternatives the operation of a ready thread has.
    pub(super) fn alternatives(&self, t: u32) -> u32 {
        let operation = &self.thread(t).pending;
        match operation.kind {
            Kind::Toss => operation.argument.min(MOST_ALTERNATIVES - 1) as u32 + 1,
            Kind::NotifyOne => self.waiters(operation.object).max(1),
            Kind::FutexWake => sets(self.waiters(operation.object), operation.argument),
            _ => 1,
        }
    }

    /// How many threads wait on a condition variable or a futex.
    pub(super) fn waiters(&self, object: ObjectId) -> u32 {
        bits::count(self.channel(object, super::objects::FIRST))
    }

    /// A thread yields: if it only read since it yielded last, and nothing that it read has changed, then it would do
    /// the same again, and waits for a change instead.
    fn check_spinning(&mut self, t: u32) {
        let thread = self.thread(t);
        let spins = thread.spin == Spin::Maybe
            && !thread.seen.is_empty()
            && thread.seen.len() <= MOST_SEEN
            && thread.seen.iter().all(|&(object, version)| match self.objects.get(object.0 as usize) {
                Some(thing) => thing.version == version,
                None => !self.has_ended(u64::from(object.0 & !life(0).0)),
            });
        if spins {
            self.thread_mut(t).spin = Spin::Waiting;
            self.incomplete = true;
            // Threads with a watch count as odd, so that `retire` looks after them.
            self.odd += 1;
        }
    }

    /// Something that a spinning thread read has changed.
    pub(super) fn stop_spinning(&mut self, t: u32) {
        self.unwatch(t);
        let thread = self.thread_mut(t);
        thread.spin = Spin::No;
        let rank = thread.rank;
        bits::set(&mut self.ready, rank);
        self.odd -= 1;
    }

    /// The thread read an object.
    pub(super) fn saw(&mut self, t: u32, object: ObjectId) {
        let version = self.objects.get(object.0 as usize).map_or(0, |thing| thing.version);
        let thread = &mut self.threads[t as usize];
        if thread.spin == Spin::Maybe && thread.seen.len() <= MOST_SEEN {
            match thread.seen.iter_mut().find(|(seen, _)| *seen == object) {
                // What matters is that it did not change since it was read last.
                Some(entry) => entry.1 = version,
                None => thread.seen.push((object, version)),
            }
        }
    }

    /// An object was modified.
    #[inline]
    pub(super) fn modified(&mut self, object: ObjectId) {
        let thing = self.thing_mut(object);
        thing.version = thing.version.wrapping_add(1);
        if thing.watched {
            self.wake_watchers(object);
        }
    }

    #[cold]
    fn wake_watchers(&mut self, object: ObjectId) {
        self.thing_mut(object).watched = false;
        for word in 0..self.stride {
            while self.channel(object, WATCH)[word] != 0 {
                let rank = word as u32 * 64 + self.channel(object, WATCH)[word].trailing_zeros();
                let t = self.at_rank(rank);
                self.stop_spinning(t);
            }
        }
    }
}

/// How many sets of `n` waiters there are, at most as many as may be chosen from.
pub(super) fn sets(waiters: u32, n: u64) -> u32 {
    let n = n.min(u64::from(waiters)) as u32;
    let n = u64::from(n.min(waiters - n));
    let mut result = 1u64;
    for i in 0..n {
        // A binomial coefficient at every step of the loop, hence the division is exact.
        result = result * (u64::from(waiters) - i) / (i + 1);
        if result >= MOST_ALTERNATIVES {
            return MOST_ALTERNATIVES as u32;
        }
    }
    result as u32
}
