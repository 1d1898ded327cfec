//! `RwLock`.

mod upgradable;

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{PoisonError, TryLockError, TryLockResult};

use super::guards::{MappedRwLockReadGuard, MappedRwLockWriteGuard};
use crate::sync;
use crate::time::{Duration, Instant};
use crate::traits::{from_value, opaque, shown_as_data};

pub use upgradable::RwLockUpgradableReadGuard;

use upgradable::Upgrades;

/// Many readers or one writer. A waiting writer may keep new readers out.
pub struct RwLock<T: ?Sized> {
    upgrades: Upgrades,
    inner: sync::RwLock<T>,
}

/// Creates a lock, for `static`s.
#[track_caller]
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}

/// A read guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// `None` only while the lock is temporarily released.
    inner: Option<sync::RwLockReadGuard<'a, T>>,
}

/// A write guard for the data of a [`RwLock`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// `None` only while the lock is temporarily released.
    inner: Option<sync::RwLockWriteGuard<'a, T>>,
}

const HELD: &str = "a guard has its lock";

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
        RwLock { upgrades: Upgrades::new(), inner: sync::RwLock::new(value) }
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> RwLock<T> {
    fn reader<'a>(&'a self, inner: sync::RwLockReadGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard { lock: self, inner: Some(inner) }
    }

    fn writer<'a>(&'a self, inner: sync::RwLockWriteGuard<'a, T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard { lock: self, inner: Some(inner) }
    }

    /// Locks it for reading, waiting as long as a writer holds it.
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.reader(self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks it for reading, even if a writer waits.
    #[track_caller]
    pub fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        loop {
            if let Some(guard) = self.try_read() {
                return guard;
            }
            crate::thread::yield_now();
        }
    }

    /// Locks it for writing, waiting until it is free.
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        loop {
            let inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
            if !self.upgrades.is_going_on() {
                return self.writer(inner);
            }
            drop(inner);
            self.upgrades.wait();
        }
    }

    /// Locks it for reading if no writer holds it.
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        ready(self.inner.try_read()).map(|inner| self.reader(inner))
    }

    /// [`try_read`](Self::try_read): here a waiting writer makes no difference.
    #[track_caller]
    pub fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.try_read()
    }

    /// Locks it for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        let inner = ready(self.inner.try_write())?;
        (!self.upgrades.is_going_on()).then(|| self.writer(inner))
    }

    /// Locks it for reading if that is possible in time.
    #[track_caller]
    pub fn try_read_for(&self, limit: Duration) -> Option<RwLockReadGuard<'_, T>> {
        self.try_read_until(Instant::unwatched() + limit)
    }

    /// Locks it for reading if that is possible before the deadline.
    #[track_caller]
    pub fn try_read_until(&self, deadline: Instant) -> Option<RwLockReadGuard<'_, T>> {
        attempt(deadline, || self.try_read())
    }

    /// Locks it for writing if that is possible in time.
    #[track_caller]
    pub fn try_write_for(&self, limit: Duration) -> Option<RwLockWriteGuard<'_, T>> {
        self.try_write_until(Instant::unwatched() + limit)
    }

    /// Locks it for writing if that is possible before the deadline.
    #[track_caller]
    pub fn try_write_until(&self, deadline: Instant) -> Option<RwLockWriteGuard<'_, T>> {
        attempt(deadline, || self.try_write())
    }

    /// Whether it is locked.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.try_write().is_none()
    }

    /// Whether it is locked for writing.
    #[track_caller]
    pub fn is_locked_exclusive(&self) -> bool {
        self.try_read().is_none()
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries until the deadline.
#[track_caller]
pub(super) fn attempt<G>(deadline: Instant, mut lock: impl FnMut() -> Option<G>) -> Option<G> {
    loop {
        if let Some(guard) = lock() {
            return Some(guard);
        }
        if Instant::now() >= deadline {
            return None;
        }
        crate::thread::yield_now();
    }
}

/// What both guards can do.
macro_rules! guard {
    ($name:ident, $mapped:ident, $lock:ident, ($($mutable:tt)?)) => {
        impl<'a, T: ?Sized> $name<'a, T> {
            /// The lock.
            pub fn rwlock(this: &Self) -> &'a RwLock<T> {
                this.lock
            }

            /// Restricts the guard to a part of the data.
            pub fn map<U: ?Sized, F>(mut this: Self, f: F) -> $mapped<'a, U>
            where
                F: FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            {
                $mapped::new(this.inner.take().expect(HELD), f)
            }

            /// Restricts the guard to a part of the data, if `f` finds one.
            pub fn try_map<U: ?Sized, F>(mut this: Self, f: F) -> Result<$mapped<'a, U>, Self>
            where
                F: FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            {
                let inner = this.inner.take().expect(HELD);
                $mapped::try_new(inner, f).map_err(|inner| $name { lock: this.lock, inner: Some(inner) })
            }

            /// Releases the lock while `f` runs.
            #[track_caller]
            pub fn unlocked<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
                this.inner = None;
                let result = f();
                this.inner = this.lock.$lock().inner;
                result
            }

            /// [`unlocked`](Self::unlocked). The scheduler decides which thread gets it next.
            #[track_caller]
            pub fn unlocked_fair<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
                $name::unlocked(this, f)
            }

            /// Releases it. The scheduler decides which thread gets it next.
            pub fn unlock_fair(this: Self) {
                drop(this);
            }

            /// Briefly releases it to other threads.
            #[track_caller]
            pub fn bump(this: &mut Self) {
                $name::unlocked(this, || {});
            }
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.inner.as_ref().expect(HELD)
            }
        }

        shown_as_data!($name<'a>);
    };
}

guard!(RwLockReadGuard, MappedRwLockReadGuard, read, ());
guard!(RwLockWriteGuard, MappedRwLockWriteGuard, write, (mut));

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Downgrades it to a read lock; no writer comes in between.
    #[track_caller]
    pub fn downgrade(mut this: Self) -> RwLockReadGuard<'a, T> {
        this.lock.reader(sync::RwLockWriteGuard::downgrade(this.inner.take().expect(HELD)))
    }

    /// Downgrades it to an upgradable read lock; no writer comes in between.
    #[track_caller]
    pub fn downgrade_to_upgradable(mut this: Self) -> RwLockUpgradableReadGuard<'a, T> {
        // Nobody can have the upgradable lock as long as this is locked for writing.
        let place = Location::caller();
        this.lock.upgrades.claim(place);
        let inner = sync::RwLockWriteGuard::downgrade(this.inner.take().expect(HELD));
        RwLockUpgradableReadGuard::new(this.lock, inner, place)
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect(HELD)
    }
}

from_value!(RwLock);
opaque!(RwLock);
