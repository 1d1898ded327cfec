//! `Condvar`.

use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

use super::mutex::MutexGuard;
use crate::sync;
use crate::time::Instant;

/// A condition variable. Which waiter `notify_one` wakes is up to the scheduler.
#[derive(Default)]
pub struct Condvar {
    inner: sync::Condvar,
}

/// Whether a wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it timed out.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable without waiters.
    #[track_caller]
    pub const fn new() -> Self {
        Condvar { inner: sync::Condvar::new() }
    }

    /// Releases the mutex and waits for a notification, then acquires it again.
    #[track_caller]
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let inner = guard.inner().take().expect("a guard has its lock");
        *guard.inner() = Some(self.inner.wait(inner).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits as long as the condition holds.
    #[track_caller]
    pub fn wait_while<T, F>(&self, guard: &mut MutexGuard<'_, T>, mut condition: F)
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// [`wait`](Self::wait) with a time limit.
    #[track_caller]
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, limit: Duration) -> WaitTimeoutResult {
        let inner = guard.inner().take().expect("a guard has its lock");
        let waited = self.inner.wait_timeout(inner, limit);
        let (inner, result) = waited.unwrap_or_else(PoisonError::into_inner);
        *guard.inner() = Some(inner);
        WaitTimeoutResult(result.timed_out())
    }

    /// [`wait`](Self::wait), at most until a moment.
    #[track_caller]
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        self.wait_for(guard, deadline.saturating_duration_since(Instant::unwatched()))
    }

    /// [`wait_while`](Self::wait_while) with a time limit. Whether it timed out with the condition
    /// still true.
    #[track_caller]
    pub fn wait_while_for<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        limit: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_until(guard, condition, Instant::unwatched() + limit)
    }

    /// [`wait_while`](Self::wait_while), at most until a moment. Whether it timed out with the
    /// condition still true.
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        deadline: Instant,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(guard) {
            result = self.wait_until(guard, deadline);
        }
        WaitTimeoutResult(result.timed_out() && condition(guard))
    }

    /// Wakes one waiter. Returns whether there was one; outside a check, always true.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.inner.notify(false) > 0
    }

    /// Wakes all waiters. Returns how many there were; outside a check, always one.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        self.inner.notify(true)
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
