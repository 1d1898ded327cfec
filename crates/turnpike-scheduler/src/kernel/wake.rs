//! Waiting and waking: condition variables, barriers, futexes. After being woken, a waiting thread
//! continues by a separate step.

use super::objects::{Class, FIRST};
use super::perform::{After, NOT_OK, OK};
use super::{Kernel, NONE};
use crate::bits;
use crate::operation::{Kind, Object, ObjectId, Outcome, Site};

impl Kernel {
    /// The number of threads that wait on a condition variable or a futex.
    pub(super) fn waiters(&self, object: ObjectId) -> u32 {
        bits::count(self.channel(object, FIRST))
    }

    /// First half of waiting on a condition variable: releases the mutex and enters the queue.
    pub(super) fn wait(&mut self, t: u32, mutex: ObjectId, site: Site) -> After {
        let mut saved = (1, site);
        if mutex != ObjectId::NONE {
            let held = self.thing_mut(mutex);
            if held.owner != t {
                return self.misuse(t, "waits with a mutex that it does not hold");
            }
            saved = (held.count, held.held);
            held.owner = NONE;
            held.count = 0;
            self.refresh(mutex, FIRST);
        }
        let thread = self.thread_mut(t);
        thread.saved = saved;
        thread.woken = false;
        thread.timed_out = false;
        After::Wait
    }

    /// Wakes a waiter, by the current step of thread `by`.
    pub(super) fn wake(&mut self, waiter: Option<u32>, by: u32, object: ObjectId) {
        let Some(t) = waiter else { return };
        let (waker, time, number) = (self.thread(by).past, self.thread(by).time, self.thing(object).round);
        self.retire(t);
        let thread = self.thread_mut(t);
        thread.woken = true;
        thread.wake = number;
        thread.waker = waker;
        thread.time = thread.time.max(time);
        self.enlist(t);
        self.clocks.woken(t, object);
    }

    pub(super) fn wake_all(&mut self, by: u32, object: ObjectId) -> Outcome {
        let mut n = 0;
        while let Some(t) = self.waiter(object, 0) {
            self.wake(Some(t), by, object);
            n += 1;
        }
        Outcome { value: n, ok: n > 0, timed_out: false }
    }

    /// Whether the next arrival at a barrier is the last of its round.
    pub(super) fn completes(&self, object: ObjectId) -> bool {
        let barrier = self.thing(object);
        match barrier.object {
            Object::Barrier { count } => barrier.count + 1 >= count,
            _ => true,
        }
    }

    pub(super) fn arrive(&mut self, t: u32, object: ObjectId, argument: u64) -> After {
        let all = self.completes(object);
        let barrier = self.thing_mut(object);
        barrier.count += 1;
        if all {
            barrier.count = 0;
            if argument == Kind::ANONYMOUS {
                return self.complete(t, object);
            }
            self.wake_all(t, object);
            self.thing_mut(object).round += 1;
            self.thread_mut(t).outcome = OK;
            return After::Run;
        }
        let thread = self.thread_mut(t);
        thread.woken = false;
        thread.outcome = NOT_OK;
        After::Wait
    }

    /// The last arrival of a round, by a thread that ignores which one is last: all continue after
    /// all arrivals, and the next round comes after this one.
    fn complete(&mut self, t: u32, object: ObjectId) -> After {
        let barrier = self.thing_mut(object);
        let all = barrier.cell.seen_by(Class::Exclusive);
        barrier.cell.touch(Class::Exclusive, all);
        while let Some(waiter) = self.waiter(object, 0) {
            self.wake(Some(waiter), t, object);
            self.thread_mut(waiter).waker = all;
        }
        let round = self.thing(object).round;
        self.thing_mut(object).round += 1;
        let thread = self.thread_mut(t);
        thread.woken = true;
        thread.wake = round;
        thread.waker = all;
        thread.outcome = NOT_OK;
        self.clocks.woken(t, object);
        After::Wait
    }

    pub(super) fn futex_wait(&mut self, t: u32, waits: bool) -> After {
        if !waits {
            self.thread_mut(t).outcome = NOT_OK;
            return After::Run;
        }
        let thread = self.thread_mut(t);
        thread.woken = false;
        thread.timed_out = false;
        thread.outcome = OK;
        After::Wait
    }

    pub(super) fn futex_wake(&mut self, t: u32, object: ObjectId, most: u64, alternative: u32) -> Outcome {
        let waiters = self.waiters(object);
        let wanted = most.min(u64::from(waiters)) as u32;
        // The alternative numbers the sets in lexicographic order: decode it member by member.
        let (mut number, mut at, mut left) = (alternative, 0, wanted);
        let mut behind = waiters;
        while left > 0 {
            let with = super::pending::sets(behind - 1, u64::from(left - 1));
            if number < with || behind <= left {
                let waiter = self.waiter(object, at);
                self.wake(waiter, t, object);
                left -= 1;
            } else {
                number -= with;
                at += 1;
            }
            behind -= 1;
        }
        self.thing_mut(object).round += u64::from(wanted > 0);
        Outcome { value: u64::from(wanted), ok: wanted > 0, timed_out: false }
    }
}
