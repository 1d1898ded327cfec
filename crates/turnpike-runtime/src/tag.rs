//! The common part of all synchronisation objects: where they were created, and their id in the
//! current execution.
//!
//! Constructors are `const`, so an object cannot register itself on creation. It does so on first
//! use in an execution: a number that is unique for each execution (the *epoch*) tells whether the
//! registration is still valid.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use turnpike_scheduler::{Object, ObjectId};

use crate::runtime::Runtime;
use crate::site::Place;

/// The registration of an object.
pub(crate) struct Tag {
    epoch: AtomicU64,
    id: AtomicU32,
    created_at: Place,
}

impl Tag {
    /// The tag of an object that the caller creates.
    #[track_caller]
    #[inline]
    pub(crate) const fn new() -> Self {
        Tag { epoch: AtomicU64::new(0), id: AtomicU32::new(u32::MAX), created_at: Location::caller() }
    }

    /// Where it was created.
    pub(crate) fn created_at(&self) -> Place {
        self.created_at
    }

    /// The object's id in this execution.
    #[inline]
    pub(crate) fn id(&self, runtime: &Runtime, object: Object) -> ObjectId {
        self.id_or(runtime, || object, |_| {})
    }

    /// The object's id in this execution. If it is not registered yet, calls `fresh` with whether
    /// it was used in an earlier execution.
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
        let Some(id) = runtime.register(object, self.created_at) else {
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
