//! `tokio::runtime`: tasks are threads of the execution, so a runtime only determines whether they
//! take turns.
//!
//! Unlike tokio's it does not abort its tasks when it is dropped: a check continues until all of
//! them end.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use crate::future::{self, Baton, JoinHandle, Turns};
use crate::time::Duration;

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

/// Settings that have no effect here: the scheduler decides, and timers are always enabled.
macro_rules! no_effect {
    ($($name:ident($($setting:ty)?),)*) => {
        $(
            /// Has no effect: the scheduler decides, and timers are always enabled.
            pub fn $name(&mut self $(, _: $setting)?) -> &mut Self {
                self
            }
        )*
    };
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

    /// Has no effect.
    pub fn thread_name(&mut self, _name: impl Into<String>) -> &mut Self {
        self
    }

    no_effect! {
        enable_time(), enable_io(), enable_all(), max_blocking_threads(usize), thread_stack_size(usize),
        thread_keep_alive(Duration), event_interval(u32), global_queue_interval(u32), start_paused(bool),
    }

    /// Builds the runtime.
    #[track_caller]
    pub fn build(&mut self) -> std::io::Result<Runtime> {
        let baton = self.takes_turns.then(Turns::new);
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

    /// Until the guard is dropped, `spawn` starts tasks in this runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Drops it. Unlike tokio's, its tasks run on.
    pub fn shutdown_timeout(self, _limit: Duration) {}

    /// Drops it. Unlike tokio's, its tasks run on.
    pub fn shutdown_background(self) {}

    /// Its handle.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// The kind of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// Tasks take turns.
    CurrentThread,
    /// Tasks run in parallel.
    MultiThread,
}

/// There is no runtime. This does not happen here.
#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Whether no runtime was entered.
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Whether the thread is ending.
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no runtime")
    }
}

impl std::error::Error for TryCurrentError {}

/// The current thread is inside a runtime until this is dropped.
#[must_use = "Creating and dropping a guard does nothing"]
pub struct EnterGuard<'a> {
    /// The baton before, inside a check.
    before: Option<Option<Baton>>,
    of: PhantomData<(&'a Handle, *const ())>,
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        if let (Some(runtime), Some(before)) = (crate::context::active(), self.before.take()) {
            runtime.set_baton(before);
        }
    }
}

impl Handle {
    /// The handle of the runtime that runs this code.
    pub fn current() -> Self {
        Handle { baton: crate::context::active().and_then(crate::runtime::Runtime::baton) }
    }

    /// [`current`](Self::current): there always is one.
    pub fn try_current() -> Result<Self, TryCurrentError> {
        Ok(Handle::current())
    }

    /// Until the guard is dropped, `spawn` starts tasks in this runtime.
    pub fn enter(&self) -> EnterGuard<'_> {
        let before = crate::context::active().map(|runtime| runtime.set_baton(self.baton.clone()));
        EnterGuard { before, of: PhantomData }
    }

    /// Whether its tasks take turns.
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        if self.baton.is_some() { RuntimeFlavor::CurrentThread } else { RuntimeFlavor::MultiThread }
    }

    /// Runs a blocking function.
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, function: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        super::task::spawn_blocking(function)
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
