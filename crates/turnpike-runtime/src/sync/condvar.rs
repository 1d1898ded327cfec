//! `Condvar`.

use std::fmt;
use std::panic::Location;
use std::sync::{self, LockResult, PoisonError};
use std::time::Duration;

use turnpike_scheduler::{Kind, Object, ObjectId, Operation};

use super::mutex::MutexGuard;
use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;
use crate::time::Instant;

/// A condition variable. Which waiter `notify_one` wakes is up to the scheduler.
pub struct Condvar {
    tag: Tag,
    inner: sync::Condvar,
}

/// Whether a wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it timed out.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable without waiters.
    #[track_caller]
    pub const fn new() -> Self {
        Condvar { tag: Tag::new(), inner: sync::Condvar::new() }
    }

    /// Releases the mutex and waits for a notification, then acquires it again.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        match self.wait_at(guard, None, Location::caller()) {
            Ok((guard, _)) => Ok(guard),
            Err(poisoned) => Err(PoisonError::new(poisoned.into_inner().0)),
        }
    }

    /// Waits as long as the condition holds.
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// [`wait`](Self::wait) with a time limit.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        self.wait_at(guard, Some(limit), Location::caller())
    }

    /// [`wait_while`](Self::wait_while) with a time limit.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let place = Location::caller();
        let start = Instant::unwatched();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(rest) = limit.checked_sub(Instant::unwatched().duration_since(start)) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            let timed_out;
            (guard, timed_out) = self.wait_at(guard, Some(rest), place)?;
            // The scheduler decides whether it timed out, since virtual time may not advance.
            if timed_out.0 && context::active().is_some() {
                let holds = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(holds)));
            }
        }
    }

    /// Wakes one waiter.
    #[track_caller]
    pub fn notify_one(&self) {
        match context::active() {
            Some(runtime) => {
                let _ = runtime.turn(self.operation(runtime, Kind::NotifyOne, Location::caller()));
            }
            None => self.inner.notify_one(),
        }
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        match context::active() {
            Some(runtime) => {
                let _ = runtime.turn(self.operation(runtime, Kind::NotifyAll, Location::caller()));
            }
            None => self.inner.notify_all(),
        }
    }

    /// Wakes one waiter, or all. Returns the number; outside checks, one.
    #[track_caller]
    pub(crate) fn notify(&self, all: bool) -> usize {
        let Some(runtime) = context::active() else {
            if all {
                self.inner.notify_all();
            } else {
                self.inner.notify_one();
            }
            return 1;
        };
        let kind = if all { Kind::NotifyAll } else { Kind::NotifyOne };
        match runtime.turn(self.operation(runtime, kind, Location::caller())) {
            Turn::Step(outcome) if all => outcome.value as usize,
            Turn::Step(outcome) => usize::from(outcome.ok),
            Turn::Quiet => 0,
        }
    }

    fn wait_at<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        place: Place,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (mutex, inner) = guard.release();
        let Some(inner) = inner else { unreachable!("a guard has its lock") };
        let Some(runtime) = context::active() else {
            let (result, timed_out) = match limit {
                None => (self.inner.wait(inner), false),
                Some(limit) => match self.inner.wait_timeout(inner, limit) {
                    Ok((guard, result)) => (Ok(guard), result.timed_out()),
                    Err(poisoned) => {
                        let (guard, result) = poisoned.into_inner();
                        (Err(PoisonError::new(guard)), result.timed_out())
                    }
                },
            };
            return with(mutex.regain(result, place), timed_out);
        };
        let second = mutex.id(runtime);
        // The kernel admits no thread before the step that releases it.
        drop(inner);
        let operation = Operation { second, ..self.operation(runtime, Kind::Wait, place) };
        let turn = runtime.turn(runtime.limited(operation, limit));
        let timed_out = match turn {
            Turn::Step(outcome) => outcome.timed_out,
            Turn::Quiet => {
                // A spurious wake-up, after others had the chance to run.
                runtime.stall();
                false
            }
        };
        with(mutex.acquire(runtime, turn, place), timed_out)
    }

    fn operation(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
        Operation::new(kind, self.id(runtime), site::of(place))
    }

    fn id(&self, runtime: &Runtime) -> ObjectId {
        self.tag.id(runtime, Object::Condvar)
    }
}

fn with<G>(result: LockResult<G>, timed_out: bool) -> LockResult<(G, WaitTimeoutResult)> {
    match result {
        Ok(guard) => Ok((guard, WaitTimeoutResult(timed_out))),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(timed_out)))),
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
