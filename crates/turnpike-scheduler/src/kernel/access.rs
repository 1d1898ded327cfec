//! The objects that a step accesses, and how. Fingerprints, predictions and dependencies are all
//! derived from this.

use super::objects::{Cell, Class, FIRST, SECOND};
use super::{Kernel, NONE};
use crate::bits;
use crate::dependence::COMPLETES;
use crate::execution::Choice;
use crate::fingerprint::Fingerprint;
use crate::operation::{Kind, Object, ObjectId, Operation, ThreadId};
use crate::plan::Timeouts;

/// An item that has a history of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Object(ObjectId),
    /// The outgoing end of a queue; the queue object itself represents the other end.
    Head(ObjectId),
    /// The park token of a thread.
    Token(u32),
    /// The number of senders of a queue.
    Senders(ObjectId),
    /// A variable of weak memory, whose history is a graph.
    Weak(ObjectId),
}

/// A place and the class of its access, packed into one word because it is copied in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch(u64);

impl Touch {
    const NOTHING: Touch = Touch::new(0, 0, Class::Read);

    #[inline]
    const fn new(tag: u64, id: u32, class: Class) -> Touch {
        Touch(tag << 40 | (class as u64) << 32 | id as u64)
    }

    #[inline]
    pub(super) fn class(self) -> Class {
        match (self.0 >> 32) as u8 {
            0 => Class::Exclusive,
            1 => Class::Read,
            2 => Class::Share,
            _ => Class::Post,
        }
    }

    #[inline]
    pub(super) fn is_exclusive(self) -> bool {
        (self.0 >> 32) as u8 == Class::Exclusive as u8
    }

    #[inline]
    pub(super) fn is_nothing(self) -> bool {
        self.0 >> 40 == 0
    }

    #[inline]
    pub(super) fn place(self) -> Place {
        let id = self.0 as u32;
        match self.0 >> 40 {
            0 => Place::Nowhere,
            1 => Place::Object(ObjectId(id)),
            2 => Place::Head(ObjectId(id)),
            3 => Place::Token(id),
            4 => Place::Senders(ObjectId(id)),
            _ => Place::Weak(ObjectId(id)),
        }
    }

    /// Whether the place is modified.
    pub(super) fn modifies(self) -> bool {
        !self.is_nothing() && self.class() != Class::Read
    }

    #[inline]
    fn object(object: ObjectId, class: Class) -> Touch {
        Touch::new(1, object.0, class)
    }

    fn head(queue: ObjectId, class: Class) -> Touch {
        Touch::new(2, queue.0, class)
    }

    fn senders(queue: ObjectId, class: Class) -> Touch {
        Touch::new(4, queue.0, class)
    }

    pub(super) fn weak(object: ObjectId, class: Class) -> Touch {
        Touch::new(5, object.0, class)
    }

    fn token(t: u32, class: Class) -> Touch {
        Touch::new(3, t, class)
    }
}

/// The accesses of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) first: Touch,
    pub(super) second: Touch,
    /// A further past that the step depends on: that of the joined thread, or of the step that woke
    /// this thread.
    pub(super) also: Fingerprint,
}

impl Access {
    const LOCAL: Access = Access { first: Touch::NOTHING, second: Touch::NOTHING, also: Fingerprint::ZERO };

    /// An access of weak memory, which depends on the past of the write that it reads.
    pub(super) fn weak(first: Touch, also: Fingerprint) -> Access {
        Access { first, also, ..Access::LOCAL }
    }

    #[inline]
    fn on(object: ObjectId, class: Class) -> Access {
        Access { first: Touch::object(object, class), ..Access::LOCAL }
    }

    #[inline]
    fn and(self, object: ObjectId, class: Class) -> Access {
        if object == ObjectId::NONE {
            return self;
        }
        Access { second: Touch::object(object, class), ..self }
    }

    /// Both touches.
    pub(super) fn touches(&self) -> [Touch; 2] {
        [self.first, self.second]
    }

    /// Whether the order of the two steps matters for a place that both touch.
    pub(super) fn conflicts(&self, other: &Access) -> bool {
        self.touches().iter().any(|one| {
            !one.is_nothing()
                && other.touches().iter().any(|other| {
                    one.place() == other.place() && (one.class() != other.class() || one.is_exclusive())
                })
        })
    }
}

fn exclusive_if(exclusive: bool) -> Class {
    if exclusive { Class::Exclusive } else { Class::Read }
}

impl Kernel {
    /// The access of the pending step of thread `t`, by this alternative, in the current state.
    #[inline]
    pub(super) fn access(&self, t: u32, alternative: u32) -> Access {
        let thread = self.thread(t);
        let operation = &thread.pending;
        let object = operation.object;
        if alternative >= Choice::STAY {
            return if alternative == Choice::STAY { Access::LOCAL } else { self.access_unready(t) };
        }
        match operation.kind {
            Kind::Load | Kind::Store | Kind::Update if self.weak.on && self.is_weak(t) => {
                self.weak_access(t, alternative)
            }
            Kind::Store | Kind::Write => {
                Access::on(object, Class::Exclusive).and(operation.second, Class::Exclusive)
            }
            Kind::Load | Kind::Read | Kind::SemGet => {
                Access::on(object, Class::Read).and(operation.second, Class::Read)
            }
            Kind::Update => {
                let writes = operation.writes.is_none_or(|writes| writes(operation.argument));
                Access::on(object, exclusive_if(writes)).and(operation.second, exclusive_if(writes))
            }
            Kind::Lock | Kind::Unlock | Kind::WriteLock | Kind::WriteUnlock | Kind::SemWait => {
                Access::on(object, Class::Exclusive)
            }
            Kind::TryLock => Access::on(object, exclusive_if(self.lockable(t, object))),
            Kind::ReadLock | Kind::TryReadLock if alternative == 1 => Access::on(object, Class::Read),
            Kind::ReadLock | Kind::ReadUnlock => Access::on(object, Class::Share),
            Kind::TryReadLock => {
                let class = if self.thing(object).open(FIRST) { Class::Share } else { Class::Read };
                Access::on(object, class)
            }
            Kind::TryWriteLock => Access::on(object, exclusive_if(self.thing(object).open(SECOND))),
            Kind::Wait => Access::on(object, Class::Exclusive).and(operation.second, Class::Exclusive),
            Kind::Reacquire => {
                let also = thread.waker;
                Access { also, ..Access::LOCAL.and(operation.second, Class::Exclusive) }
            }
            Kind::NotifyOne | Kind::NotifyAll => Access::on(object, exclusive_if(self.waiters(object) > 0)),
            Kind::SemTryWait => Access::on(object, exclusive_if(self.thing(object).count > 0)),
            Kind::SemPost => Access::on(object, Class::Post),
            Kind::Arrive if operation.argument == Kind::ANONYMOUS => Access::on(object, Class::Post),
            Kind::Arrive | Kind::OnceEnd | Kind::Destroy | Kind::Free | Kind::Initialise => {
                Access::on(object, Class::Exclusive)
            }
            Kind::Leave if self.thing(object).log == NONE => Access { also: thread.waker, ..Access::LOCAL },
            Kind::OnceBegin => Access::on(object, exclusive_if(!self.thing(object).done)),
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive | Kind::Close | Kind::Leave => {
                self.access_queue(operation, alternative)
            }
            Kind::Join => Access { also: self.past_of(operation.argument), ..Access::LOCAL },
            Kind::TryJoin => {
                let ended = self.has_ended(operation.argument);
                let also = if ended { self.past_of(operation.argument) } else { Fingerprint::START };
                Access { also, ..Access::LOCAL }
            }
            Kind::Park => Access { first: Touch::token(t, Class::Exclusive), ..Access::LOCAL },
            Kind::Unpark => {
                Access { first: Touch::token(operation.argument as u32, Class::Post), ..Access::LOCAL }
            }
            Kind::FutexWait => {
                let waits = operation.writes.is_none_or(|same| same(operation.argument));
                Access::on(object, exclusive_if(waits)).and(operation.second, Class::Read)
            }
            Kind::FutexWake => Access::on(object, exclusive_if(self.waiters(object) > 0)),
            Kind::Toss if object != ObjectId::NONE => Access::on(object, Class::Exclusive),
            Kind::Yield
            | Kind::Sleep
            | Kind::Toss
            | Kind::Assert
            | Kind::Message
            | Kind::Exit
            | Kind::End => Access::LOCAL,
        }
    }

    /// The same for queues.
    fn access_queue(&self, operation: &Operation, alternative: u32) -> Access {
        let object = operation.object;
        let queue = self.thing(object);
        let log = self.logs.get(queue.log);
        let both = |class| Access {
            first: Touch::object(object, class),
            second: Touch::head(object, class),
            also: Fingerprint::ZERO,
        };
        match operation.kind {
            Kind::Send if !queue.closed => self.access_send(object),
            Kind::TrySend if alternative == 0 && self.sendable(object) => self.access_send(object),
            Kind::Receive if queue.count > 0 || !queue.done => self.access_receive(object),
            Kind::TryReceive if queue.count > 0 => self.access_receive(object),
            Kind::Leave if queue.round > operation.argument => {
                let taken = log.taken.get(operation.argument as usize);
                Access { also: taken.map_or(Fingerprint::ZERO, |mark| mark.hash), ..Access::LOCAL }
            }
            Kind::Close if operation.argument == 0 && queue.senders > 1 => {
                Access { first: Touch::senders(object, Class::Post), ..Access::LOCAL }
            }
            // The last sender closes after all others.
            Kind::Close => {
                let also = log.senders.seen_by(Class::Exclusive);
                Access { also, ..both(Class::Exclusive) }
            }
            _ => both(Class::Read),
        }
    }

    fn access_send(&self, object: ObjectId) -> Access {
        let queue = self.thing(object);
        let room = self.logs.get(queue.log).room.front();
        let also = room.filter(|_| queue.needs_room()).map_or(Fingerprint::ZERO, |mark| mark.hash);
        Access { also, ..Access::on(object, Class::Exclusive) }
    }

    fn access_receive(&self, object: ObjectId) -> Access {
        let sent = self.logs.get(self.thing(object).log).sent.front();
        let first = Touch::head(object, Class::Exclusive);
        Access { first, also: sent.map_or(Fingerprint::ZERO, |mark| mark.hash), ..Access::LOCAL }
    }

    /// The same for timing out and for spurious wake-ups.
    fn access_unready(&self, t: u32) -> Access {
        let operation = &self.thread(t).pending;
        match operation.kind {
            // Leaves the queue of waiters.
            Kind::Reacquire | Kind::Leave => Access::on(operation.object, Class::Exclusive),
            Kind::Park => Access { first: Touch::token(t, Class::Read), ..Access::LOCAL },
            _ if operation.object != ObjectId::NONE => Access::on(operation.object, Class::Read),
            _ => Access::LOCAL,
        }
    }

    fn past_of(&self, thread: u64) -> Fingerprint {
        self.threads[thread as usize].past
    }

    /// Whether an attempt to lock would succeed.
    pub(super) fn lockable(&self, t: u32, object: ObjectId) -> bool {
        let mutex = self.thing(object);
        mutex.owner == NONE || (mutex.owner == t && matches!(mutex.object, Object::Mutex { recursive: true }))
    }

    /// Whether an attempt to send would succeed.
    pub(super) fn sendable(&self, object: ObjectId) -> bool {
        let queue = self.thing(object);
        match queue.object {
            _ if queue.closed => false,
            Object::Queue { capacity: 0 } => queue.count < self.waiters(object),
            Object::Queue { capacity } => queue.count < capacity,
            _ => false,
        }
    }

    #[inline]
    fn cell(&self, place: Place) -> Option<&Cell> {
        match place {
            Place::Nowhere | Place::Weak(_) => None,
            Place::Object(object) => Some(&self.thing(object).cell),
            Place::Head(queue) => Some(&self.logs.get(self.thing(queue).log).head),
            Place::Senders(queue) => Some(&self.logs.get(self.thing(queue).log).senders),
            Place::Token(t) => Some(&self.thread(t).token_cell),
        }
    }

    /// The region of a touched object.
    #[inline]
    fn region_of(&self, touch: Touch) -> ObjectId {
        match touch.place() {
            Place::Object(object) | Place::Weak(object) => self.thing(object).within,
            _ => ObjectId::NONE,
        }
    }

    /// The regions of the objects that a step touches.
    fn within(&self, access: &Access) -> [ObjectId; 2] {
        if !self.regions {
            return [ObjectId::NONE; 2];
        }
        let (first, second) = (self.region_of(access.first), self.region_of(access.second));
        [first, if first == second { ObjectId::NONE } else { second }]
    }

    /// The regions, one after the other. Each counts as read, so that freeing it conflicts with the
    /// step.
    pub(super) fn regions_of(&self, access: &Access) -> impl Iterator<Item = ObjectId> + use<> {
        self.within(access).into_iter().filter(|&region| region != ObjectId::NONE)
    }

    /// Hash of the thread's past after the step.
    #[inline]
    pub(super) fn hash_after(&self, t: u32, alternative: u32, access: &Access) -> Fingerprint {
        let thread = self.thread(t);
        let what = (u64::from(alternative) << 8) | thread.pending.kind as u64;
        let mut hash = thread.past.mix_word(what);
        if let Some(cell) = self.cell(access.first.place()) {
            hash = hash.mix(cell.seen_by(access.first.class()));
        }
        if let Some(cell) = self.cell(access.second.place()) {
            hash = hash.mix(cell.seen_by(access.second.class()));
        }
        if access.also != Fingerprint::ZERO {
            hash = hash.mix(access.also);
        }
        if self.regions {
            for region in self.regions_of(access) {
                if let Some(cell) = self.cell(Place::Object(region)) {
                    hash = hash.mix(cell.seen_by(Class::Read));
                }
            }
        }
        if alternative == Choice::SPURIOUS {
            hash = hash.mix(self.last_spurious);
        }
        hash
    }

    /// Records the step in the histories of what it touches.
    #[inline]
    pub(super) fn touch(&mut self, t: u32, hash: Fingerprint, access: &Access) {
        self.touch_place(hash, access.first);
        if !access.second.is_nothing() {
            self.touch_place(hash, access.second);
        }
        if self.regions {
            for region in self.regions_of(access) {
                self.touch_place(hash, Touch::object(region, Class::Read));
            }
        }
        let thread = self.thread_mut(t);
        let (old, new) = (thread.summand, hash.summand());
        thread.past = hash;
        thread.summand = new;
        self.sum = self.sum.wrapping_sub(old).wrapping_add(new);
    }

    #[inline]
    fn touch_place(&mut self, hash: Fingerprint, touch: Touch) {
        let class = touch.class();
        match touch.place() {
            Place::Nowhere | Place::Weak(_) => {}
            Place::Object(object) => {
                self.thing_mut(object).cell.touch(class, hash);
                if class != Class::Read {
                    self.modified(object);
                }
            }
            Place::Head(queue) => {
                let log = self.thing(queue).log;
                self.logs.get_mut(log).head.touch(class, hash);
                if class != Class::Read {
                    self.modified(queue);
                }
            }
            Place::Senders(queue) => {
                let log = self.thing(queue).log;
                self.logs.get_mut(log).senders.touch(class, hash);
            }
            Place::Token(of) => self.thread_mut(of).token_cell.touch(class, hash),
        }
    }

    /// The fingerprint of the state that a choice leads to.
    pub(super) fn predict(&self, t: u32, alternative: u32) -> u128 {
        let access = self.access(t, alternative);
        let hash = self.hash_after(t, self.hashed_alternative(t, alternative), &access);
        let sum = self.sum.wrapping_sub(self.thread(t).summand).wrapping_add(hash.summand());
        if self.weak.on { sum.wrapping_add(self.order_change(t, alternative, hash)) } else { sum }
    }

    /// Whether the pending operation of a thread races with a step.
    #[inline]
    fn races(&self, t: u32, step: &Access) -> bool {
        let thread = self.thread(t);
        let operation = &thread.pending;
        // Fast path: most operations access other objects.
        let meets = |touch: Touch| match touch.place() {
            Place::Nowhere => false,
            Place::Object(object) | Place::Head(object) | Place::Senders(object) | Place::Weak(object) => {
                operation.object == object || operation.second == object
            }
            Place::Token(of) => match operation.kind {
                Kind::Park => t == of,
                Kind::Unpark => operation.argument == u64::from(of),
                _ => false,
            },
        };
        thread.phase == super::Phase::Pending
            && (meets(step.first) && self.access(t, 0).conflicts(step)
                || meets(step.second) && self.access(t, 0).conflicts(step)
                || self.regions && self.frees(t, step))
    }

    /// Whether a step and the pending operation of a thread conflict because one of them frees a
    /// region.
    fn frees(&self, t: u32, step: &Access) -> bool {
        let pending = self.access(t, 0);
        let meet = |one: &Access, other: &Access| {
            let freed = one.first;
            freed.is_exclusive()
                && self.regions_of(other).any(|region| freed.place() == Place::Object(region))
        };
        meet(&pending, step) || meet(step, &pending)
    }

    /// Draws new priorities for the pending operations that race with the step of thread `t`, and
    /// for its own.
    pub(super) fn redraw(&mut self, t: u32, step: &Access) {
        for other in 0..self.count {
            if other == t || self.races(other, step) {
                self.draw_priority(other);
            }
        }
    }

    /// The pending operation of a thread as a choice.
    pub(super) fn choice(&self, t: u32, alternative: u32) -> Choice {
        let access = self.access(t, alternative);
        self.choice_of(t, alternative, &access)
    }

    pub(super) fn choice_of(&self, t: u32, alternative: u32, access: &Access) -> Choice {
        let operation = &self.thread(t).pending;
        let exclusive = access.touches().iter().any(|touch| touch.is_exclusive());
        let argument = self.choice_argument(t, alternative);
        Choice {
            thread: ThreadId(t),
            alternative,
            kind: operation.kind,
            object: operation.object,
            second: operation.second,
            within: self.within(access),
            gives_up: operation.timed && self.timeouts == Timeouts::Always
                || operation.kind == Kind::Park && self.spurious > 0,
            exclusive,
            argument,
            site: operation.site,
        }
    }

    /// The argument of a choice, see [`Choice::argument`].
    fn choice_argument(&self, t: u32, alternative: u32) -> u64 {
        let thread = self.thread(t);
        let operation = &thread.pending;
        // The thread's own state is not comparable between executions.
        if operation.kind == Kind::Yield {
            return 0;
        }
        if self.weak.on && self.is_weak(t) {
            return self.weak_argument(t, alternative);
        }
        let Some(thing) = self.objects.get(operation.object.0 as usize) else { return operation.argument };
        let message = |number: u64| match thing.object {
            Object::Queue { capacity } => u64::from(capacity) << 32 | number & 0xffff_ffff,
            _ => number,
        };
        match operation.kind {
            Kind::NotifyOne => self.waiter(operation.object, alternative).map_or(u64::MAX, u64::from),
            Kind::NotifyAll | Kind::FutexWake => thing.round,
            Kind::Arrive if self.completes(operation.object) => thing.round | COMPLETES,
            Kind::Arrive => thing.round,
            Kind::Reacquire | Kind::Leave if thing.log == NONE => {
                if thread.woken {
                    thread.wake
                } else {
                    thing.round
                }
            }
            Kind::SemPost => u64::from(thing.count),
            Kind::TryReadLock => {
                let succeeds = alternative == 0 && thing.open(FIRST);
                u64::from(succeeds) | u64::from(self.is_recursive(t)) << 1
            }
            Kind::ReadLock => u64::from(self.is_recursive(t)) << 1,
            Kind::Send | Kind::TrySend => message(thing.round + u64::from(thing.count)),
            Kind::Receive | Kind::TryReceive => message(thing.round),
            Kind::Leave => message(operation.argument),
            Kind::Close if operation.argument == 0 && thing.senders > 1 => u64::from(thing.senders),
            // No thread waits for a sender after the last one.
            Kind::Close if operation.argument == 0 && thing.done => 1,
            _ => operation.argument,
        }
    }

    /// The waiter that an alternative wakes.
    pub(super) fn waiter(&self, object: ObjectId, alternative: u32) -> Option<u32> {
        let rank = bits::ones(self.channel(object, FIRST)).nth(alternative as usize)?;
        Some(self.at_rank(rank))
    }
}
