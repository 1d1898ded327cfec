//! `RwLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// Many readers or one writer. Who comes first when both wait is up to the scheduler.
///
/// The standard library does not say whether a writer that waits lets readers in. So a thread that reads already, and reads
/// again while a writer waits, may get the lock or wait for ever behind the writer: both are tried. Other readers get it. Where one of them could
/// wait for ever instead, because the other waits for it while it reads, that is told, and the check is not complete.
pub struct RwLock<T: ?Sized> {
    tag: Tag,
    inner: sync::RwLock<T>,
}

/// The right to read what a [`RwLock`] protects.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<sync::RwLockReadGuard<'a, T>>,
    place: Place,
}

/// The right to change what a [`RwLock`] protects.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    inner: Option<sync::RwLockWriteGuard<'a, T>>,
    place: Place,
}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock { tag: Tag::new(), inner: sync::RwLock::new(value) }
    }

    /// What it protects.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

/// The real guard's result, if there is one.
fn ready<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Wraps a real guard.
fn wrap<G, W>(result: LockResult<G>, wrap: impl FnOnce(G) -> W) -> LockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(poisoned) => Err(PoisonError::new(wrap(poisoned.into_inner()))),
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody writes, then reads.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        let attempt = || ready(self.inner.try_read());
        let inner = match context::active() {
            None => self.inner.read(),
            Some(runtime) => {
                runtime.wants_to_read(self.id(runtime));
                let inner = match runtime.turn(self.reading(runtime, Kind::ReadLock, place)) {
                    Turn::Step(_) => super::granted(runtime, attempt),
                    Turn::Quiet => super::quietly(runtime, attempt),
                };
                runtime.reads(self.id(runtime));
                inner
            }
        };
        wrap(inner, |inner| RwLockReadGuard { lock: self, inner: Some(inner), place })
    }

    /// Waits until nobody holds it, then writes.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        let attempt = || ready(self.inner.try_write());
        let inner = match context::active() {
            None => self.inner.write(),
            Some(runtime) => {
                runtime.wants_to_write(self.id(runtime));
                match runtime.turn(self.operation(runtime, Kind::WriteLock, place)) {
                    Turn::Step(_) => super::granted(runtime, attempt),
                    Turn::Quiet => super::quietly(runtime, attempt),
                }
            }
        };
        wrap(inner, |inner| RwLockWriteGuard { lock: self, inner: Some(inner), place })
    }

    /// Reads if nobody writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        if self.refused(Kind::TryReadLock, place) {
            return Err(TryLockError::WouldBlock);
        }
        let inner = ready(self.inner.try_read()).ok_or(TryLockError::WouldBlock)?;
        if let Some(runtime) = context::active() {
            runtime.reads(self.id(runtime));
        }
        Ok(wrap(inner, |inner| RwLockReadGuard { lock: self, inner: Some(inner), place })?)
    }

    /// Writes if nobody holds it.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        if self.refused(Kind::TryWriteLock, place) {
            return Err(TryLockError::WouldBlock);
        }
        let inner = ready(self.inner.try_write()).ok_or(TryLockError::WouldBlock)?;
        Ok(wrap(inner, |inner| RwLockWriteGuard { lock: self, inner: Some(inner), place })?)
    }

    /// Whether a thread panicked while it wrote.
    pub fn is_poisoned(&self) -> bool {
        if let Some(runtime) = context::active() {
            // Forgets what happened in an earlier execution.
            let _ = self.id(runtime);
        }
        self.inner.is_poisoned()
    }

    /// Forgets that a thread panicked while it wrote.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// What it protects; nobody else can hold it.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    fn operation(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation::new(kind, self.id(runtime), site::of(place))
    }

    /// An operation that a waiting writer may come before.
    fn reading(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation { argument: 1, ..self.operation(runtime, kind, place) }
    }

    /// Its number in the execution.
    fn id(&self, runtime: &Runtime) -> ObjectId {
        self.tag.id_or(
            runtime,
            || Object::RwLock,
            |earlier| {
                if earlier {
                    self.inner.clear_poison();
                }
            },
        )
    }

    /// Whether the kernel says that it is not free.
    fn refused(&self, kind: Kind, place: Place) -> bool {
        let Some(runtime) = context::active() else { return false };
        match runtime.turn(self.reading(runtime, kind, place)) {
            Turn::Step(outcome) => !outcome.ok,
            Turn::Quiet => false,
        }
    }

    /// A real guard was dropped: tells the kernel. `reads` 1 = the thread goes on reading.
    fn released(&self, kind: Kind, reads: u64, place: Place) {
        if let Some(runtime) = context::active()
            && !runtime.is_over()
        {
            if kind == Kind::ReadUnlock {
                runtime.stops_reading(self.id(runtime));
            }
            let _ = runtime.turn(Operation { argument: reads, ..self.operation(runtime, kind, place) });
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Goes on reading. Other readers may come in, but no writer.
    #[track_caller]
    pub fn downgrade(mut guard: Self) -> RwLockReadGuard<'a, T> {
        let (lock, place) = (guard.lock, Location::caller());
        let inner = guard.inner.take().map(sync::RwLockWriteGuard::downgrade);
        // Its destructor would release the lock.
        std::mem::forget(guard);
        let guard = RwLockReadGuard { lock, inner, place };
        if let Some(runtime) = context::active() {
            runtime.reads(lock.id(runtime));
        }
        lock.released(Kind::WriteUnlock, 1, place);
        guard
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        drop(self.inner.take());
        self.lock.released(Kind::ReadUnlock, 0, self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let poisoned = self.lock.inner.is_poisoned();
        drop(self.inner.take());
        if !poisoned && context::active().is_some_and(Runtime::is_over) {
            self.lock.inner.clear_poison();
        }
        self.lock.released(Kind::WriteUnlock, 0, self.place);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard has its lock")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("a guard has its lock")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("a guard has its lock")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}
