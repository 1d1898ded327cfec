//! What every synchronisation object carries: where it was made, and its number in the current
//! execution.
//!
//! Constructors are `const`, so an object cannot register itself when it is made. It does when it
//! is first used in an execution: a number (the *epoch*) that is unique for each execution tells
//! whether the registration is still good.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use turnpike_scheduler::{Object, ObjectId};

use crate::runtime::Runtime;
use crate::site::Place;

/// Registration of one object.
pub(crate) struct Tag {
    epoch: AtomicU64,
    id: AtomicU32,
    made: Place,
}

impl Tag {
    /// Of an object that is made where the caller stands.
    #[track_caller]
    #[inline]
    pub(crate) const fn new() -> Self {
        Tag { epoch: AtomicU64::new(0), id: AtomicU32::new(u32::MAX), made: Location::caller() }
    }

    /// Where it was made.
    pub(crate) fn made(&self) -> Place {
        self.made
    }

    /// The object's number in this execution.
    #[inline]
    pub(crate) fn id(&self, runtime: &Runtime, object: Object) -> ObjectId {
        self.id_or(runtime, || object, |_| {})
    }

    /// The object's number in this execution; if it is new, `fresh` gets whether it was used in an
    /// earlier execution.
    #[inline]
    pub(crate) fn id_or(
        &self,
        runtime: &Runtime,
        object: impl FnOnce() -> Object,
        fresh: impl FnOnce(bool),
    ) -> ObjectId {
        if self.epoch.load(Ordering::Relaxed) == runtime.epoch() {
            return ObjectId(self.id.load(Ordering::Relaxed));
        }
        self.register(runtime, object(), fresh)
    }

    #[cold]
    #[inline(never)]
    fn register(&self, runtime: &Runtime, object: Object, fresh: impl FnOnce(bool)) -> ObjectId {
        let Some(id) = runtime.register(object, self.made) else {
            return ObjectId::NONE;
        };
        let before = self.epoch.swap(runtime.epoch(), Ordering::Relaxed);
        self.id.store(id.0, Ordering::Relaxed);
        fresh(before != 0);
        id
    }
}

impl Default for Tag {
    fn default() -> Self {
        Tag::new()
    }
}
