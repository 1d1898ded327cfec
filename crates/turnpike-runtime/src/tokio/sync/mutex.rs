//! `Mutex`.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
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
            MutexGuard::new(self, place)
        }
    }

    /// [`lock`](Self::lock) from code that is not async.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        let place = Location::caller();
        crate::future::block_on(self.take(place));
        MutexGuard::new(self, place)
    }

    /// [`lock_owned`](Self::lock_owned) from code that is not async.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        let place = Location::caller();
        crate::future::block_on(self.take(place));
        OwnedMutexGuard::new(self, place)
    }

    /// [`lock`](Self::lock) with a guard that does not borrow the mutex.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(place).await;
            OwnedMutexGuard::new(self, place)
        }
    }

    /// Locks it if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(MutexGuard::new(self, place))
    }

    /// [`try_lock`](Self::try_lock) with a guard that does not borrow the mutex.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(OwnedMutexGuard::new(self, place))
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

/// A guard for the data of a [`Mutex`]. Threads may share it only if they may share the data:
///
/// ```compile_fail
/// fn is_sync<T: Sync>(_: T) {}
/// let lock = turnpike_runtime::tokio::sync::Mutex::new(std::cell::Cell::new(1));
/// is_sync(lock.try_lock().unwrap());
/// ```
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    place: Place,
    /// Sharing a guard shares the data.
    of: PhantomData<&'a mut T>,
}

/// A guard that does not borrow the mutex.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMutexGuard<T: ?Sized> {
    lock: Arc<Mutex<T>>,
    place: Place,
    /// Sharing a guard shares the data.
    of: PhantomData<T>,
}

/// A guard for a part of the data of a [`Mutex`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    part: *mut T,
    permits: &'a Permits,
    place: Place,
    of: PhantomData<&'a mut T>,
}

/// A guard for a part of the data that does not borrow the mutex.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    part: *mut U,
    lock: Arc<Mutex<T>>,
    place: Place,
    of: PhantomData<(Box<U>, Box<T>)>,
}

// SAFETY: the guard is the only reference to the part.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: sharing the guard shares the part.
unsafe impl<T: ?Sized + Send + Sync> Sync for MappedMutexGuard<'_, T> {}
// SAFETY: the guard is the only reference to the part, and may drop the data.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: sharing the guard shares the part.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    fn new(lock: &'a Mutex<T>, place: Place) -> Self {
        MutexGuard { lock, place, of: PhantomData }
    }

    fn with_part<U: ?Sized>(self, part: *mut U) -> MappedMutexGuard<'a, U> {
        let this = ManuallyDrop::new(self);
        MappedMutexGuard { part, permits: &this.lock.permits, place: this.place, of: PhantomData }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    fn new(lock: Arc<Mutex<T>>, place: Place) -> Self {
        OwnedMutexGuard { lock, place, of: PhantomData }
    }

    fn with_part<U: ?Sized>(self, part: *mut U) -> OwnedMappedMutexGuard<T, U> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the old guard is not dropped, so there is one owner.
        let lock = unsafe { std::ptr::read(&raw const this.lock) };
        OwnedMappedMutexGuard { part, lock, place: this.place, of: PhantomData }
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    fn with_part<U: ?Sized>(self, part: *mut U) -> MappedMutexGuard<'a, U> {
        let this = ManuallyDrop::new(self);
        MappedMutexGuard { part, permits: this.permits, place: this.place, of: PhantomData }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    fn with_part<V: ?Sized>(self, part: *mut V) -> OwnedMappedMutexGuard<T, V> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the old guard is not dropped, so there is one owner.
        let lock = unsafe { std::ptr::read(&raw const this.lock) };
        OwnedMappedMutexGuard { part, lock, place: this.place, of: PhantomData }
    }
}

/// Methods and traits of a guard. `$new` is the guard of a part.
macro_rules! guard {
    ([$($generics:tt)*] $guard:ty, $value:ident => $new:ty, $self:ident => $data:expr, $permits:expr) => {
        impl<$($generics)*> $guard {
            /// Restricts the guard to a part of the data.
            pub fn map<New: ?Sized, F>(mut this: Self, f: F) -> $new
            where
                F: FnOnce(&mut $value) -> &mut New,
            {
                let part = std::ptr::from_mut(f(&mut this));
                this.with_part(part)
            }

            /// Restricts the guard to a part of the data, if `f` finds one.
            pub fn try_map<New: ?Sized, F>(mut this: Self, f: F) -> Result<$new, Self>
            where
                F: FnOnce(&mut $value) -> Option<&mut New>,
            {
                match f(&mut this).map(std::ptr::from_mut) {
                    Some(part) => Ok(this.with_part(part)),
                    None => Err(this),
                }
            }
        }

        impl<$($generics)*> Deref for $guard {
            type Target = $value;

            fn deref(&$self) -> &$value {
                // SAFETY: the guard stands for the one permit.
                unsafe { &*$data }
            }
        }

        impl<$($generics)*> DerefMut for $guard {
            fn deref_mut(&mut $self) -> &mut $value {
                // SAFETY: the guard stands for the one permit.
                unsafe { &mut *$data }
            }
        }

        impl<$($generics)*> Drop for $guard {
            fn drop(&mut $self) {
                $permits.give(1, $self.place);
            }
        }
    };
}

guard!(['a, T: ?Sized] MutexGuard<'a, T>, T => MappedMutexGuard<'a, New>,
    self => self.lock.data.get(), self.lock.permits);
guard!([T: ?Sized] OwnedMutexGuard<T>, T => OwnedMappedMutexGuard<T, New>,
    self => self.lock.data.get(), self.lock.permits);
guard!(['a, T: ?Sized] MappedMutexGuard<'a, T>, T => MappedMutexGuard<'a, New>,
    self => self.part, self.permits);
guard!([T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U>, U => OwnedMappedMutexGuard<T, New>,
    self => self.part, self.lock.permits);
shown_as_data!(MutexGuard<'a>);
shown_as_data!(OwnedMutexGuard);
shown_as_data!(MappedMutexGuard<'a>);
shown_as_data!(OwnedMappedMutexGuard of U);
