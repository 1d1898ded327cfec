//! `ReentrantMutex`.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Mutex as Plain, PoisonError};
use std::thread::ThreadId as RealThread;

use turnpike_scheduler::ThreadId;

use super::rwlock::attempt;
use crate::context;
use crate::sync;
use crate::time::{Duration, Instant};
use crate::traits::{from_value, opaque, shown_as_data};

/// Mutual exclusion of threads, one of which may lock it several times.
pub struct ReentrantMutex<T: ?Sized> {
    lock: sync::Mutex<()>,
    /// Who holds it.
    owner: Plain<Option<Owner>>,
    /// Used by the owner only.
    held: UnsafeCell<Held>,
    data: T,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A thread of an execution.
    Guest(u64, ThreadId),
    Real(RealThread),
}

struct Held {
    /// The number of guards.
    guards: usize,
    /// Borrows `lock`, and is not dropped with it.
    inner: ManuallyDrop<Option<sync::MutexGuard<'static, ()>>>,
}

// SAFETY: the parts besides the data can be sent: a mutex without guards holds nothing.
unsafe impl<T: ?Sized + Send> Send for ReentrantMutex<T> {}
// SAFETY: only the owner uses `held`, and one thread at a time reads the data.
unsafe impl<T: ?Sized + Send> Sync for ReentrantMutex<T> {}

/// Creates a mutex, for `static`s.
#[track_caller]
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(value)
}

fn this_thread() -> Owner {
    match context::active() {
        Some(runtime) => Owner::Guest(runtime.epoch(), runtime.current()),
        None => Owner::Real(std::thread::current().id()),
    }
}

impl<T> ReentrantMutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        let held = UnsafeCell::new(Held { guards: 0, inner: ManuallyDrop::new(None) });
        ReentrantMutex { lock: sync::Mutex::new(()), owner: Plain::new(None), held, data: value }
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.data
    }
}

impl<T: ?Sized> ReentrantMutex<T> {
    /// Locks it, waiting while another thread holds it.
    #[track_caller]
    pub fn lock(&self) -> ReentrantMutexGuard<'_, T> {
        let place = Location::caller();
        if !self.is_owned_by_current_thread() {
            self.own(self.lock.lock_at(place).unwrap_or_else(PoisonError::into_inner));
        }
        self.guard()
    }

    /// Locks it if no other thread holds it.
    #[track_caller]
    pub fn try_lock(&self) -> Option<ReentrantMutexGuard<'_, T>> {
        if !self.is_owned_by_current_thread() {
            match self.lock.try_lock() {
                Ok(inner) => self.own(inner),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => self.own(poisoned.into_inner()),
                Err(std::sync::TryLockError::WouldBlock) => return None,
            }
        }
        Some(self.guard())
    }

    /// Locks it if that is possible in time.
    #[track_caller]
    pub fn try_lock_for(&self, limit: Duration) -> Option<ReentrantMutexGuard<'_, T>> {
        self.try_lock_until(Instant::unwatched() + limit)
    }

    /// Locks it if that is possible before the deadline.
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<ReentrantMutexGuard<'_, T>> {
        attempt(deadline, || self.try_lock())
    }

    /// Whether it is locked.
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.is_owned_by_current_thread() || self.lock.try_lock().is_err()
    }

    /// Whether this thread holds it.
    pub fn is_owned_by_current_thread(&self) -> bool {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) == Some(this_thread())
    }

    /// The data. The exclusive borrow makes locking unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.data
    }

    fn own(&self, inner: sync::MutexGuard<'_, ()>) {
        // SAFETY: the guard is used only while a guard of this type exists, which borrows the
        // mutex.
        let inner =
            unsafe { std::mem::transmute::<sync::MutexGuard<'_, ()>, sync::MutexGuard<'static, ()>>(inner) };
        // SAFETY: this thread holds the lock, and has no reference to it.
        unsafe { *self.held.get() = Held { guards: 0, inner: ManuallyDrop::new(Some(inner)) } };
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(this_thread());
    }

    fn guard(&self) -> ReentrantMutexGuard<'_, T> {
        // SAFETY: this thread is the owner.
        unsafe { (*self.held.get()).guards += 1 };
        ReentrantMutexGuard { mutex: self, of: PhantomData }
    }

    fn release(&self) {
        // SAFETY: this thread is the owner: guards stay on their thread.
        let held = unsafe { &mut *self.held.get() };
        held.guards -= 1;
        if held.guards == 0 {
            let inner = held.inner.take();
            *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = None;
            drop(inner);
        }
    }
}

from_value!(ReentrantMutex);
opaque!(ReentrantMutex);

/// A guard for the data of a [`ReentrantMutex`], which is shared.
#[must_use = "if unused the ReentrantMutex will immediately unlock"]
pub struct ReentrantMutexGuard<'a, T: ?Sized> {
    mutex: &'a ReentrantMutex<T>,
    /// Stays on its thread.
    of: PhantomData<*const T>,
}

// SAFETY: sharing the guard shares the data.
unsafe impl<T: ?Sized + Sync> Sync for ReentrantMutexGuard<'_, T> {}

impl<'a, T: ?Sized> ReentrantMutexGuard<'a, T> {
    /// The mutex.
    pub fn remutex(this: &Self) -> &'a ReentrantMutex<T> {
        this.mutex
    }

    /// Restricts the guard to a part of the data.
    pub fn map<U: ?Sized, F: FnOnce(&T) -> &U>(this: Self, f: F) -> MappedReentrantMutexGuard<'a, U> {
        let part = f(&this.mutex.data);
        MappedReentrantMutexGuard { part, _held: Box::new(this) }
    }

    /// Releases the mutex while `f` runs, unless there are other guards.
    #[track_caller]
    pub fn unlocked<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        let mutex = this.mutex;
        mutex.release();
        let result = f();
        // The guard stands for it again.
        std::mem::forget(mutex.lock());
        result
    }

    /// Releases it. The scheduler decides which thread gets it next.
    pub fn unlock_fair(this: Self) {
        drop(this);
    }
}

impl<T: ?Sized> Deref for ReentrantMutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.mutex.data
    }
}

impl<T: ?Sized> Drop for ReentrantMutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.release();
    }
}

shown_as_data!(ReentrantMutexGuard<'a>);

/// The guard that keeps the lock, whatever its type.
trait Guard {}
impl<T: ?Sized> Guard for ReentrantMutexGuard<'_, T> {}

/// A guard for a part of the data of a [`ReentrantMutex`].
#[must_use = "if unused the ReentrantMutex will immediately unlock"]
pub struct MappedReentrantMutexGuard<'a, T: ?Sized> {
    part: &'a T,
    _held: Box<dyn Guard + 'a>,
}

impl<T: ?Sized> Deref for MappedReentrantMutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.part
    }
}

shown_as_data!(MappedReentrantMutexGuard<'a>);
