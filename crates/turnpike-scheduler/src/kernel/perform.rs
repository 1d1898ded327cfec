//! What each step does to the objects.

use super::access::{Access, Place};
use super::objects::{Class, FIRST, SECOND};
use super::queues::Mark;
use super::threads::{Phase, Spin, life};
use super::{Kernel, MOST_ALTERNATIVES, NONE};
use crate::bits;
use crate::execution::{Choice, End, FailureKind, Finding};
use crate::operation::{Kind, Object, ObjectId, Operation, Outcome, Site};

/// Whether the thread's own code runs on after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// It does.
    Run,
    /// It waits for another step, which the kernel enters itself.
    Wait,
    /// The execution is over.
    End,
}

const OK: Outcome = Outcome { value: 0, ok: true, timed_out: false };
const NOT_OK: Outcome = Outcome { value: 0, ok: false, timed_out: false };

fn ok_if(ok: bool) -> Outcome {
    Outcome { ok, ..OK }
}

impl Kernel {
    /// Performs the pending step of thread `t`. Its access was computed in this state.
    #[inline]
    pub(super) fn perform(&mut self, t: u32, alternative: u32, access: &Access) -> After {
        if self.thread(t).spin == Spin::Waiting {
            self.stop_spinning(t);
        }
        self.retire(t);
        self.thread_mut(t).phase = Phase::Running;
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
                _ => Kind::Leave,
            };
            self.enlist(t);
        }
        after
    }

    /// The step of a thread that can take it.
    fn act(&mut self, t: u32, alternative: u32, access: &Access) -> After {
        let Operation { kind, object, second, argument, site, .. } = self.threads[t as usize].pending;
        let exclusive = access.first.is_exclusive();
        let outcome = match kind {
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
            Kind::Arrive => return self.arrive(t, object),
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
            Kind::Send | Kind::TrySend => self.send(t, object, kind),
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

    /// The thread did what the object's rules forbid.
    #[cold]
    fn misuse(&mut self, t: u32, why: &'static str) -> After {
        self.fail_at(FailureKind::Misuse, why, t, self.thread(t).pending.site);
        After::End
    }

    /// Takes a mutex that is free, or the thread's own.
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

    /// First half of waiting on a condition variable: gives up the mutex and enters the queue.
    fn wait(&mut self, t: u32, mutex: ObjectId, site: Site) -> After {
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

    /// A waiter may go on, thanks to the step that thread `by` takes now.
    fn wake(&mut self, waiter: Option<u32>, by: u32, object: ObjectId) {
        let Some(t) = waiter else { return };
        let (waker, time, number) = (self.thread(by).past, self.thread(by).time, self.thing(object).round);
        self.retire(t);
        let thread = self.thread_mut(t);
        thread.woken = true;
        thread.wake = number;
        thread.waker = waker;
        thread.time = thread.time.max(time);
        self.enlist(t);
    }

    fn wake_all(&mut self, by: u32, object: ObjectId) -> Outcome {
        let mut n = 0;
        while let Some(t) = self.waiter(object, 0) {
            self.wake(Some(t), by, object);
            n += 1;
        }
        Outcome { value: n, ok: n > 0, timed_out: false }
    }

    fn arrive(&mut self, t: u32, object: ObjectId) -> After {
        let barrier = self.thing_mut(object);
        barrier.count += 1;
        let all = match barrier.object {
            Object::Barrier { count } => barrier.count >= count,
            _ => true,
        };
        if all {
            barrier.count = 0;
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

    fn send(&mut self, t: u32, object: ObjectId, kind: Kind) -> Outcome {
        if self.thing(object).closed {
            return Outcome { value: 1, ..NOT_OK };
        }
        if kind == Kind::TrySend && !self.sendable(object) {
            return NOT_OK;
        }
        self.messages = self.messages.saturating_add(1);
        let mark = self.mark(t);
        let queue = self.thing_mut(object);
        let (number, needs_room, log) = (queue.round + u64::from(queue.count), queue.needs_room(), queue.log);
        queue.count = queue.count.saturating_add(1);
        let log = self.logs.get_mut(log);
        log.sent.push_back(mark);
        if let Some(room) = log.room.front().filter(|_| needs_room).copied() {
            log.room.pop_front();
            self.thread_mut(t).learn_time(room.time);
        }
        self.refresh(object, FIRST);
        self.refresh(object, SECOND);
        Outcome { value: number, ..OK }
    }

    fn receive(&mut self, t: u32, object: ObjectId) -> Outcome {
        let queue = self.thing_mut(object);
        if queue.count == 0 {
            return Outcome { value: u64::from(queue.done), ..NOT_OK };
        }
        queue.count -= 1;
        queue.round += 1;
        let (log, object_kind) = (queue.log, queue.object);
        if let Some(sent) = self.logs.get_mut(log).sent.pop_front() {
            self.thread_mut(t).learn_time(sent.time);
        }
        let mark = self.mark(t);
        let log = self.logs.get_mut(log);
        match object_kind {
            Object::Queue { capacity: 0 } => log.taken.push(mark),
            Object::Queue { capacity: u32::MAX } => {}
            _ => log.room.push_back(mark),
        }
        self.refresh(object, FIRST);
        self.refresh(object, SECOND);
        self.release_offers(object);
        OK
    }

    /// The step that the thread just took, for those that depend on it.
    fn mark(&self, t: u32) -> Mark {
        Mark { hash: self.thread(t).past, time: self.thread(t).time }
    }

    /// Senders to a rendezvous queue whose message was taken, or will never be, may go on.
    fn release_offers(&mut self, object: ObjectId) {
        if self.thing(object).object != (Object::Queue { capacity: 0 }) {
            return;
        }
        for t in 0..self.count {
            let thread = self.thread(t);
            let waits = thread.phase == Phase::Pending && thread.pending.kind == Kind::Leave;
            if waits && thread.pending.object == object {
                self.retire(t);
                self.enlist(t);
            }
        }
    }

    fn futex_wait(&mut self, t: u32, waits: bool) -> After {
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

    fn futex_wake(&mut self, t: u32, object: ObjectId, most: u64, alternative: u32) -> Outcome {
        let waiters = self.waiters(object);
        let wanted = most.min(u64::from(waiters)) as u32;
        // The alternative numbers the sets in lexicographic order: decide member by member.
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

    /// The thread's time is up, or it wakes up for no reason.
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
            _ => {
                thread.outcome = Outcome { timed_out, ..NOT_OK };
                After::Run
            }
        }
    }

    /// Keeps track of whether the thread only reads between two yields.
    fn follow_spin(&mut self, t: u32, access: &Access) {
        let thread = self.thread_mut(t);
        let (kind, argument) = (thread.pending.kind, thread.pending.argument);
        if matches!(kind, Kind::Yield | Kind::Sleep) {
            thread.spin = Spin::Maybe;
            thread.seen.clear();
            return;
        }
        // The word of a futex may be changed unseen: who finds it changed, or wakes others, does not just repeat itself.
        if matches!(kind, Kind::FutexWait | Kind::FutexWake) {
            thread.spin = Spin::No;
            return;
        }
        let mut reads = false;
        for touch in access.touches() {
            if let (Place::Object(object) | Place::Head(object), Class::Read) = (touch.place(), touch.class())
            {
                self.saw(t, object);
                reads = true;
            }
        }
        if kind == Kind::TryJoin && !self.thread(t).outcome.ok {
            self.saw(t, life(argument as u32));
            reads = true;
        }
        let changes = access.touches().iter().any(|touch| touch.modifies());
        // The word of a futex may be changed by code that tells nobody.
        let futex = matches!(kind, Kind::FutexWait | Kind::FutexWake);
        if changes || futex || !(reads || kind == Kind::Assert) {
            self.thread_mut(t).spin = Spin::No;
        }
    }

    /// The process ended: those who still live are leaked, unless nobody wanted to join them.
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
