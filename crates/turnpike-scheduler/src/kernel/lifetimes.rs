//! Lifetimes of objects: destroyed objects, and objects in freed memory.

use super::objects::{FIRST, SECOND, Thing};
use super::{Kernel, NONE};
use crate::operation::{Kind, Object, ObjectId, Site};

impl Kernel {
    /// Destroys an object, unless it is a mutex that is held.
    pub(super) fn destroy_object(&mut self, object: ObjectId) -> bool {
        let thing = self.thing_mut(object);
        if matches!(thing.object, Object::Mutex { .. }) && thing.owner != NONE {
            return false;
        }
        thing.gone = true;
        self.ruins = true;
        true
    }

    /// Whether an object was destroyed, and not initialised since.
    pub fn is_destroyed(&self, id: ObjectId) -> bool {
        self.objects.get(id.0 as usize).is_some_and(|thing| thing.gone)
    }

    /// Whether an object is of the same kind as another.
    pub fn is_like(&self, id: ObjectId, object: Object) -> bool {
        let same = |thing: &Thing| core::mem::discriminant(&thing.object) == core::mem::discriminant(&object);
        self.objects.get(id.0 as usize).is_some_and(same)
    }

    /// Initialises an object as `object`: the effect of [`Kind::Initialise`], or without a step
    /// where no other thread could observe it.
    pub fn initialise(&mut self, id: ObjectId, object: Object) {
        if let Some(thing) = self.objects.get_mut(id.0 as usize) {
            thing.object = object;
            self.reset_object(id);
        }
    }

    /// Resets an object to its initial state.
    pub(super) fn reset_object(&mut self, object: ObjectId) {
        for thread in &mut self.threads[..self.count as usize] {
            thread.reading.retain(|&(held, _)| held != object);
        }
        let thing = self.thing_mut(object);
        thing.owner = NONE;
        thing.held = Site(0);
        thing.count = thing.object.initial_count();
        (thing.done, thing.closed, thing.gone) = (false, false, false);
        self.refresh(object, FIRST);
        self.refresh(object, SECOND);
    }

    /// The error of initialising an object in whose queue threads are: they may never continue.
    /// Only threads that entered it by a step count: one that is about to lock a mutex need not be
    /// there yet.
    pub(super) fn is_awaited(&self, object: ObjectId) -> Option<&'static str> {
        let why = match self.thing(object).object {
            Object::Condvar => "initialises a condition variable that another thread waits for",
            Object::Barrier { .. } => "initialises a barrier that another thread waits for",
            Object::Futex => "initialises an object that another thread waits for",
            _ => return None,
        };
        (self.waiters(object) > 0).then_some(why)
    }

    /// The error of a step whose object was destroyed. A waiter that was woken before no longer
    /// needs it.
    pub(super) fn misses(&self, t: u32) -> Option<&'static str> {
        let operation = &self.thread(t).pending;
        let used = match operation.kind {
            Kind::Reacquire => [operation.second, ObjectId::NONE],
            Kind::Leave | Kind::Destroy | Kind::Initialise => return None,
            _ => [operation.object, operation.second],
        };
        let gone =
            used.iter().filter_map(|object| self.objects.get(object.0 as usize)).find(|thing| thing.gone)?;
        Some(match gone.object {
            Object::Mutex { .. } => "uses a mutex that was destroyed",
            Object::RwLock => "uses a reader-writer lock that was destroyed",
            Object::Condvar => "uses a condition variable that was destroyed",
            Object::Semaphore { .. } => "uses a semaphore that was destroyed",
            Object::Barrier { .. } => "uses a barrier that was destroyed",
            _ => "uses an object that was destroyed",
        })
    }

    /// A region is freed: threads that spin on an object in it must read it again.
    pub(super) fn wake_spinners_in(&mut self, region: ObjectId) {
        if self.odd == 0 {
            return;
        }
        for object in (0..self.objects.len() as u32).map(ObjectId) {
            let thing = self.thing(object);
            if thing.within == region && thing.watched {
                self.modified(object);
            }
        }
    }
}
