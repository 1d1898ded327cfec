//! `Mutex`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, TryLockError, TryLockResult};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use super::lock::{self, guard, lock};
use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Mutual exclusion.
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    inner: sync::Mutex<T>,
}

/// A guard for the data of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// `None` only while a condition variable has released the mutex.
    inner: Option<sync::MutexGuard<'a, T>>,
    /// Where it was acquired.
    place: Place,
}

lock!(Mutex, "held it");
guard!(mut MutexGuard);

impl<T: ?Sized> Mutex<T> {
    /// Locks it, waiting until it is free.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock_at(Location::caller())
    }

    /// [`lock`](Self::lock), on behalf of code at `place`.
    pub(crate) fn lock_at(&self, place: Place) -> LockResult<MutexGuard<'_, T>> {
        let Some(runtime) = context::active() else {
            return self.regain(self.inner.lock(), place);
        };
        let turn = runtime.turn(self.operation(runtime, Kind::Lock, place));
        self.acquire(runtime, turn, place)
    }

    /// Locks it if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        if let Some(runtime) = context::active()
            && let Turn::Step(outcome) = runtime.turn(self.operation(runtime, Kind::TryLock, place))
            && !outcome.ok
        {
            return Err(TryLockError::WouldBlock);
        }
        let inner = lock::ready(self.inner.try_lock()).ok_or(TryLockError::WouldBlock)?;
        Ok(self.regain(inner, place)?)
    }

    /// Its id in the execution.
    pub(super) fn id(&self, runtime: &Runtime) -> ObjectId {
        self.tag.id_or(runtime, || Object::Mutex { recursive: false }, |earlier| self.forget_earlier(earlier))
    }

    /// Acquires the real mutex, after the kernel granted it or while the thread unwinds.
    pub(super) fn acquire<'a>(
        &'a self,
        runtime: &Runtime,
        turn: Turn,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        let inner = lock::take(runtime, turn, || lock::ready(self.inner.try_lock()));
        self.regain(inner, place)
    }

    /// Wraps a real guard, which may be one that a condition variable returned.
    pub(super) fn regain<'a>(
        &'a self,
        inner: LockResult<sync::MutexGuard<'a, T>>,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        lock::wrap(inner, |inner| MutexGuard { lock: self, inner: Some(inner), place })
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex and its real guard, for a condition variable that releases it.
    pub(super) fn release(mut self) -> (&'a Mutex<T>, Option<sync::MutexGuard<'a, T>>) {
        (self.lock, self.inner.take())
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        let Some(runtime) = context::active() else { return };
        if runtime.is_over() {
            // The thread did not panic: its execution is over.
            let poisoned = self.lock.inner.is_poisoned();
            drop(inner);
            if !poisoned {
                self.lock.inner.clear_poison();
            }
            return;
        }
        // Released before the kernel is notified: until then it admits no other thread.
        drop(inner);
        let _ = runtime.turn(self.lock.operation(runtime, Kind::Unlock, self.place));
    }
}
