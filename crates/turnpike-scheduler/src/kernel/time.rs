//! Virtual time: each thread has a clock that advances by sleeping and timing out, and to the time
//! of whatever the thread waited for.
//!
//! It propagates only along happens-before, so it is equal in all executions that differ only in
//! the order of independent steps.

use super::Kernel;
use super::access::Access;
use super::objects::Class;
use super::threads::Thread;
use crate::execution::Choice;
use crate::operation::{Kind, ObjectId};

impl Thread {
    /// Advances the clock to at least this time.
    pub(super) fn learn_time(&mut self, time: u64) {
        self.time = self.time.max(time);
    }
}

impl Kernel {
    /// Advances time for the pending step of thread `t`. Messages and wake-ups carry their time
    /// elsewhere.
    pub(super) fn pass_time(&mut self, t: u32, alternative: u32, access: &Access) {
        if alternative >= Choice::SPURIOUS {
            return;
        }
        let operation = self.thread(t).pending;
        let object = operation.object;
        let done = access.first.is_exclusive();
        match operation.kind {
            Kind::Lock | Kind::SemWait | Kind::OnceBegin | Kind::Load | Kind::ReadLock => {
                self.acquire_time(t, object, false);
            }
            Kind::TryLock | Kind::SemTryWait if done => self.acquire_time(t, object, false),
            Kind::TryReadLock if access.first.class() == Class::Share => self.acquire_time(t, object, false),
            Kind::WriteLock => self.acquire_time(t, object, true),
            Kind::TryWriteLock if done => self.acquire_time(t, object, true),
            Kind::Reacquire => self.acquire_time(t, operation.second, false),
            Kind::Unlock | Kind::WriteUnlock | Kind::SemPost | Kind::OnceEnd | Kind::Store => {
                self.release_time(t, object, 0);
            }
            Kind::ReadUnlock => self.release_time(t, object, 1),
            Kind::Close if !done => self.release_time(t, object, 1),
            // The last sender closes after all others.
            Kind::Close => {
                self.acquire_time(t, object, true);
                self.release_time(t, object, 0);
            }
            Kind::Wait => self.release_time(t, operation.second, 0),
            Kind::Arrive => {
                self.acquire_time(t, object, false);
                self.release_time(t, object, 0);
            }
            Kind::Update => {
                self.acquire_time(t, object, false);
                if done {
                    self.release_time(t, object, 0);
                }
            }
            // A receiver that finds nothing may learn that no sender is left.
            Kind::Receive | Kind::TryReceive | Kind::Send | Kind::TrySend if !done => {
                self.acquire_time(t, object, false);
            }
            Kind::Join | Kind::TryJoin if self.has_ended(operation.argument) => {
                let end = self.thread(operation.argument as u32).time;
                self.thread_mut(t).learn_time(end);
            }
            Kind::Park => {
                let thread = self.thread_mut(t);
                thread.time = thread.time.max(thread.token_time);
            }
            Kind::Unpark => {
                let time = self.thread(t).time;
                let other = self.thread_mut(operation.argument as u32);
                other.token_time = other.token_time.max(time);
            }
            _ => {}
        }
    }

    fn acquire_time(&mut self, t: u32, object: ObjectId, from_readers: bool) {
        if object == ObjectId::NONE {
            return;
        }
        let [all, readers] = self.thing(object).time;
        self.thread_mut(t).learn_time(if from_readers { all.max(readers) } else { all });
    }

    fn release_time(&mut self, t: u32, object: ObjectId, to: usize) {
        if object == ObjectId::NONE {
            return;
        }
        let time = self.thread(t).time;
        let known = &mut self.thing_mut(object).time[to];
        *known = (*known).max(time);
    }
}
