//! `Mutex`.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;

use super::permits::Permits;
use crate::site::Place;
use crate::traits::{from_value, opaque, shown_as_data};

/// Mutual exclusion of tasks, in order of arrival.
pub struct Mutex<T: ?Sized> {
    permits: Permits,
    data: UnsafeCell<T>,
}

// SAFETY: only the holder of the one permit uses the data, whichever thread that is.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: sharing the mutex gives threads the data one after the other, by the one permit.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The mutex is locked.
#[derive(Debug)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { permits: Permits::new("async mutex", 1), data: UnsafeCell::new(value) }
    }

    /// Creates a mutex, for `static`s.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Mutex::new(value)
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks it, waiting in the queue.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(place).await;
            MutexGuard { lock: self, place }
        }
    }

    /// [`lock`](Self::lock) from code that is not async.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        let place = Location::caller();
        crate::future::block_on(self.take(place));
        MutexGuard { lock: self, place }
    }

    /// [`lock`](Self::lock) with a guard that does not borrow the mutex.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(place).await;
            OwnedMutexGuard { lock: self, place }
        }
    }

    /// Locks it if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(MutexGuard { lock: self, place })
    }

    /// [`try_lock`](Self::try_lock) with a guard that does not borrow the mutex.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(OwnedMutexGuard { lock: self, place })
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    async fn take(&self, place: Place) {
        let taken = self.permits.take(1, place).await;
        taken.unwrap_or_else(|_| unreachable!("a mutex is never closed"));
    }
}

from_value!(Mutex);
opaque!(Mutex);

/// A guard for the data of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    place: Place,
}

/// A guard that does not borrow the mutex.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    lock: Arc<Mutex<T>>,
    place: Place,
}

/// A guard for a part of the data of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    part: &'a mut T,
    permits: &'a Permits,
    place: Place,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let (lock, place) = (this.lock, this.place);
        std::mem::forget(this);
        // SAFETY: the permit of the guard that was forgotten is the new one's.
        let part = f(unsafe { &mut *lock.data.get() });
        MappedMutexGuard { part, permits: &lock.permits, place }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// The mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }
}

macro_rules! guard {
    ($name:ident $(<$life:lifetime>)?) => {
        impl<$($life,)? T: ?Sized> Deref for $name<$($life,)? T> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: the guard stands for the one permit.
                unsafe { &*self.lock.data.get() }
            }
        }

        impl<$($life,)? T: ?Sized> DerefMut for $name<$($life,)? T> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the guard stands for the one permit.
                unsafe { &mut *self.lock.data.get() }
            }
        }

        impl<$($life,)? T: ?Sized> Drop for $name<$($life,)? T> {
            fn drop(&mut self) {
                self.lock.permits.give(1, self.place);
            }
        }

        shown_as_data!($name $(<$life>)?);
    };
}

guard!(MutexGuard<'a>);
guard!(OwnedMutexGuard);

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.part
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.part
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    fn drop(&mut self) {
        self.permits.give(1, self.place);
    }
}

shown_as_data!(MappedMutexGuard<'a>);
