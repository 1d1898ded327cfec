//! `RwLock`.

use std::ops::{Deref, DerefMut};
use std::sync::{PoisonError, TryLockError, TryLockResult};

use super::guards::{MappedRwLockReadGuard, MappedRwLockWriteGuard};
use crate::sync;
use crate::traits::{from_value, opaque, shown_as_data};

/// Many readers or one writer. A waiting writer may keep new readers out.
pub struct RwLock<T: ?Sized> {
    inner: sync::RwLock<T>,
}

/// Creates a lock, for `static`s.
#[track_caller]
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}

/// A read guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized>(sync::RwLockReadGuard<'a, T>);

/// A write guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized>(sync::RwLockWriteGuard<'a, T>);

/// The guard, if the lock was acquired.
fn ready<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T> RwLock<T> {
    /// An unlocked lock.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock { inner: sync::RwLock::new(value) }
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it for reading, waiting as long as a writer holds it.
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard(self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks it for writing, waiting until it is free.
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard(self.inner.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks it for reading if no writer holds it.
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        ready(self.inner.try_read()).map(RwLockReadGuard)
    }

    /// Locks it for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        ready(self.inner.try_write()).map(RwLockWriteGuard)
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        MappedRwLockReadGuard::new(this.0, f)
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedRwLockWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedRwLockWriteGuard::new(this.0, f)
    }

    /// Downgrades it to a read lock; no writer comes in between.
    pub fn downgrade(this: Self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard(sync::RwLockWriteGuard::downgrade(this.0))
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

from_value!(RwLock);
opaque!(RwLock);
shown_as_data!(RwLockReadGuard<'a>);
shown_as_data!(RwLockWriteGuard<'a>);
