//! `RwLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, TryLockError, TryLockResult};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use super::lock::{self, guard, lock, ready, wrap};
use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Many readers or one writer. The scheduler decides which waiting thread comes first.
///
/// The standard library does not specify whether a waiting writer blocks new readers. A thread that
/// already reads, and reads again while a writer waits, may get the lock or wait forever behind the
/// writer: both are tried. Other readers get the lock. Where one of them could instead block
/// forever, because the reading thread waits for it, the check reports that and is incomplete.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    inner: sync::RwLock<T>,
}

/// A read guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<sync::RwLockReadGuard<'a, T>>,
    place: Place,
}

/// A write guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<sync::RwLockWriteGuard<'a, T>>,
    place: Place,
}

lock!(RwLock, "wrote");
guard!(RwLockReadGuard);
guard!(mut RwLockWriteGuard);

impl<T: ?Sized> RwLock<T> {
    /// Locks it for reading, waiting as long as a writer holds it.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        let inner = match context::active() {
            None => self.inner.read(),
            Some(runtime) => {
                runtime.wants_to_read(self.id(runtime));
                let turn = runtime.turn(self.reading(runtime, Kind::ReadLock, place));
                let inner = lock::take(runtime, turn, || ready(self.inner.try_read()));
                runtime.reads(self.id(runtime));
                inner
            }
        };
        wrap(inner, |inner| RwLockReadGuard { lock: self, inner: Some(inner), place })
    }

    /// Locks it for writing, waiting until it is free.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        let inner = match context::active() {
            None => self.inner.write(),
            Some(runtime) => {
                runtime.wants_to_write(self.id(runtime));
                let turn = runtime.turn(self.operation(runtime, Kind::WriteLock, place));
                lock::take(runtime, turn, || ready(self.inner.try_write()))
            }
        };
        wrap(inner, |inner| RwLockWriteGuard { lock: self, inner: Some(inner), place })
    }

    /// Locks it for reading if no writer holds it.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        if self.is_locked_for(Kind::TryReadLock, place) {
            return Err(TryLockError::WouldBlock);
        }
        let inner = ready(self.inner.try_read()).ok_or(TryLockError::WouldBlock)?;
        if let Some(runtime) = context::active() {
            runtime.reads(self.id(runtime));
        }
        Ok(wrap(inner, |inner| RwLockReadGuard { lock: self, inner: Some(inner), place })?)
    }

    /// Locks it for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        if self.is_locked_for(Kind::TryWriteLock, place) {
            return Err(TryLockError::WouldBlock);
        }
        let inner = ready(self.inner.try_write()).ok_or(TryLockError::WouldBlock)?;
        Ok(wrap(inner, |inner| RwLockWriteGuard { lock: self, inner: Some(inner), place })?)
    }

    /// An acquisition that a waiting writer may precede.
    fn reading(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation { argument: 1, ..self.operation(runtime, kind, place) }
    }

    /// Its id in the execution.
    fn id(&self, runtime: &Runtime) -> ObjectId {
        self.tag.id_or(runtime, || Object::RwLock, |earlier| self.forget_earlier(earlier))
    }

    /// Whether the kernel finds it locked.
    fn is_locked_for(&self, kind: Kind, place: Place) -> bool {
        let Some(runtime) = context::active() else { return false };
        match runtime.turn(self.reading(runtime, kind, place)) {
            Turn::Step(outcome) => !outcome.ok,
            Turn::Quiet => false,
        }
    }

    /// A real guard was dropped: notifies the kernel. `reads` 1 = the thread keeps reading.
    fn released(&self, kind: Kind, reads: u64, place: Place) {
        if let Some(runtime) = context::active()
            && !runtime.is_over()
        {
            if kind == Kind::ReadUnlock {
                runtime.stops_reading(self.id(runtime));
            }
            let _ = runtime.turn(Operation { argument: reads, ..self.operation(runtime, kind, place) });
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Downgrades it to a read lock. Other readers may come in, but no writer.
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'a, T> {
        let (lock, place) = (guard.lock, Location::caller());
        let inner = guard.inner.take().map(sync::RwLockWriteGuard::downgrade);
        // The destructor would release the lock.
        std::mem::forget(guard);
        let guard = RwLockReadGuard { lock, inner, place };
        if let Some(runtime) = context::active() {
            runtime.reads(lock.id(runtime));
        }
        lock.released(Kind::WriteUnlock, 1, place);
        guard
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.inner.take());
        self.lock.released(Kind::ReadUnlock, 0, self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let poisoned = self.lock.inner.is_poisoned();
        drop(self.inner.take());
        if !poisoned && context::active().is_some_and(Runtime::is_over) {
            self.lock.inner.clear_poison();
        }
        self.lock.released(Kind::WriteUnlock, 0, self.place);
    }
}
