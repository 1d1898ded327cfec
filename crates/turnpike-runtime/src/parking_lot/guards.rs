//! Guards of a part of the protected data.
#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::sync;

/// The guard that keeps the lock, whatever its type.
trait Held {}
impl<T: ?Sized> Held for sync::MutexGuard<'_, T> {}
impl<T: ?Sized> Held for sync::RwLockReadGuard<'_, T> {}
impl<T: ?Sized> Held for sync::RwLockWriteGuard<'_, T> {}

macro_rules! mapped {
    ($(#[$doc:meta])* $name:ident of $guard:ident, $reference:ty) => {
        $(#[$doc])*
        #[must_use = "if unused the lock will immediately unlock"]
        pub struct $name<'a, T: ?Sized> {
            /// Points into the protected data, which does not move while locked.
            part: *mut T,
            held: Box<dyn Held + 'a>,
            of: PhantomData<$reference>,
        }

        impl<'a, T: ?Sized> $name<'a, T> {
            /// Releases the lock. The scheduler decides which thread gets it next.
            pub fn unlock_fair(this: Self) {
                drop(this);
            }

            /// Keeps the lock held.
            fn with_part<U: ?Sized>(self, part: *mut U) -> $name<'a, U> {
                $name { part, held: self.held, of: PhantomData }
            }
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: the lock is held as long as this guard exists.
                unsafe { &*self.part }
            }
        }

        // SAFETY: sharing the guard shares the part. It stays on its thread, as the lock's guard.
        unsafe impl<T: ?Sized + Sync> Sync for $name<'_, T> {}

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

macro_rules! mapped_mut {
    ($name:ident of $guard:ident) => {
        impl<'a, T: ?Sized> $name<'a, T> {
            pub(super) fn new<S: ?Sized>(
                mut guard: sync::$guard<'a, S>,
                f: impl FnOnce(&mut S) -> &mut T,
            ) -> Self {
                let part = std::ptr::from_mut(f(&mut guard));
                $name { part, held: Box::new(guard), of: PhantomData }
            }

            pub(super) fn try_new<S: ?Sized>(
                mut guard: sync::$guard<'a, S>,
                f: impl FnOnce(&mut S) -> Option<&mut T>,
            ) -> Result<Self, sync::$guard<'a, S>> {
                match f(&mut guard).map(std::ptr::from_mut) {
                    Some(part) => Ok($name { part, held: Box::new(guard), of: PhantomData }),
                    None => Err(guard),
                }
            }

            /// Restricts the guard to a smaller part, if `f` finds one.
            pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<$name<'a, U>, Self>
            where
                F: FnOnce(&mut T) -> Option<&mut U>,
            {
                match f(&mut this).map(std::ptr::from_mut) {
                    Some(part) => Ok(this.with_part(part)),
                    None => Err(this),
                }
            }

            /// Restricts the guard to a smaller part.
            pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> $name<'a, U>
            where
                F: FnOnce(&mut T) -> &mut U,
            {
                let part = std::ptr::from_mut(f(&mut this));
                this.with_part(part)
            }
        }

        impl<T: ?Sized> DerefMut for $name<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the lock is held for writing as long as this guard exists.
                unsafe { &mut *self.part }
            }
        }
    };
}

mapped! {
    /// A guard for a part of the data of a [`Mutex`](super::Mutex).
    MappedMutexGuard of MutexGuard, &'a mut T
}
mapped_mut!(MappedMutexGuard of MutexGuard);

mapped! {
    /// A write guard for a part of the data of a [`RwLock`](super::RwLock).
    MappedRwLockWriteGuard of RwLockWriteGuard, &'a mut T
}
mapped_mut!(MappedRwLockWriteGuard of RwLockWriteGuard);

mapped! {
    /// A read guard for a part of the data of a [`RwLock`](super::RwLock).
    MappedRwLockReadGuard of RwLockReadGuard, &'a T
}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    pub(super) fn new<S: ?Sized>(guard: sync::RwLockReadGuard<'a, S>, f: impl FnOnce(&S) -> &T) -> Self {
        let part = std::ptr::from_ref(f(&guard)).cast_mut();
        MappedRwLockReadGuard { part, held: Box::new(guard), of: PhantomData }
    }

    /// Restricts the guard to a smaller part.
    pub fn map<U: ?Sized, F>(this: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        let part = std::ptr::from_ref(f(&this)).cast_mut();
        this.with_part(part)
    }

    pub(super) fn try_new<S: ?Sized>(
        guard: sync::RwLockReadGuard<'a, S>,
        f: impl FnOnce(&S) -> Option<&T>,
    ) -> Result<Self, sync::RwLockReadGuard<'a, S>> {
        match f(&guard).map(|part| std::ptr::from_ref(part).cast_mut()) {
            Some(part) => Ok(MappedRwLockReadGuard { part, held: Box::new(guard), of: PhantomData }),
            None => Err(guard),
        }
    }

    /// Restricts the guard to a smaller part, if `f` finds one.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<MappedRwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match f(&this).map(|part| std::ptr::from_ref(part).cast_mut()) {
            Some(part) => Ok(this.with_part(part)),
            None => Err(this),
        }
    }
}
