//! The effect of each step on the objects.

use super::access::{Access, Place};
use super::objects::{FIRST, SECOND};
use super::threads::{Phase, Spin};
use super::{Kernel, MOST_ALTERNATIVES, NONE};
use crate::bits;
use crate::execution::{Choice, End, FailureKind, Finding};
use crate::operation::{Kind, Object, ObjectId, Operation, Outcome, Site};

/// Whether the thread's own code continues after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// It continues.
    Run,
    /// It waits for another step, which the kernel enters itself.
    Wait,
    /// The execution is over.
    End,
}

pub(super) const OK: Outcome = Outcome { value: 0, ok: true, timed_out: false };
pub(super) const NOT_OK: Outcome = Outcome { value: 0, ok: false, timed_out: false };

fn ok_if(ok: bool) -> Outcome {
    Outcome { ok, ..OK }
}

impl Kernel {
    /// Performs the pending step of thread `t`, whose access was computed in this state.
    #[inline]
    pub(super) fn perform(&mut self, t: u32, alternative: u32, access: &Access) -> After {
        if alternative == Choice::STAY {
            let end = self.stuck();
            self.finish_with(end);
            return After::End;
        }
        if self.thread(t).spin == Spin::Waiting {
            self.stop_spinning(t);
        }
        self.retire(t);
        self.thread_mut(t).phase = Phase::Running;
        if self.ruins
            && let Some(why) = self.misses(t)
        {
            return self.misuse(t, why);
        }
        let after = if alternative >= Choice::SPURIOUS {
            self.give_up(t, alternative)
        } else {
            self.act(t, alternative, access)
        };
        let thread = self.thread(t);
        if thread.spin != Spin::No || matches!(thread.pending.kind, Kind::Yield | Kind::Sleep) {
            self.follow_spin(t, access);
        }
        if after == After::Wait {
            let thread = self.thread_mut(t);
            thread.phase = Phase::Pending;
            thread.pending.kind = match thread.pending.kind {
                Kind::Wait | Kind::Reacquire => Kind::Reacquire,
                Kind::ReadLock => Kind::ReadLock,
                _ => Kind::Leave,
            };
            self.enlist(t);
        }
        after
    }

    /// The effect of a thread's step.
    ///
    /// Long, because it has an arm for each kind of operation. Separate functions would hide that
    /// each kind has exactly one, and would cost a call per step.
    fn act(&mut self, t: u32, alternative: u32, access: &Access) -> After {
        let Operation { kind, object, second, argument, site, .. } = self.threads[t as usize].pending;
        let exclusive = access.first.is_exclusive();
        let outcome = match kind {
            Kind::Load | Kind::Store | Kind::Update if matches!(access.first.place(), Place::Weak(_)) => {
                self.weak_outcome(t)
            }
            Kind::Load | Kind::Store | Kind::Read | Kind::Write => OK,
            Kind::Update => ok_if(exclusive),
            Kind::Lock | Kind::TryLock => {
                if exclusive {
                    self.acquire(t, object, 1, site);
                }
                ok_if(exclusive)
            }
            Kind::Unlock => {
                let mutex = self.thing_mut(object);
                if mutex.owner != t {
                    return self.misuse(t, "unlocks a mutex that it does not hold");
                }
                mutex.count -= 1;
                if mutex.count == 0 {
                    mutex.owner = NONE;
                    self.refresh(object, FIRST);
                }
                OK
            }
            Kind::ReadLock if alternative == 1 => {
                self.thread_mut(t).behind = true;
                return After::Wait;
            }
            Kind::TryReadLock if alternative == 1 => NOT_OK,
            Kind::ReadLock | Kind::TryReadLock => {
                let free = self.thing(object).owner == NONE;
                if free {
                    self.thing_mut(object).count += 1;
                    self.thread_mut(t).reading.push((object, site));
                    self.refresh(object, SECOND);
                }
                ok_if(free)
            }
            Kind::WriteLock | Kind::TryWriteLock => {
                if exclusive {
                    let lock = self.thing_mut(object);
                    lock.owner = t;
                    lock.held = site;
                    self.refresh(object, FIRST);
                    self.refresh(object, SECOND);
                }
                ok_if(exclusive)
            }
            Kind::ReadUnlock => {
                let reading = &mut self.thread_mut(t).reading;
                match reading.iter().rposition(|&(held, _)| held == object) {
                    Some(i) => reading.swap_remove(i),
                    None => return self.misuse(t, "releases a read lock that it does not hold"),
                };
                self.thing_mut(object).count -= 1;
                self.refresh(object, SECOND);
                OK
            }
            Kind::WriteUnlock => {
                let lock = self.thing_mut(object);
                if lock.owner != t {
                    return self.misuse(t, "releases a write lock that it does not hold");
                }
                lock.owner = NONE;
                if argument == 1 {
                    lock.count += 1;
                    self.thread_mut(t).reading.push((object, site));
                }
                self.refresh(object, FIRST);
                self.refresh(object, SECOND);
                OK
            }
            Kind::Wait => return self.wait(t, second, site),
            Kind::Reacquire => {
                let thread = self.thread(t);
                let ((count, site), timed_out) = (thread.saved, thread.timed_out);
                if second != ObjectId::NONE {
                    self.acquire(t, second, count, site);
                }
                Outcome { timed_out, ok: !timed_out, value: 0 }
            }
            Kind::NotifyOne => {
                let waiter = self.waiter(object, alternative);
                self.wake(waiter, t, object);
                self.thing_mut(object).round += u64::from(waiter.is_some());
                ok_if(waiter.is_some())
            }
            Kind::NotifyAll => {
                let woken = self.wake_all(t, object);
                self.thing_mut(object).round += u64::from(woken.ok);
                woken
            }
            Kind::SemWait | Kind::SemTryWait => {
                if exclusive {
                    self.thing_mut(object).count -= 1;
                    self.refresh(object, FIRST);
                }
                ok_if(exclusive)
            }
            Kind::SemPost => {
                let semaphore = self.thing_mut(object);
                semaphore.count = semaphore.count.saturating_add(1);
                self.refresh(object, FIRST);
                OK
            }
            Kind::SemGet => Outcome { value: u64::from(self.thing(object).count), ..OK },
            Kind::Arrive => return self.arrive(t, object, argument),
            Kind::Leave => match self.thing(object).object {
                Object::Queue { .. } => ok_if(self.thing(object).round > argument),
                _ => self.thread(t).outcome,
            },
            Kind::OnceBegin => {
                let once = self.thing_mut(object);
                if !once.done {
                    once.owner = t;
                    once.held = site;
                    self.refresh(object, FIRST);
                }
                ok_if(exclusive)
            }
            Kind::OnceEnd => {
                let once = self.thing_mut(object);
                if once.owner != t {
                    return self.misuse(t, "ends an initialisation that it did not begin");
                }
                once.owner = NONE;
                once.done |= argument != 0;
                self.refresh(object, FIRST);
                OK
            }
            Kind::Send | Kind::TrySend => self.send(t, object, exclusive),
            Kind::Receive | Kind::TryReceive => self.receive(t, object),
            Kind::Close => {
                let queue = self.thing_mut(object);
                if argument == 0 {
                    queue.senders = queue.senders.saturating_sub(1);
                    queue.done = queue.senders == 0;
                } else {
                    queue.closed = true;
                }
                self.refresh(object, FIRST);
                self.refresh(object, SECOND);
                self.release_offers(object);
                OK
            }
            Kind::Join => OK,
            Kind::TryJoin => ok_if(self.has_ended(argument)),
            Kind::Park => {
                self.thread_mut(t).token = false;
                OK
            }
            Kind::Unpark => {
                let other = argument as u32;
                let thread = self.thread_mut(other);
                thread.token = true;
                if thread.phase == Phase::Pending && thread.pending.kind == Kind::Park {
                    let rank = thread.rank;
                    bits::set(&mut self.ready, rank);
                }
                OK
            }
            Kind::Yield => OK,
            Kind::Destroy => ok_if(self.destroy_object(object)),
            Kind::Initialise => {
                if let Some(why) = self.is_awaited(object) {
                    return self.misuse(t, why);
                }
                self.reset_object(object);
                OK
            }
            Kind::Free => {
                self.wake_spinners_in(object);
                OK
            }
            Kind::Sleep => {
                let thread = self.thread_mut(t);
                thread.time = thread.time.saturating_add(argument);
                self.time_passed = true;
                OK
            }
            Kind::Toss => {
                self.incomplete |= argument >= MOST_ALTERNATIVES;
                Outcome { value: u64::from(alternative), ..OK }
            }
            Kind::Assert => {
                self.assertions = self.assertions.saturating_add(1);
                if argument == 0 {
                    self.fail_at(FailureKind::Assertion, "assertion failed", t, site);
                    return After::End;
                }
                OK
            }
            Kind::End => OK,
            Kind::Message => {
                self.messages = self.messages.saturating_add(1);
                OK
            }
            Kind::Exit => {
                self.thread_mut(t).phase = Phase::Ended;
                self.live -= 1;
                self.exit();
                return After::End;
            }
            Kind::FutexWait => return self.futex_wait(t, exclusive),
            Kind::FutexWake => self.futex_wake(t, object, argument, alternative),
        };
        self.thread_mut(t).outcome = outcome;
        After::Run
    }

    /// Fails the execution because the thread misused an object.
    #[cold]
    pub(super) fn misuse(&mut self, t: u32, why: &'static str) -> After {
        self.fail_at(FailureKind::Misuse, why, t, self.thread(t).pending.site);
        After::End
    }

    /// Acquires a mutex that is free or owned by the thread.
    fn acquire(&mut self, t: u32, object: ObjectId, count: u32, site: Site) {
        let mutex = self.thing_mut(object);
        if mutex.owner == NONE {
            mutex.owner = t;
            mutex.count = count;
            mutex.held = site;
            self.refresh(object, FIRST);
        } else {
            mutex.count = mutex.count.saturating_add(count);
        }
    }

    /// The thread times out or wakes up spuriously.
    fn give_up(&mut self, t: u32, alternative: u32) -> After {
        let timed_out = alternative == Choice::TIMEOUT;
        self.time_passed = true;
        if !timed_out {
            self.spurious -= 1;
        }
        let thread = self.thread_mut(t);
        if timed_out {
            thread.time = thread.time.max(thread.pending.deadline);
        }
        match thread.pending.kind {
            Kind::Sleep => {
                thread.time = thread.time.saturating_add(thread.pending.argument);
                thread.outcome = OK;
                After::Run
            }
            Kind::Reacquire => {
                thread.woken = true;
                thread.timed_out = timed_out;
                thread.wake = u64::MAX;
                thread.waker = thread.past;
                thread.pending.timed = false;
                After::Wait
            }
            kind => {
                let object = thread.pending.object;
                thread.behind = false;
                thread.outcome = Outcome { timed_out, ..NOT_OK };
                if kind == Kind::WriteLock {
                    self.admit_readers(object);
                }
                After::Run
            }
        }
    }

    /// A writer no longer waits. Readers that waited behind it may go on, unless another writer waits.
    fn admit_readers(&mut self, lock: ObjectId) {
        if self.channel(lock, SECOND).iter().any(|&writers| writers != 0) {
            return;
        }
        for t in 0..self.count {
            let thread = self.thread(t);
            if thread.behind && thread.phase == Phase::Pending && thread.pending.object == lock {
                self.retire(t);
                self.thread_mut(t).behind = false;
                self.enlist(t);
            }
        }
    }

    /// The process ended: live threads are leaked unless they were detached.
    pub(super) fn exit(&mut self) {
        for t in 0..self.count {
            let thread = self.thread(t);
            if thread.phase != Phase::Ended && !thread.detached {
                self.findings.push(Finding::Leak(crate::ThreadId(t)));
            }
        }
        self.finish_with(End::Finished);
    }
}
