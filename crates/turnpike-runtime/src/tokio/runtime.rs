//! `tokio::runtime`: tasks are threads of the execution, so a runtime only determines whether they
//! take turns.
//!
//! Unlike tokio's it does not abort its tasks when it is dropped: a check continues until all of
//! them end.

use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use crate::future::{self, Baton, JoinHandle};
use crate::sync::Mutex;

/// Runs tasks.
#[derive(Clone, Debug)]
pub struct Runtime {
    handle: Handle,
}

/// A handle that starts tasks in a runtime.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Held by the task that is being polled, for a single-threaded runtime.
    baton: Option<Baton>,
}

/// Configures a runtime.
#[derive(Debug)]
pub struct Builder {
    takes_turns: bool,
}

impl Builder {
    /// A runtime whose tasks take turns: one continues where another one waits.
    pub fn new_current_thread() -> Self {
        Builder { takes_turns: true }
    }

    /// A runtime whose tasks run in parallel.
    pub fn new_multi_thread() -> Self {
        Builder { takes_turns: false }
    }

    /// Has no effect: the scheduler decides.
    pub fn worker_threads(&mut self, _threads: usize) -> &mut Self {
        self
    }

    /// Has no effect: timers are always enabled.
    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    /// Has no effect: timers are always enabled.
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// Builds the runtime.
    #[track_caller]
    pub fn build(&mut self) -> std::io::Result<Runtime> {
        let baton = self.takes_turns.then(|| Arc::new(Mutex::new(())));
        Ok(Runtime { handle: Handle { baton } })
    }
}

impl Runtime {
    /// A runtime whose tasks run in parallel.
    pub fn new() -> std::io::Result<Self> {
        Builder::new_multi_thread().build()
    }

    /// Runs a future on this thread.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a blocking function.
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, function: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        super::task::spawn_blocking(function)
    }

    /// Its handle.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Handle {
    /// The handle of the runtime that runs this code.
    pub fn current() -> Self {
        Handle { baton: crate::context::active().and_then(crate::runtime::Runtime::baton) }
    }

    /// Runs a future on this thread.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        match self.baton.as_ref().filter(|_| crate::is_checking()) {
            Some(baton) => future::block_in_turn(future, baton, Location::caller()),
            None => future::block_on(future),
        }
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.baton.as_ref().filter(|_| crate::is_checking()) {
            Some(baton) => future::spawn_local(future, Arc::clone(baton)),
            None => future::spawn_apart(future),
        }
    }
}
