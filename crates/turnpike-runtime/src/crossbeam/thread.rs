//! `crossbeam::thread`: scoped threads, as they were before the standard library had them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::thread;

/// A scope for threads that may borrow what outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    inner: &'scope thread::Scope<'scope, 'env>,
}

/// A handle for waiting for the end of a thread.
pub type ScopedJoinHandle<'scope, T> = thread::ScopedJoinHandle<'scope, T>;

/// Runs `f`, and waits for all threads that it created. An error if one of them panicked and was
/// not joined.
#[track_caller]
pub fn scope<'env, F, R>(f: F) -> thread::Result<R>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R,
{
    catch_unwind(AssertUnwindSafe(|| thread::scope(|inner| f(&Scope { inner }))))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Creates a thread. Its function receives the scope, so that it can create others.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let inner = self.inner;
        inner.spawn(move || f(&Scope { inner }))
    }
}
