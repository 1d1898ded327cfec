//! `JoinSet`.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, spawn, spawn_blocking, spawn_local};
use crate::future::{self, Shared, store, wake};
use crate::site::Place;
use crate::tokio::runtime::Handle;

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
        let ended = Arc::new(Shared::new("join set", Ended::default()));
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

    /// Starts a task in another runtime.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let last = self.end_report(Location::caller());
        let handle = handle.spawn(async move {
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
        let last = self.end_report(Location::caller());
        let handle = spawn_blocking(move || {
            let _last = last;
            function()
        });
        self.add(handle)
    }

    /// Runs a blocking function.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, function: F, _handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn_blocking(function)
    }

    /// Starts a task in another [`LocalSet`](super::LocalSet).
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let last = self.end_report(Location::caller());
        let handle = set.spawn_local(async move {
            let _last = last;
            future.await
        });
        self.add(handle)
    }

    /// Starts a task in the current [`LocalSet`](super::LocalSet).
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
        poll_fn(move |context| self.poll_next(context, place).map(without_id))
    }

    /// [`join_next`](Self::join_next) with the id of the task.
    #[track_caller]
    pub fn join_next_with_id(&mut self) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        let place = Location::caller();
        poll_fn(move |context| self.poll_next(context, place))
    }

    /// Polls for the next task to end. `None` if there are no tasks.
    #[track_caller]
    pub fn poll_join_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_next(context, Location::caller()).map(without_id)
    }

    /// [`poll_join_next`](Self::poll_join_next) with the id of the task.
    #[track_caller]
    pub fn poll_join_next_with_id(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        self.poll_next(context, Location::caller())
    }

    /// The next task that has ended.
    #[track_caller]
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        without_id(self.try_join_next_with_id())
    }

    /// [`try_join_next`](Self::try_join_next) with the id of the task.
    #[track_caller]
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let place = Location::caller();
        let next = self.next.take();
        let number = next.or_else(|| self.ended.act(place, |ended| ended.numbers.pop_front()))?;
        let at = self.tasks.iter().position(|(known, _)| *known == number)?;
        let (_, handle) = self.tasks.remove(at);
        let id = handle.id();
        // It has reported its end, and is about to end.
        Some(future::block_on(handle).map(|value| (id, value)))
    }

    fn poll_next(&mut self, context: &Context<'_>, place: Place) -> Poll<Option<Result<(Id, T), JoinError>>> {
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
                let id = self.tasks.remove(at).1.id();
                self.next = None;
                Poll::Ready(Some(result.map(|value| (id, value))))
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

fn without_id<T>(joined: Option<Result<(Id, T), JoinError>>) -> Option<Result<T, JoinError>> {
    joined.map(|joined| joined.map(|(_, value)| value))
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
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
