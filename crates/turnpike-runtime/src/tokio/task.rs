//! `tokio::task`.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::context;
use crate::future::{self, Baton, Shared, store, wake};
use crate::site::Place;
use crate::sync::Mutex;

pub use crate::future::{AbortHandle, Id, JoinError, JoinHandle, spawn, yield_now};

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

/// Tasks that take turns: one continues where another one waits. Inside checks only.
pub struct LocalSet {
    baton: Baton,
}

impl LocalSet {
    /// Without tasks.
    #[track_caller]
    pub fn new() -> Self {
        LocalSet { baton: Arc::new(Mutex::new(())) }
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
    pub fn block_on<F: Future>(&self, _runtime: &super::runtime::Runtime, future: F) -> F::Output {
        future::block_on(self.run_until(future))
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

/// Tasks that are joined in the order in which they end. Dropping it aborts them all.
pub struct JoinSet<T> {
    tasks: Vec<(usize, JoinHandle<T>)>,
    ended: Arc<Shared<Ended>>,
    count: usize,
    /// The next task to join, although it has not quite ended.
    next: Option<usize>,
}

/// Numbers of tasks that have ended.
#[derive(Default)]
struct Ended {
    numbers: VecDeque<usize>,
    waker: Option<std::task::Waker>,
}

impl<T: 'static> JoinSet<T> {
    /// Without tasks.
    #[track_caller]
    pub fn new() -> Self {
        let ended = Arc::new(Shared::new("task", Ended::default()));
        JoinSet { tasks: Vec::new(), ended, count: 0, next: None }
    }

    /// The number of tasks that have not been joined.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether all tasks have been joined.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let last = self.end_report(Location::caller());
        let handle = spawn(async move {
            // Also dropped if the future is dropped or panics.
            let _last = last;
            future.await
        });
        self.add(handle)
    }

    /// Runs a blocking function.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, function: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn(async move { function() })
    }

    /// Starts a task in the current [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F: Future<Output = T> + 'static>(&mut self, future: F) -> AbortHandle {
        let last = self.end_report(Location::caller());
        let handle = spawn_local(async move {
            let _last = last;
            future.await
        });
        self.add(handle)
    }

    fn end_report(&self, place: Place) -> EndReport {
        EndReport { ended: Arc::clone(&self.ended), number: self.count, place }
    }

    fn add(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        self.tasks.push((self.count, handle));
        self.count += 1;
        abort
    }

    /// Waits for the next task to end; `None` if there are no tasks.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        let place = Location::caller();
        poll_fn(move |context| self.poll_next(context, place))
    }

    /// The next task that has ended.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        let place = Location::caller();
        let next = self.next.take();
        let number = next.or_else(|| self.ended.act(place, |ended| ended.numbers.pop_front()))?;
        let at = self.tasks.iter().position(|(known, _)| *known == number)?;
        let (_, handle) = self.tasks.remove(at);
        // It has reported its end, and is about to end.
        Some(future::block_on(handle))
    }

    fn poll_next(&mut self, context: &Context<'_>, place: Place) -> Poll<Option<Result<T, JoinError>>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        // Stored here, so that it is not lost if this future is dropped.
        if self.next.is_none() {
            self.next = self.ended.act(place, |ended| {
                let next = ended.numbers.pop_front();
                if next.is_none() {
                    store(&mut ended.waker, context);
                }
                next
            });
        }
        let Some(number) = self.next else {
            self.ended.awaited(place, None);
            return Poll::Pending;
        };
        let Some(at) = self.tasks.iter().position(|(known, _)| *known == number) else {
            unreachable!("each task ends once");
        };
        // It has reported its end, and is about to end.
        match self.tasks[at].1.poll_at(context, place) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                self.tasks.remove(at);
                self.next = None;
                Poll::Ready(Some(result))
            }
        }
    }

    /// Waits for all tasks.
    ///
    /// # Panics
    ///
    /// If one of them panicked.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut results = Vec::with_capacity(self.tasks.len());
        while let Some(result) = self.join_next().await {
            match result {
                Ok(value) => results.push(value),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        results
    }

    /// Aborts all tasks.
    #[track_caller]
    pub fn abort_all(&mut self) {
        for (_, handle) in &self.tasks {
            handle.abort();
        }
    }

    /// Aborts all tasks and waits for their ends.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Detaches all tasks.
    pub fn detach_all(&mut self) {
        self.tasks.clear();
    }
}

impl<T: 'static> Default for JoinSet<T> {
    #[track_caller]
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        for (_, handle) in &self.tasks {
            handle.abort();
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.tasks.len()).finish()
    }
}

/// Reports the end of a task of a [`JoinSet`] when its future is dropped.
struct EndReport {
    ended: Arc<Shared<Ended>>,
    number: usize,
    place: Place,
}

impl Drop for EndReport {
    fn drop(&mut self) {
        let waker = self.ended.act(self.place, |ended| {
            ended.numbers.push_back(self.number);
            ended.waker.take()
        });
        if let Some(waker) = waker {
            wake(waker, self.place);
        }
    }
}
