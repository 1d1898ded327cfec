//! `Mutex`.

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::PoisonError;
use std::time::Duration;

use super::guards::MappedMutexGuard;
use crate::sync;
use crate::time::Instant;
use crate::traits::{from_value, opaque, shown_as_data};

/// Mutual exclusion.
pub struct Mutex<T: ?Sized> {
    inner: sync::Mutex<T>,
}

/// Creates a mutex, for `static`s.
#[track_caller]
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { inner: sync::Mutex::new(value) }
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks it, waiting until it is free.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let guard = self.inner.lock_at(Location::caller());
        MutexGuard { mutex: self, inner: Some(guard.unwrap_or_else(PoisonError::into_inner)) }
    }

    /// Locks it if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let guard = match self.inner.try_lock() {
            Ok(guard) => guard,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        Some(MutexGuard { mutex: self, inner: Some(guard) })
    }

    /// Locks it if it becomes free in time.
    #[track_caller]
    pub fn try_lock_for(&self, limit: Duration) -> Option<MutexGuard<'_, T>> {
        self.try_lock_until(Instant::unwatched() + limit)
    }

    /// Locks it if it becomes free before the deadline.
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<MutexGuard<'_, T>> {
        loop {
            if let Some(guard) = self.try_lock() {
                return Some(guard);
            }
            if Instant::now() >= deadline {
                return None;
            }
            crate::thread::yield_now();
        }
    }

    /// Whether it is locked.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.try_lock().is_none()
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

from_value!(Mutex);
opaque!(Mutex);

/// A guard for the data of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// `None` only while the mutex is temporarily released.
    inner: Option<sync::MutexGuard<'a, T>>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }

    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let inner = this.inner.take().expect("a guard has its lock");
        MappedMutexGuard::new(inner, f)
    }

    /// Restricts the guard to a part of the data, if `f` finds one.
    pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let inner = this.inner.take().expect("a guard has its lock");
        MappedMutexGuard::try_new(inner, f)
            .map_err(|inner| MutexGuard { mutex: this.mutex, inner: Some(inner) })
    }

    /// The data, locked for ever.
    pub fn leak(mut this: Self) -> &'a mut T {
        let inner = this.inner.take().expect("a guard has its lock");
        &mut *Box::leak(Box::new(inner))
    }

    /// Releases the mutex while `f` runs.
    #[track_caller]
    pub fn unlocked<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        this.inner = None;
        let result = f();
        let guard = this.mutex.inner.lock_at(Location::caller());
        this.inner = Some(guard.unwrap_or_else(PoisonError::into_inner));
        result
    }

    /// [`unlocked`](Self::unlocked). The scheduler decides which thread gets it next.
    #[track_caller]
    pub fn unlocked_fair<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        MutexGuard::unlocked(this, f)
    }

    /// Releases it. The scheduler decides which thread gets it next.
    pub fn unlock_fair(this: Self) {
        drop(this);
    }

    /// Briefly releases it to other threads.
    #[track_caller]
    pub fn bump(this: &mut Self) {
        MutexGuard::unlocked(this, || {});
    }

    /// The inner guard, for a condition variable that returns it later.
    pub(super) fn inner(&mut self) -> &mut Option<sync::MutexGuard<'a, T>> {
        &mut self.inner
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

shown_as_data!(MutexGuard<'a>);
