//! Handles of tasks.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use turnpike_scheduler::{ObjectId, ThreadId};

use super::task::{Control, Task, poll_join};
use crate::context;
use crate::panics::Payload as Panic;
use crate::runtime::Awaited;
use crate::site::Place;

/// A handle of a task, and a future of its result. Dropping it detaches the task.
pub struct JoinHandle<T> {
    task: Arc<Task<T>>,
    /// Its execution and its thread.
    thread: Option<(u64, ThreadId)>,
}

/// Identifies a task among those of its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub(crate) u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> JoinHandle<T> {
    pub(super) fn new(task: Arc<Task<T>>, thread: Option<(u64, ThreadId)>) -> Self {
        JoinHandle { task, thread }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        Id(self.task.control.id)
    }

    /// Polls it, on behalf of code at `place`.
    pub(crate) fn poll_at(&self, context: &Context<'_>, place: Place) -> Poll<Result<T, JoinError>> {
        let polled = poll_join(&self.task, context, place);
        if polled.is_pending()
            && let (Some(runtime), Some((_, thread))) = (context::active(), self.thread)
        {
            runtime.awaits(Awaited {
                joins: Some(thread),
                object: ObjectId::NONE,
                place,
                holder: None,
                why: None,
            });
        }
        polled
    }

    /// Aborts the task at the next point where it waits. It may end before that.
    #[track_caller]
    pub fn abort(&self) {
        self.task.control.abort(Location::caller());
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.task.control.is_finished(Location::caller())
    }

    /// A handle for aborting the task.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(Arc::clone(&self.task.control))
    }
}

impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let place = self.task.control.state.created_at();
        self.poll_at(context, place)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some((epoch, thread)) = self.thread
            && let Some(runtime) = context::active()
            && runtime.epoch() == epoch
        {
            runtime.detach(thread);
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.task.control.id).finish_non_exhaustive()
    }
}

/// A handle for aborting a task.
#[derive(Clone)]
pub struct AbortHandle(Arc<Control>);

impl AbortHandle {
    /// Aborts the task at the next point where it waits.
    #[track_caller]
    pub fn abort(&self) {
        self.0.abort(Location::caller());
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished(Location::caller())
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        Id(self.0.id)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.0.id).finish()
    }
}

/// Why a task has no result.
pub struct JoinError {
    id: u64,
    /// The panic that ended the task; `None` if it was aborted.
    panic: Option<Mutex<Panic>>,
}

impl JoinError {
    pub(super) fn cancelled(id: u64) -> Self {
        JoinError { id, panic: None }
    }

    pub(super) fn panicked(id: u64, payload: Panic) -> Self {
        JoinError { id, panic: Some(Mutex::new(payload)) }
    }

    /// Whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        self.panic.is_none()
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        self.panic.is_some()
    }

    /// The panic.
    ///
    /// # Panics
    /// If the task was aborted.
    pub fn into_panic(self) -> Panic {
        self.try_into_panic().expect("`JoinError` reason is not a panic.")
    }

    /// The panic, or this error back if the task was aborted.
    pub fn try_into_panic(self) -> Result<Panic, JoinError> {
        match self.panic {
            Some(panic) => Ok(panic.into_inner().unwrap_or_else(PoisonError::into_inner)),
            None => Err(self),
        }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        Id(self.id)
    }

    fn text(&self) -> Option<String> {
        let payload = self.panic.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(if error.is_panic() { "task panicked" } else { "task was cancelled" })
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.text()) {
            (false, _) => write!(f, "task {} was cancelled", self.id),
            (true, Some(text)) => write!(f, "task {} panicked with message {text:?}", self.id),
            (true, None) => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.text()) {
            (false, _) => write!(f, "JoinError::Cancelled(Id({}))", self.id),
            (true, Some(text)) => write!(f, "JoinError::Panic(Id({}), {text:?}, ...)", self.id),
            (true, None) => write!(f, "JoinError::Panic(Id({}), ...)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}
