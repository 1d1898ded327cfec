//! Spin loops: a thread that yields, has only read since it yielded in the same state, and would
//! read the same values again, waits for a change instead. That keeps state spaces finite, and
//! detects infinite loops. A loop that counts its iterations never returns to the same state, and
//! keeps running.
//!
//! An iteration may have several yields. As in Brent's cycle detection, the state is compared with
//! that at an earlier yield, which is replaced by the current one after one, three, seven … yields.

use super::Kernel;
use super::access::{Access, Place};
use super::objects::{Class, WATCH};
use super::threads::{Spin, life};
use crate::bits;
use crate::operation::{Kind, ObjectId, Operation};

/// A spinning thread that reads more objects between two yields is not watched.
const MOST_SEEN: usize = 64;
/// Limit on the yields of a loop iteration.
const MOST_YIELDS: u32 = 31;

/// The thread's own state, as far as reported. Sleeping reports none.
fn own_state(operation: &Operation) -> u64 {
    if operation.kind == Kind::Yield { operation.argument } else { 0 }
}

impl Kernel {
    /// A thread yields. If it has only read since its last yield, and nothing that it read has
    /// changed, it would repeat itself, so it waits for a change instead.
    pub(super) fn check_spinning(&mut self, t: u32) {
        let thread = self.thread(t);
        if thread.pending.object != ObjectId::NONE {
            return self.await_change(t);
        }
        let state = own_state(&thread.pending);
        let spins = thread.spin == Spin::Maybe
            && thread.turn == state
            && !thread.seen.is_empty()
            && thread.seen.len() <= MOST_SEEN
            && thread.seen.iter().all(|&(object, version)| match self.objects.get(object.0 as usize) {
                Some(thing) => thing.version == version,
                None => !self.has_ended(u64::from(object.0 & !life(0).0)),
            });
        if spins && self.weak.on && self.demand_newer(t) {
            return;
        }
        if spins {
            self.thread_mut(t).spin = Spin::Waiting;
            // Unreported state may differ between iterations.
            self.incomplete |= state & 1 == 0;
            // Threads that watch objects count as odd, so that `retire` handles them.
            self.odd += 1;
        }
    }

    /// The thread has declared what it waits for.
    fn await_change(&mut self, t: u32) {
        let object = self.thread(t).pending.object;
        let version = self.thing(object).version;
        let thread = self.thread_mut(t);
        thread.seen.clear();
        thread.seen.push((object, version));
        thread.spin = Spin::Waiting;
        self.odd += 1;
    }

    /// Tracks whether the thread only reads between two yields.
    pub(super) fn follow_spin(&mut self, t: u32, access: &Access) {
        let thread = self.thread_mut(t);
        let (kind, argument) = (thread.pending.kind, thread.pending.argument);
        if matches!(kind, Kind::Yield | Kind::Sleep) {
            let state = own_state(&thread.pending);
            if thread.spin == Spin::Maybe && thread.turn != state && thread.yields > 0 {
                thread.yields -= 1;
                return;
            }
            // Start of an iteration.
            thread.patience =
                if thread.spin == Spin::No { 0 } else { (2 * thread.patience + 1).min(MOST_YIELDS) };
            thread.yields = thread.patience;
            thread.turn = state;
            thread.spin = Spin::Maybe;
            thread.seen.clear();
            return;
        }
        // A futex word may change unobserved: a thread that finds it changed, or wakes others, does
        // not merely repeat itself.
        if matches!(kind, Kind::FutexWait | Kind::FutexWake) {
            thread.spin = Spin::No;
            return;
        }
        let mut reads = false;
        for touch in access.touches() {
            let read = touch.class() == Class::Read;
            if let Place::Object(object) | Place::Head(object) | Place::Weak(object) = touch.place()
                && read
            {
                self.record_read(t, object);
                reads = true;
            }
        }
        if kind == Kind::TryJoin && !self.thread(t).outcome.ok {
            self.record_read(t, life(argument as u32));
            reads = true;
        }
        let changes = access.touches().iter().any(|touch| touch.modifies());
        if changes || !(reads || kind == Kind::Assert) {
            self.thread_mut(t).spin = Spin::No;
        }
    }

    /// Records that the thread read an object.
    pub(super) fn record_read(&mut self, t: u32, object: ObjectId) {
        let version = self.objects.get(object.0 as usize).map_or(0, |thing| thing.version);
        let thread = &mut self.threads[t as usize];
        if thread.spin == Spin::Maybe && thread.seen.len() <= MOST_SEEN {
            // Keep the version of the first read: a thread that saw two values in one iteration may
            // behave differently in the next.
            if !thread.seen.iter().any(|(seen, _)| *seen == object) {
                thread.seen.push((object, version));
            }
        }
    }

    /// Records that an object was modified.
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

    /// Something that a spinning thread read has changed.
    pub(super) fn stop_spinning(&mut self, t: u32) {
        self.unwatch(t);
        let spins = self.thread(t).pending.object == ObjectId::NONE;
        if self.weak.on && spins && self.thread(t).seen.len() == 1 {
            // With the old value it would only wait again.
            self.demand_newer(t);
        }
        let thread = self.thread_mut(t);
        thread.spin = Spin::No;
        let rank = thread.rank;
        bits::set(&mut self.ready, rank);
        self.odd -= 1;
    }

    /// Removes a spinning thread from the channels of the objects that it watches.
    pub(super) fn unwatch(&mut self, t: u32) {
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
}
