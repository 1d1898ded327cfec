//! `RwLock`.
#![allow(unsafe_code)]

mod owned;

use std::cell::UnsafeCell;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;

use super::mutex::TryLockError;
use super::permits::Permits;
use crate::site::Place;
use crate::traits::{from_value, opaque, shown_as_data};

pub use owned::{OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard};

/// Limit on readers.
const MAX_READERS: u32 = u32::MAX >> 3;

/// Many readers or one writer, in order of arrival: a reader waits behind a waiting writer.
pub struct RwLock<T: ?Sized> {
    permits: Permits,
    readers: u32,
    data: UnsafeCell<T>,
}

// SAFETY: a writer has all permits and is alone; readers have one each and only share the data.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// An unlocked lock.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock::with_max_readers(value, MAX_READERS)
    }

    /// Creates a lock, for `static`s.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        RwLock::new(value)
    }

    /// A lock with at most `readers` simultaneous readers.
    #[track_caller]
    pub const fn with_max_readers(value: T, readers: u32) -> Self {
        assert!(readers <= MAX_READERS, "a RwLock may not be created with so many readers");
        let permits = Permits::new("async rwlock", readers as usize);
        RwLock { permits, readers, data: UnsafeCell::new(value) }
    }

    /// [`with_max_readers`](Self::with_max_readers), for `static`s.
    #[track_caller]
    pub const fn const_with_max_readers(value: T, readers: u32) -> Self {
        RwLock::with_max_readers(value, readers)
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it for reading, waiting in the queue.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            RwLockReadGuard { permits: &self.permits, data: self.data.get(), place }
        }
    }

    /// Locks it for writing, waiting in the queue.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(self.readers, place).await;
            self.writer(place)
        }
    }

    /// [`read`](Self::read) from code that is not async.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        let place = Location::caller();
        crate::future::block_on(self.take(1, place));
        RwLockReadGuard { permits: &self.permits, data: self.data.get(), place }
    }

    /// [`write`](Self::write) from code that is not async.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        let place = Location::caller();
        crate::future::block_on(self.take(self.readers, place));
        self.writer(place)
    }

    /// Locks it for reading if no writer holds it or waits.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(RwLockReadGuard { permits: &self.permits, data: self.data.get(), place })
    }

    /// Locks it for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(self.readers as usize, place).map_err(|_| TryLockError(()))?;
        Ok(self.writer(place))
    }

    /// [`read`](Self::read) with a guard that does not borrow the lock.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            OwnedRwLockReadGuard::new(self, place)
        }
    }

    /// [`write`](Self::write) with a guard that does not borrow the lock.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(self.readers, place).await;
            OwnedRwLockWriteGuard::new(self, place)
        }
    }

    /// [`try_read`](Self::try_read) with a guard that does not borrow the lock.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(1, place).map_err(|_| TryLockError(()))?;
        Ok(OwnedRwLockReadGuard::new(self, place))
    }

    /// [`try_write`](Self::try_write) with a guard that does not borrow the lock.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_take(self.readers as usize, place).map_err(|_| TryLockError(()))?;
        Ok(OwnedRwLockWriteGuard::new(self, place))
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    fn writer(&self, place: Place) -> RwLockWriteGuard<'_, T> {
        let (data, taken) = (self.data.get(), self.readers);
        RwLockWriteGuard { permits: &self.permits, taken, data, place, of: PhantomData }
    }

    async fn take(&self, permits: u32, place: Place) {
        let taken = self.permits.take(permits as usize, place).await;
        taken.unwrap_or_else(|_| unreachable!("a lock is never closed"));
    }
}

from_value!(RwLock);
opaque!(RwLock);

/// A read guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    permits: &'a Permits,
    data: *const T,
    place: Place,
}

/// A write guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    permits: &'a Permits,
    taken: u32,
    data: *mut T,
    place: Place,
    of: PhantomData<&'a mut T>,
}

/// A write guard for a part of the data of a [`RwLock`].
pub type RwLockMappedWriteGuard<'a, T> = RwLockWriteGuard<'a, T>;

// SAFETY: a guard is a shared reference to the data, and the lock can be used by any thread.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a guard is the only reference to the data.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: sharing it shares the data for reading.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    fn with_part<U: ?Sized>(self, data: *const U) -> RwLockReadGuard<'a, U> {
        let this = ManuallyDrop::new(self);
        RwLockReadGuard { permits: this.permits, data, place: this.place }
    }

    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let data = std::ptr::from_ref(f(&this));
        this.with_part(data)
    }

    /// Restricts the guard to a part of the data, if `f` finds one.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(std::ptr::from_ref) {
            Some(data) => Ok(this.with_part(data)),
            None => Err(this),
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    fn with_part<U: ?Sized>(self, data: *mut U) -> RwLockMappedWriteGuard<'a, U> {
        let this = ManuallyDrop::new(self);
        RwLockWriteGuard {
            permits: this.permits,
            taken: this.taken,
            data,
            place: this.place,
            of: PhantomData,
        }
    }

    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let data = std::ptr::from_mut(f(&mut this));
        this.with_part(data)
    }

    /// Restricts the guard to a part of the data, if `f` finds one.
    pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match f(&mut this).map(std::ptr::from_mut) {
            Some(data) => Ok(this.with_part(data)),
            None => Err(this),
        }
    }

    /// The guard as one of a part, which is all the data.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        this
    }

    /// Downgrades it to a read lock of a part; no writer comes in between.
    #[track_caller]
    pub fn downgrade_map<U: ?Sized, F>(this: Self, f: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let data = std::ptr::from_ref(f(&this));
        this.downgrade().with_part(data)
    }

    /// Downgrades it to a read lock of a part, if `f` finds one; no writer comes in between.
    #[track_caller]
    pub fn try_downgrade_map<U: ?Sized, F>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(std::ptr::from_ref) {
            Some(data) => Ok(this.downgrade().with_part(data)),
            None => Err(this),
        }
    }

    /// Downgrades it to a read lock; no writer comes in between.
    #[track_caller]
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let this = ManuallyDrop::new(self);
        let reader = RwLockReadGuard { permits: this.permits, data: this.data, place: this.place };
        this.permits.give(this.taken as usize - 1, Location::caller());
        reader
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.permits.give(1, self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.permits.give(self.taken as usize, self.place);
    }
}

macro_rules! guard {
    ($name:ident $(<$life:lifetime>)?, $self:ident => $data:expr) => {
        impl<$($life,)? T: ?Sized> Deref for $name<$($life,)? T> {
            type Target = T;

            fn deref(&$self) -> &T {
                // SAFETY: the guard holds a permit, so there is no writer.
                unsafe { &*$data }
            }
        }

        shown_as_data!($name $(<$life>)?);
    };
}

/// The same for a guard that may write.
macro_rules! write_guard {
    ($name:ident $(<$life:lifetime>)?, $self:ident => $data:expr) => {
        guard!($name $(<$life>)?, $self => $data);

        impl<$($life,)? T: ?Sized> DerefMut for $name<$($life,)? T> {
            fn deref_mut(&mut $self) -> &mut T {
                // SAFETY: the guard holds all permits, so there is no other guard.
                unsafe { &mut *$data }
            }
        }
    };
}

guard!(RwLockReadGuard<'a>, self => self.data);
write_guard!(RwLockWriteGuard<'a>, self => self.data);
