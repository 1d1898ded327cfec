//! `LocalSet`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::context;
use crate::future::{self, Baton, JoinHandle, Turns};
use crate::tokio::runtime::Runtime;

/// Tasks that take turns: one continues where another one waits. Inside checks only. As a future,
/// it is ready when all of them have ended.
pub struct LocalSet {
    pub(super) baton: Baton,
}

impl LocalSet {
    /// Without tasks.
    #[track_caller]
    pub fn new() -> Self {
        LocalSet { baton: Turns::new() }
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        future::spawn_local(future, Arc::clone(&self.baton))
    }

    /// Runs a future among the tasks. They continue after it is ready.
    #[track_caller]
    pub fn run_until<F: Future>(&self, future: F) -> impl Future<Output = F::Output> {
        let (baton, place) = (Arc::clone(&self.baton), Location::caller());
        async move {
            let mut future = std::pin::pin!(future);
            poll_fn(|context| future::poll_in_turn(future.as_mut(), &baton, context, place)).await
        }
    }

    /// Runs a future among the tasks, on this thread.
    #[track_caller]
    pub fn block_on<F: Future>(&self, _runtime: &Runtime, future: F) -> F::Output {
        future::block_on(self.run_until(future))
    }
}

impl LocalSet {
    /// Until the guard is dropped, `spawn_local` starts tasks in this set.
    pub fn enter(&self) -> LocalEnterGuard {
        let before = context::active().map(|runtime| runtime.set_baton(Some(Arc::clone(&self.baton))));
        LocalEnterGuard { before, of: PhantomData }
    }
}

impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.baton.poll_ends(context, Location::caller())
    }
}

/// The current thread is inside a [`LocalSet`] until this is dropped.
pub struct LocalEnterGuard {
    /// The baton before, inside a check.
    before: Option<Option<Baton>>,
    of: PhantomData<*const ()>,
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        if let (Some(runtime), Some(before)) = (context::active(), self.before.take()) {
            runtime.set_baton(before);
        }
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}

impl Default for LocalSet {
    #[track_caller]
    fn default() -> Self {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}
