//! Ends of objects: what was destroyed, and what lies in memory that was given back.

use super::{Kernel, NONE};
use crate::operation::{Kind, Object, ObjectId};

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

    /// The error of a step whose object was destroyed. A waiter that was woken before does not need
    /// it any more.
    pub(super) fn misses(&self, t: u32) -> Option<&'static str> {
        let operation = &self.thread(t).pending;
        let used = match operation.kind {
            Kind::Reacquire => [operation.second, ObjectId::NONE],
            Kind::Leave | Kind::Destroy => return None,
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

    /// A region is given back: threads that spin on something in it must read it again.
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
