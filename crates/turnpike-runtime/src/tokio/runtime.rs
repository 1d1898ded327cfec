//! `tokio::runtime`: tasks are threads of the execution, so a runtime only says whether they take turns.
//!
//! Unlike tokio's it does not end its tasks when it is dropped: a check goes on until all of them end.

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

/// Starts tasks in a runtime.
#[derive(Clone, Debug)]
pub struct Handle {
    /// Held by the task that is being polled, if there is one thread only.
    baton: Option<Baton>,
}

/// A runtime that is to be built.
#[derive(Debug)]
pub struct Builder {
    takes_turns: bool,
}

impl Builder {
    /// Tasks take turns: one goes on where another one waits.
    pub fn new_current_thread() -> Self {
        Builder { takes_turns: true }
    }

    /// Tasks run at the same time.
    pub fn new_multi_thread() -> Self {
        Builder { takes_turns: false }
    }

    /// Has no effect: the scheduler decides.
    pub fn worker_threads(&mut self, _threads: usize) -> &mut Self {
        self
    }

    /// Has no effect: timers are there.
    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    /// Has no effect: timers are there.
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// Builds it.
    #[track_caller]
    pub fn build(&mut self) -> std::io::Result<Runtime> {
        let baton = self.takes_turns.then(|| Arc::new(Mutex::new(())));
        Ok(Runtime { handle: Handle { baton } })
    }
}

impl Runtime {
    /// A runtime whose tasks run at the same time.
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

    /// Runs a function that blocks.
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
    /// Of the runtime that runs this code.
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
