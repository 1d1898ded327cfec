//! `Mutex`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Mutual exclusion.
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    inner: sync::Mutex<T>,
}

/// The right to use what a [`Mutex`] protects.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// Gone only while a condition variable has released the mutex.
    inner: Option<sync::MutexGuard<'a, T>>,
    /// Where it was acquired.
    place: Place,
}

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { tag: Tag::new(), inner: sync::Mutex::new(value) }
    }

    /// What it protects.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody holds it, then holds it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        let Some(runtime) = context::active() else {
            return self.guard(self.inner.lock(), place);
        };
        let turn = runtime.turn(self.operation(runtime, Kind::Lock, place));
        self.acquire(runtime, turn, place)
    }

    /// Holds it if nobody else does.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        if let Some(runtime) = context::active()
            && let Turn::Step(outcome) = runtime.turn(self.operation(runtime, Kind::TryLock, place))
            && !outcome.ok
        {
            return Err(TryLockError::WouldBlock);
        }
        match self.inner.try_lock() {
            Ok(guard) => Ok(self.guard(Ok(guard), place)?),
            Err(TryLockError::Poisoned(poisoned)) => Ok(self.guard(Err(poisoned), place)?),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a thread panicked while it held it.
    pub fn is_poisoned(&self) -> bool {
        if let Some(runtime) = context::active() {
            // Forgets what happened in an earlier execution.
            let _ = self.id(runtime);
        }
        self.inner.is_poisoned()
    }

    /// Forgets that a thread panicked while it held it.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// What it protects; nobody else can hold it.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Its number in the execution.
    pub(super) fn id(&self, runtime: &Runtime) -> ObjectId {
        self.tag.id_or(
            runtime,
            || Object::Mutex { recursive: false },
            |earlier| {
                // Every execution begins with a healthy program.
                if earlier {
                    self.inner.clear_poison();
                }
            },
        )
    }

    fn operation(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation::new(kind, self.id(runtime), site::of(place))
    }

    /// Takes the real mutex, after the kernel granted it or while the thread unwinds.
    pub(super) fn acquire<'a>(
        &'a self,
        runtime: &Runtime,
        turn: Turn,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        let attempt = || match self.inner.try_lock() {
            Ok(guard) => Some(Ok(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
            Err(TryLockError::WouldBlock) => None,
        };
        let inner = match turn {
            Turn::Step(_) => super::granted(runtime, attempt),
            Turn::Quiet => super::quietly(runtime, attempt),
        };
        self.guard(inner, place)
    }

    fn guard<'a>(
        &'a self,
        inner: LockResult<sync::MutexGuard<'a, T>>,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        match inner {
            Ok(inner) => Ok(MutexGuard { lock: self, inner: Some(inner), place }),
            Err(poisoned) => {
                Err(PoisonError::new(MutexGuard { lock: self, inner: Some(poisoned.into_inner()), place }))
            }
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex and its real guard, for a condition variable that releases it.
    pub(super) fn release(mut self) -> (&'a Mutex<T>, Option<sync::MutexGuard<'a, T>>) {
        (self.lock, self.inner.take())
    }
}

impl<'a, T: ?Sized> Mutex<T> {
    /// A guard of the real guard that a condition variable gave back.
    pub(super) fn regain(
        &'a self,
        inner: LockResult<sync::MutexGuard<'a, T>>,
        place: Place,
    ) -> LockResult<MutexGuard<'a, T>> {
        self.guard(inner, place)
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
        // Released before the kernel hears of it: until then it lets nobody else in.
        drop(inner);
        let _ = runtime.turn(self.lock.operation(runtime, Kind::Unlock, self.place));
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard has its lock")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard has its lock")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}
