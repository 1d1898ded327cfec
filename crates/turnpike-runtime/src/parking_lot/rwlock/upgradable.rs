//! Read locks that can become write locks.
//!
//! One thread at a time has the upgradable lock, together with a read lock. To upgrade, it gives up
//! the read lock and acquires the write lock. A writer that comes in between backs off before it
//! touches the data, so programs without upgrades make no additional steps.

use std::future::poll_fn;
use std::ops::Deref;
use std::panic::Location;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use turnpike_scheduler::ThreadId;

use super::{HELD, RwLock, RwLockReadGuard, RwLockWriteGuard, attempt, ready};
use crate::future::{Shared, block_on, current_thread, wake_all};
use crate::site::Place;
use crate::sync;
use crate::time::{Duration, Instant};
use crate::traits::shown_as_data;

/// Who has the upgradable lock.
pub(super) struct Upgrades {
    shared: Shared<State>,
    /// Whether its owner acquires the write lock. Set while it holds the read lock, and read by
    /// those who hold the write lock, so no step is necessary.
    going_on: AtomicBool,
}

struct State {
    /// Whether someone has it.
    taken: bool,
    /// For reports: who has it.
    owner: Option<(ThreadId, Place)>,
    waiting: Vec<Waker>,
}

impl Upgrades {
    #[track_caller]
    pub(super) const fn new() -> Self {
        let state = State { taken: false, owner: None, waiting: Vec::new() };
        Upgrades { shared: Shared::new("upgradable rwlock", state), going_on: AtomicBool::new(false) }
    }

    pub(super) fn is_going_on(&self) -> bool {
        self.going_on.load(Ordering::Relaxed)
    }

    /// Takes the upgradable lock if it is free.
    pub(super) fn claim(&self, place: Place) -> bool {
        self.shared.act(place, |state| {
            if !state.taken {
                state.owner = current_thread().map(|thread| (thread, place));
            }
            !std::mem::replace(&mut state.taken, true)
        })
    }

    fn give_back(&self, place: Place) {
        let woken = self.shared.act(place, |state| {
            state.taken = false;
            state.owner = None;
            std::mem::take(&mut state.waiting)
        });
        wake_all(woken, place);
    }

    /// Waits until nobody has the upgradable lock.
    #[track_caller]
    pub(super) fn wait(&self) {
        let place = Location::caller();
        block_on(poll_fn(|context| {
            let (free, owner) = self.shared.act(place, |state| {
                if state.taken {
                    state.waiting.push(context.waker().clone());
                }
                (!state.taken, state.owner)
            });
            if free {
                return Poll::Ready(());
            }
            self.shared.awaited(place, owner);
            Poll::Pending
        }));
    }
}

/// A read guard that can become a write guard. Other readers may exist, but no other such guard.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockUpgradableReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// `None` only while the lock is temporarily released.
    inner: Option<sync::RwLockReadGuard<'a, T>>,
    /// Where it was acquired.
    place: Place,
}

/// The owner of the upgradable lock acquires the write lock.
struct Going<'a>(&'a AtomicBool);

impl<'a> Going<'a> {
    fn on(upgrades: &'a Upgrades) -> Self {
        upgrades.going_on.store(true, Ordering::Relaxed);
        Going(&upgrades.going_on)
    }
}

impl Drop for Going<'_> {
    /// Also when an execution ends meanwhile.
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks it for reading, waiting as long as a writer or an upgradable reader holds it.
    #[track_caller]
    pub fn upgradable_read(&self) -> RwLockUpgradableReadGuard<'_, T> {
        loop {
            if let Some(guard) = self.claim(self.inner.read().unwrap_or_else(PoisonError::into_inner)) {
                return guard;
            }
            self.upgrades.wait();
        }
    }

    /// Locks it for reading if no writer or upgradable reader holds it.
    #[track_caller]
    pub fn try_upgradable_read(&self) -> Option<RwLockUpgradableReadGuard<'_, T>> {
        self.claim(ready(self.inner.try_read())?)
    }

    /// Locks it for upgradable reading if that is possible in time.
    #[track_caller]
    pub fn try_upgradable_read_for(&self, limit: Duration) -> Option<RwLockUpgradableReadGuard<'_, T>> {
        self.try_upgradable_read_until(Instant::unwatched() + limit)
    }

    /// Locks it for upgradable reading if that is possible before the deadline.
    #[track_caller]
    pub fn try_upgradable_read_until(&self, deadline: Instant) -> Option<RwLockUpgradableReadGuard<'_, T>> {
        attempt(deadline, || self.try_upgradable_read())
    }

    #[track_caller]
    fn claim<'a>(&'a self, inner: sync::RwLockReadGuard<'a, T>) -> Option<RwLockUpgradableReadGuard<'a, T>> {
        let place = Location::caller();
        self.upgrades.claim(place).then(|| RwLockUpgradableReadGuard::new(self, inner, place))
    }
}

impl<'a, T: ?Sized> RwLockUpgradableReadGuard<'a, T> {
    pub(super) fn new(lock: &'a RwLock<T>, inner: sync::RwLockReadGuard<'a, T>, place: Place) -> Self {
        RwLockUpgradableReadGuard { lock, inner: Some(inner), place }
    }

    /// The lock.
    pub fn rwlock(this: &Self) -> &'a RwLock<T> {
        this.lock
    }

    /// Locks it for writing, waiting for other readers. No writer comes in between.
    #[track_caller]
    pub fn upgrade(mut this: Self) -> RwLockWriteGuard<'a, T> {
        let lock = this.lock;
        let going = Going::on(&lock.upgrades);
        this.inner = None;
        let inner = lock.inner.write().unwrap_or_else(PoisonError::into_inner);
        drop(going);
        // Gives the upgradable lock back: no one can use it before the write lock is released.
        drop(this);
        lock.writer(inner)
    }

    /// Locks it for writing if there is no other reader.
    #[track_caller]
    pub fn try_upgrade(mut this: Self) -> Result<RwLockWriteGuard<'a, T>, Self> {
        let lock = this.lock;
        let going = Going::on(&lock.upgrades);
        this.inner = None;
        let inner = ready(lock.inner.try_write());
        if inner.is_none() {
            this.inner = Some(lock.inner.read().unwrap_or_else(PoisonError::into_inner));
        }
        drop(going);
        match inner {
            Some(inner) => {
                drop(this);
                Ok(lock.writer(inner))
            }
            None => Err(this),
        }
    }

    /// Downgrades it to an ordinary read lock.
    pub fn downgrade(mut this: Self) -> RwLockReadGuard<'a, T> {
        let inner = this.inner.take().expect(HELD);
        this.lock.reader(inner)
    }

    /// Calls `f` with the data, locked for writing meanwhile.
    #[track_caller]
    pub fn with_upgraded<R, F: FnOnce(&mut T) -> R>(&mut self, f: F) -> R {
        let lock = self.lock;
        let going = Going::on(&lock.upgrades);
        self.inner = None;
        let mut inner = lock.inner.write().unwrap_or_else(PoisonError::into_inner);
        drop(going);
        let result = f(&mut inner);
        self.inner = Some(sync::RwLockWriteGuard::downgrade(inner));
        result
    }

    /// Releases it. The scheduler decides which thread gets it next.
    pub fn unlock_fair(this: Self) {
        drop(this);
    }
}

impl<T: ?Sized> Drop for RwLockUpgradableReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.upgrades.give_back(self.place);
    }
}

impl<T: ?Sized> Deref for RwLockUpgradableReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect(HELD)
    }
}

shown_as_data!(RwLockUpgradableReadGuard<'a>);
