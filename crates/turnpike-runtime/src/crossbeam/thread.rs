//! `crossbeam::thread`: scoped threads, as they were before the standard library had them.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::thread;

/// A scope for threads that may borrow what outlives it.
#[derive(Debug)]
pub struct Scope<'env> {
    /// Exists only while the scope does.
    inner: &'env thread::Scope<'env, 'env>,
}

/// A handle for waiting for the end of a thread.
pub type ScopedJoinHandle<'scope, T> = thread::ScopedJoinHandle<'scope, T>;

/// Runs `f`, and waits for all threads that it created. An error if one of them panicked and was
/// not joined.
#[track_caller]
pub fn scope<'env, F, R>(f: F) -> thread::Result<R>
where
    F: FnOnce(&Scope<'env>) -> R,
{
    let returned = Cell::new(false);
    let result = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|inner| {
            // SAFETY: the type promises less than the truth: its threads borrow only what lives as
            // long as `'env`. `f` and these threads see it only while the inner scope exists, which
            // ends after all of them.
            let inner = unsafe {
                std::mem::transmute::<&thread::Scope<'_, '_>, &'env thread::Scope<'env, 'env>>(inner)
            };
            let value = f(&Scope { inner });
            returned.set(true);
            value
        })
    }));
    match result {
        // Its own panic goes on; an error is that of a thread.
        Err(panic) if !returned.get() => resume_unwind(panic),
        result => result,
    }
}

impl<'env> Scope<'env> {
    /// Creates a thread. Its function receives the scope, so that it can create others.
    #[track_caller]
    pub fn spawn<'scope, F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'env>) -> T + Send + 'env,
        T: Send + 'env,
    {
        self.builder().spawn(f).expect("failed to spawn scoped thread")
    }

    /// Configures a thread.
    pub fn builder<'scope>(&'scope self) -> ScopedThreadBuilder<'scope, 'env> {
        ScopedThreadBuilder { scope: self, builder: thread::Builder::new() }
    }
}

/// Configures a thread of a scope, with a name or a stack size.
#[derive(Debug)]
pub struct ScopedThreadBuilder<'scope, 'env> {
    scope: &'scope Scope<'env>,
    builder: thread::Builder,
}

impl<'scope, 'env> ScopedThreadBuilder<'scope, 'env> {
    /// Sets its name.
    pub fn name(mut self, name: String) -> Self {
        self.builder = self.builder.name(name);
        self
    }

    /// Sets the size of its stack in bytes. Inside a check it is a lower bound.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.builder = self.builder.stack_size(size);
        self
    }

    /// Creates the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce(&Scope<'env>) -> T + Send + 'env,
        T: Send + 'env,
    {
        let inner = self.scope.inner;
        self.builder.spawn_scoped(inner, move || f(&Scope { inner }))
    }
}
