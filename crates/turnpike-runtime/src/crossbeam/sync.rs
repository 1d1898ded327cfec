//! `crossbeam::sync`.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::sync::{Condvar, Mutex};

pub use crate::sync::{
    RwLock as ShardedLock, RwLockReadGuard as ShardedLockReadGuard, RwLockWriteGuard as ShardedLockWriteGuard,
};

/// Waits for a token from an [`Unparker`].
pub struct Parker {
    unparker: Unparker,
}

/// Gives a [`Parker`] its token.
#[derive(Clone)]
pub struct Unparker {
    token: Arc<(Mutex<bool>, Condvar)>,
}

impl Parker {
    /// A parker without a token.
    #[track_caller]
    pub fn new() -> Self {
        Parker { unparker: Unparker { token: Arc::new((Mutex::new(false), Condvar::new())) } }
    }

    /// Waits for the token and takes it.
    #[track_caller]
    pub fn park(&self) {
        let (token, given) = &*self.unparker.token;
        let held = token.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = given.wait_while(held, |token| !*token).unwrap_or_else(PoisonError::into_inner);
        *held = false;
    }

    /// [`park`](Self::park) with a time limit.
    #[track_caller]
    pub fn park_timeout(&self, limit: Duration) {
        let (token, given) = &*self.unparker.token;
        let held = token.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = given.wait_timeout_while(held, limit, |token| !*token);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }

    /// The unparker that gives it its token.
    pub fn unparker(&self) -> &Unparker {
        &self.unparker
    }
}

impl Default for Parker {
    #[track_caller]
    fn default() -> Self {
        Parker::new()
    }
}

impl Unparker {
    /// Gives the token, unless it is already there.
    #[track_caller]
    pub fn unpark(&self) {
        *self.token.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.token.1.notify_one();
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker").finish_non_exhaustive()
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}

/// Waits until all its clones are dropped.
pub struct WaitGroup {
    count: Arc<(Mutex<usize>, Condvar)>,
}

impl WaitGroup {
    /// A group of one.
    #[track_caller]
    pub fn new() -> Self {
        WaitGroup { count: Arc::new((Mutex::new(1), Condvar::new())) }
    }

    /// Leaves the group and waits until all others have.
    #[track_caller]
    pub fn wait(self) {
        let shared = Arc::clone(&self.count);
        drop(self);
        let (count, changed) = &*shared;
        let held = count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(changed.wait_while(held, |count| *count > 0).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        WaitGroup::new()
    }
}

impl Clone for WaitGroup {
    #[track_caller]
    fn clone(&self) -> Self {
        *self.count.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        WaitGroup { count: Arc::clone(&self.count) }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        let mut count = self.count.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            self.count.1.notify_all();
        }
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").finish_non_exhaustive()
    }
}
