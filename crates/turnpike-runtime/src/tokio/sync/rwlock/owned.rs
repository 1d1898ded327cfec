//! Guards that do not borrow the lock.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;

use super::RwLock;
use crate::site::Place;
use crate::traits::shown_as_data;

/// A read guard that does not borrow the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    lock: Arc<RwLock<T>>,
    data: *const U,
    place: Place,
    of: PhantomData<Box<T>>,
}

/// A write guard that does not borrow the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    data: *mut T,
    place: Place,
    of: PhantomData<Box<T>>,
}

/// A write guard for a part of the data that does not borrow the lock.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    lock: Arc<RwLock<T>>,
    data: *mut U,
    place: Place,
    of: PhantomData<(Box<T>, Box<U>)>,
}

// SAFETY: a guard is a shared reference to the data, which it may drop as the last owner.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockReadGuard<T, U> {}
// SAFETY: a guard is the only reference to the data.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: sharing it shares the data for reading.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: a guard is the only reference to the data.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Send for OwnedRwLockMappedWriteGuard<T, U> {}
// SAFETY: sharing it shares the data for reading.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync for OwnedRwLockMappedWriteGuard<T, U> {}

/// Takes a guard apart without dropping it: its lock, and where it was acquired.
macro_rules! parts {
    ($guard:expr) => {{
        let guard = ManuallyDrop::new($guard);
        // SAFETY: the guard is not dropped, so there is one owner.
        (unsafe { std::ptr::read(&raw const guard.lock) }, guard.place)
    }};
}

impl<T: ?Sized> OwnedRwLockReadGuard<T> {
    pub(super) fn new(lock: Arc<RwLock<T>>, place: Place) -> Self {
        let data = lock.data.get();
        OwnedRwLockReadGuard { lock, data, place, of: PhantomData }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    fn with_part<V: ?Sized>(self, data: *const V) -> OwnedRwLockReadGuard<T, V> {
        let (lock, place) = parts!(self);
        OwnedRwLockReadGuard { lock, data, place, of: PhantomData }
    }

    /// Restricts the guard to a part of the data.
    pub fn map<V: ?Sized, F>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
    {
        let data = std::ptr::from_ref(f(&this));
        this.with_part(data)
    }

    /// Restricts the guard to a part of the data, if `f` finds one.
    pub fn try_map<V: ?Sized, F>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        match f(&this).map(std::ptr::from_ref) {
            Some(data) => Ok(this.with_part(data)),
            None => Err(this),
        }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.lock
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    pub(super) fn new(lock: Arc<RwLock<T>>, place: Place) -> Self {
        let data = lock.data.get();
        OwnedRwLockWriteGuard { lock, data, place, of: PhantomData }
    }

    fn with_part<U: ?Sized>(self, data: *mut U) -> OwnedRwLockMappedWriteGuard<T, U> {
        let (lock, place) = parts!(self);
        OwnedRwLockMappedWriteGuard { lock, data, place, of: PhantomData }
    }

    /// The guard as one of a part, which is all the data.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        let data = this.data;
        this.with_part(data)
    }

    /// Downgrades it to a read lock; no writer comes in between.
    #[track_caller]
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        let (lock, place) = parts!(self);
        lock.permits.give(lock.readers as usize - 1, Location::caller());
        OwnedRwLockReadGuard::new(lock, place)
    }

    /// Downgrades it to a read lock of a part; no writer comes in between.
    #[track_caller]
    pub fn downgrade_map<U: ?Sized, F>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let data = std::ptr::from_ref(f(&this));
        this.downgrade().with_part(data)
    }

    /// Downgrades it to a read lock of a part, if `f` finds one; no writer comes in between.
    #[track_caller]
    pub fn try_downgrade_map<U: ?Sized, F>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(std::ptr::from_ref) {
            Some(data) => Ok(this.downgrade().with_part(data)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    fn with_part<V: ?Sized>(self, data: *mut V) -> OwnedRwLockMappedWriteGuard<T, V> {
        let (lock, place) = parts!(self);
        OwnedRwLockMappedWriteGuard { lock, data, place, of: PhantomData }
    }
}

/// Methods and traits of a write guard.
macro_rules! write_guard {
    ([$($generics:tt)*] $guard:ty, $value:ident) => {
        impl<$($generics)*> $guard {
            /// Restricts the guard to a part of the data.
            pub fn map<New: ?Sized, F>(mut this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, New>
            where
                F: FnOnce(&mut $value) -> &mut New,
            {
                let data = std::ptr::from_mut(f(&mut this));
                this.with_part(data)
            }

            /// Restricts the guard to a part of the data, if `f` finds one.
            pub fn try_map<New: ?Sized, F>(
                mut this: Self,
                f: F,
            ) -> Result<OwnedRwLockMappedWriteGuard<T, New>, Self>
            where
                F: FnOnce(&mut $value) -> Option<&mut New>,
            {
                match f(&mut this).map(std::ptr::from_mut) {
                    Some(data) => Ok(this.with_part(data)),
                    None => Err(this),
                }
            }

            /// The lock.
            pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
                &this.lock
            }
        }

        impl<$($generics)*> Deref for $guard {
            type Target = $value;

            fn deref(&self) -> &$value {
                // SAFETY: the guard holds all permits, so there is no other guard.
                unsafe { &*self.data }
            }
        }

        impl<$($generics)*> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut $value {
                // SAFETY: the guard holds all permits, so there is no other guard.
                unsafe { &mut *self.data }
            }
        }

        impl<$($generics)*> Drop for $guard {
            fn drop(&mut self) {
                self.lock.permits.give(self.lock.readers as usize, self.place);
            }
        }
    };
}

write_guard!([T: ?Sized] OwnedRwLockWriteGuard<T>, T);
write_guard!([T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U>, U);

impl<T: ?Sized, U: ?Sized> Deref for OwnedRwLockReadGuard<T, U> {
    type Target = U;

    fn deref(&self) -> &U {
        // SAFETY: the guard holds a permit, so there is no writer.
        unsafe { &*self.data }
    }
}

impl<T: ?Sized, U: ?Sized> Drop for OwnedRwLockReadGuard<T, U> {
    fn drop(&mut self) {
        self.lock.permits.give(1, self.place);
    }
}

shown_as_data!(OwnedRwLockReadGuard of U);
shown_as_data!(OwnedRwLockWriteGuard);
shown_as_data!(OwnedRwLockMappedWriteGuard of U);
