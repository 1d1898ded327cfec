//! `tokio::task`.

pub mod coop;
mod join_set;
mod local_key;
mod local_set;

use std::future::Future;

use crate::context;
use crate::future;

pub use crate::future::{AbortHandle, Id, JoinError, JoinHandle, spawn, yield_now};
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use join_set::JoinSet;
pub use local_key::LocalKey;
pub use local_set::{LocalEnterGuard, LocalSet};

/// The futures of `tokio::task`.
pub mod futures {
    pub use super::local_key::TaskLocalFuture;
}

/// The id of the running task.
///
/// # Panics
/// Outside a task.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The id of the running task, if the running thread is one.
pub fn try_id() -> Option<Id> {
    future::running_task().map(Id)
}

/// Runs a blocking function on its own thread. It cannot be aborted once it runs.
#[track_caller]
pub fn spawn_blocking<F, T>(function: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    future::spawn_apart(async move { function() })
}

/// Runs a blocking function on this thread.
pub fn block_in_place<F: FnOnce() -> T, T>(function: F) -> T {
    function()
}

/// Starts a task that may contain values that cannot be sent to other threads, in the current
/// [`LocalSet`].
///
/// # Panics
/// Outside a `LocalSet`.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let baton = context::active().and_then(crate::runtime::Runtime::baton);
    let baton = baton.expect("`spawn_local` called from outside of a `task::LocalSet`");
    future::spawn_local(future, baton)
}
