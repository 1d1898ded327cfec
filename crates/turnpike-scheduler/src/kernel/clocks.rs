//! Vector clocks of synchronisation, for guests that detect data races.
//!
//! They order less than fingerprints do: only what a program may rely on. An acquire learns what
//! the release knew, according to the memory orders in the program; plain accesses that were made
//! visible, tosses and yields order nothing.
//!
//! Certain knowledge comes from steps on which the learning step depends, so executions that differ
//! only in the order of independent steps have the same races, and one of them represents all. Two
//! cases are uncertain, and tracked by a second set of clocks, which is created when one of them
//! first occurs:
//! - A read-modify-write that leaves the value unchanged publishes what its thread knows, but
//!   commutes with reads.
//! - Code in an uninstrumented library that uses futexes acquires and releases locks unobserved.
//!
//! Two accesses that only the second set orders may or may not race.

use super::access::Access;
use super::knowledge::{Clock, Knowledge};
use super::{Kernel, NONE};
use crate::execution::Choice;
use crate::operation::{Kind, MemoryOrder, Object, ObjectId, Operation};

/// The clocks of an execution.
#[derive(Debug)]
pub(super) struct Clocks {
    /// Whether to keep clocks from the next execution on.
    pub(super) keep: bool,
    on: bool,
    sure: Knowledge,
    perhaps: Knowledge,
    /// Whether the two sets differ.
    doubt: bool,
}

impl Clocks {
    pub(super) const fn new() -> Self {
        Clocks { keep: false, on: false, sure: Knowledge::new(), perhaps: Knowledge::new(), doubt: false }
    }

    /// Starts an execution.
    pub(super) fn begin(&mut self, needed: bool) {
        self.on = self.keep || needed;
        self.doubt = false;
        self.sure.clear();
        if self.on {
            self.sure.advance(0);
        }
    }

    /// Whether clocks are kept in this execution.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Forgets everything, and keeps clocks from now on: what happened so far is about to be repeated.
    pub(super) fn restart(&mut self) {
        self.begin(true);
    }

    /// Counts a step of a thread.
    pub(super) fn step(&mut self, t: u32) {
        self.each(|known| known.advance(t));
    }

    /// What a thread learns and publishes by a step that follows all that it depends on; see
    /// [`Kernel::follows_what_happened`].
    pub(super) fn synchronise_calmly(&mut self, t: u32, kind: Kind, object: usize, other: u32) {
        self.each(|known| match kind {
            Kind::Lock | Kind::TryLock | Kind::ReadLock | Kind::TryReadLock | Kind::OnceBegin => {
                known.acquire(t, object);
            }
            Kind::WriteLock | Kind::TryWriteLock => {
                known.acquire(t, object);
                known.acquire_from_readers(t, object);
            }
            Kind::Unlock | Kind::WriteUnlock | Kind::OnceEnd => known.release(t, object),
            Kind::ReadUnlock => known.release_to_writers(t, object),
            Kind::Join => known.learn_from_thread(t, other),
            _ => {}
        });
    }

    /// The certain knowledge of a thread, and the uncertain one if it differs.
    pub(super) fn of(&self, t: u32) -> (&[u32], Option<&[u32]>) {
        (self.sure.of(t), self.doubt.then(|| self.perhaps.of(t)))
    }

    /// A thread created a thread.
    pub(super) fn spawned(&mut self, parent: u32, child: u32) {
        if self.on {
            self.each(|known| {
                // Later steps of the parent do not happen before the child.
                known.advance(parent);
                known.learn_from_thread(child, parent);
            });
        }
    }

    /// A thread ended.
    pub(super) fn ended(&mut self, t: u32) {
        if self.on {
            self.each(|known| known.advance(t));
        }
    }

    /// A waiter may continue.
    pub(super) fn woken(&mut self, t: u32, object: ObjectId) {
        if self.on {
            self.each(|known| known.meet(t, object.0 as usize));
        }
    }

    /// A thread is about to wait on a futex or to wake others: it may have released its knowledge
    /// unobserved.
    pub(super) fn waits(&mut self, t: u32) {
        if self.on {
            self.each(|known| known.advance(t));
            self.doubted().publish_to_waiting(t);
        }
    }

    /// A fence of a thread.
    pub(super) fn fence(&mut self, t: u32, order: MemoryOrder) {
        if self.on {
            self.each(|known| known.fence(t, order.acquires(), order.releases()));
        }
    }

    fn each(&mut self, mut act: impl FnMut(&mut Knowledge)) {
        act(&mut self.sure);
        if self.doubt {
            act(&mut self.perhaps);
        }
    }

    /// The clocks for uncertain knowledge.
    fn doubted(&mut self) -> &mut Knowledge {
        if !self.doubt {
            self.doubt = true;
            self.perhaps.copy(&self.sure);
        }
        &mut self.perhaps
    }

    /// A thread reads a write that published `message`.
    pub(super) fn hear(&mut self, t: u32, message: &[u32], acquires: bool) {
        self.each(|known| known.hear(t, message, acquires));
        if self.doubt {
            self.perhaps.learn_from_waiting(t);
        }
    }

    /// Adds to `message` what a write of a thread publishes.
    pub(super) fn tell(&mut self, t: u32, releases: bool, message: &mut Clock) {
        self.sure.tell(t, releases, message);
    }

    /// An operation on atomic variables; `writes` says whether it changes their values. Where memory
    /// is weak, an update that leaves the value as it is may be observed.
    fn atomic(&mut self, t: u32, operation: &Operation, writes: bool, calm: bool) {
        let order = if writes { operation.order } else { operation.unchanged };
        for object in [operation.object, operation.second] {
            if object == ObjectId::NONE {
                continue;
            }
            let object = object.0 as usize;
            if operation.kind == Kind::Store {
                self.each(|known| known.store(t, object, order.releases()));
                continue;
            }
            self.each(|known| known.read(t, object, order.acquires()));
            if operation.kind == Kind::Load {
                continue;
            }
            if writes {
                self.each(|known| known.update(t, object, order.releases()));
            } else if !calm && order.stores() && self.latest().has_news(t, object, order.releases()) {
                self.doubted().update(t, object, order.releases());
            }
        }
        if self.doubt && operation.kind != Kind::Store {
            self.perhaps.learn_from_waiting(t);
        }
    }

    fn latest(&self) -> &Knowledge {
        if self.doubt { &self.perhaps } else { &self.sure }
    }
}

impl Kernel {
    /// Applies the pending step of thread `t`, given its access before the step.
    #[inline]
    pub(super) fn tick(&mut self, t: u32, alternative: u32, access: &Access) {
        if self.clocks.on || self.weak.on {
            self.synchronise(t, alternative, access);
        }
    }

    fn synchronise(&mut self, t: u32, alternative: u32, access: &Access) {
        if self.weak.on {
            if !self.take_calm_step(t, alternative, access) {
                self.weak.note_before(self.clocks.of(t).0);
                self.learn(t, alternative, access);
                self.add_to_graph(t, alternative, access);
            }
            return;
        }
        self.learn(t, alternative, access);
    }

    pub(super) fn learn(&mut self, t: u32, alternative: u32, access: &Access) {
        let calm = self.weak.is_calm();
        let weak = self.is_weak(t) && !calm;
        let operation = self.thread(t).pending;
        let object = operation.object.0 as usize;
        let second = operation.second.0 as usize;
        let other = operation.argument as u32;
        let exclusive = access.first.is_exclusive();
        let thing = self.objects.get(object);
        let free = thing.is_some_and(|thing| thing.owner == NONE);
        let futex = thing.is_some_and(|thing| thing.object == Object::Futex);
        let barrier = thing.is_some_and(|thing| matches!(thing.object, Object::Barrier { .. }));
        // The queue is empty, and no sender is left.
        let closed = thing.is_some_and(|thing| thing.done && thing.count == 0);
        let done = self.has_ended(operation.argument);
        let clocks = &mut self.clocks;
        clocks.each(|known| known.advance(t));
        if alternative >= Choice::SPURIOUS || weak {
            return;
        }
        match operation.kind {
            Kind::Load | Kind::Store => clocks.atomic(t, &operation, true, calm),
            Kind::Update => clocks.atomic(t, &operation, exclusive, calm),
            Kind::FutexWait => clocks.doubted().learn_everything(t),
            Kind::Leave if futex => clocks.doubted().learn_everything(t),
            Kind::FutexWake => clocks.doubted().update(t, object, true),
            _ => clocks.each(|known| match operation.kind {
                Kind::Lock | Kind::SemWait | Kind::OnceBegin | Kind::ReadLock => known.acquire(t, object),
                Kind::Leave if barrier => known.leave(t),
                Kind::TryLock | Kind::SemTryWait if exclusive => known.acquire(t, object),
                Kind::TryReadLock if free => known.acquire(t, object),
                Kind::Unlock | Kind::WriteUnlock | Kind::SemPost | Kind::OnceEnd | Kind::Close => {
                    known.release(t, object);
                }
                Kind::ReadUnlock => known.release_to_writers(t, object),
                Kind::WriteLock => {
                    known.acquire(t, object);
                    known.acquire_from_readers(t, object);
                }
                Kind::TryWriteLock if exclusive => {
                    known.acquire(t, object);
                    known.acquire_from_readers(t, object);
                }
                Kind::Wait if operation.second != ObjectId::NONE => known.release(t, second),
                Kind::Reacquire if !access.second.is_nothing() => known.acquire(t, second),
                Kind::Arrive => {
                    known.acquire(t, object);
                    known.release(t, object);
                }
                Kind::Send | Kind::TrySend if exclusive => known.send(t, object),
                Kind::Receive | Kind::TryReceive if exclusive => known.receive(t, object),
                Kind::Receive | Kind::TryReceive if closed => known.acquire(t, object),
                Kind::Join => known.learn_from_thread(t, other),
                Kind::TryJoin if done => known.learn_from_thread(t, other),
                Kind::Park => known.park(t),
                Kind::Unpark => known.unpark(t, other),
                Kind::Write => {
                    known.forget(object);
                    if operation.second != ObjectId::NONE {
                        known.forget(second);
                    }
                }
                _ => {}
            }),
        }
    }
}
