//! Tasks: threads of an execution that poll one future each.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::drive;
use super::join::{JoinError, JoinHandle};
use super::shared::{Shared, store, wake_all};
use super::turns::Baton;
use super::{Wakeup, wake};
use crate::context;
use crate::panics::Payload;
use crate::runtime::{Body, Resumed, Runtime};
use crate::site::{self, Place};

/// Outside checks: the number of tasks so far.
static TASKS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Outside checks: the task that this thread runs.
    static REAL_TASK: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The number of the running task, if the running thread is one.
pub(crate) fn running() -> Option<u64> {
    match context::active() {
        Some(runtime) => runtime.task(),
        None => REAL_TASK.get(),
    }
}

/// What a task shares with its handles.
pub(super) struct Task<T> {
    pub(super) control: Arc<Control>,
    /// Set before other threads can observe the end.
    result: Mutex<Option<Result<T, JoinError>>>,
}

/// The part that does not depend on the type of the result.
pub(super) struct Control {
    pub(super) id: u64,
    pub(super) state: Shared<State>,
    /// Set when the task was woken to notice that it is aborted.
    woken_to_abort: AtomicBool,
}

/// The progress of a task.
pub(super) struct State {
    finished: bool,
    /// The waker of the task that joins it.
    joiner: Option<Waker>,
    /// The waker of the task that waits for all of its local set.
    set: Option<Waker>,
    aborted: bool,
    wakeup: Option<Arc<Wakeup>>,
}

impl Control {
    #[track_caller]
    fn new(id: u64) -> Arc<Self> {
        let state = State { finished: false, joiner: None, set: None, aborted: false, wakeup: None };
        Arc::new(Control { id, state: Shared::new("task", state), woken_to_abort: AtomicBool::new(false) })
    }

    pub(super) fn abort(&self, place: Place) {
        let wakeup = self.state.act(place, |state| {
            if state.finished || state.aborted {
                return None;
            }
            state.aborted = true;
            state.wakeup.clone()
        });
        if let Some(wakeup) = wakeup {
            wake(super::wakeup::waker(&wakeup), place);
            self.woken_to_abort.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_finished(&self, place: Place) -> bool {
        self.state.look(place, |state| state.finished)
    }

    /// Whether the task has ended; if not, registers the current task to be woken when it does.
    pub(super) fn poll_end(&self, context: &Context<'_>, place: Place) -> bool {
        self.state.act(place, |state| {
            if !state.finished {
                store(&mut state.joiner, context);
            }
            state.finished
        })
    }

    /// The same for the task that waits for all of its local set.
    pub(super) fn poll_end_in_set(&self, context: &Context<'_>, place: Place) -> bool {
        let finished = self.state.act(place, |state| {
            if !state.finished {
                store(&mut state.set, context);
            }
            state.finished
        });
        if !finished {
            self.state.awaited(place, None);
        }
        finished
    }

    /// Whether the task must stop, after it waited.
    fn is_stopped(&self, resumed: Resumed, place: Place) -> bool {
        match resumed {
            // An abort wakes the task first, in a step before which it waited.
            Resumed::Woken => self.woken_to_abort.load(Ordering::Relaxed),
            Resumed::Rested => self.state.look(place, |state| state.aborted),
        }
    }
}

impl<T> Task<T> {
    #[track_caller]
    fn new(id: u64) -> Arc<Self> {
        Arc::new(Task { control: Control::new(id), result: Mutex::new(None) })
    }

    /// The result; `None` if it was taken before.
    pub(super) fn take(&self) -> Option<Result<T, JoinError>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&self, result: Result<T, JoinError>, place: Place) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        let woken = self.control.state.act(place, |state| {
            state.finished = true;
            [state.joiner.take(), state.set.take()]
        });
        wake_all(woken.into_iter().flatten(), place);
    }
}

/// Starts a task, which takes turns with others that share the baton.
#[track_caller]
pub(super) fn start_guest<F>(
    runtime: &'static Runtime,
    future: F,
    baton: Option<Baton>,
    place: Place,
) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let task = Task::new(runtime.next_task());
    let own = Arc::clone(&task);
    if let Some(baton) = &baton {
        baton.add(&task.control);
    }
    let body: Body = Box::new(move || run_guest(runtime, &own, future, baton, place));
    let thread = runtime.spawn(None, 0, site::of(place), body).expect("failed to spawn a task");
    JoinHandle::new(task, thread.map(|thread| (runtime.epoch(), thread)))
}

/// The whole life of a task.
fn run_guest<F: Future>(
    runtime: &'static Runtime,
    task: &Task<F::Output>,
    future: F,
    baton: Option<Baton>,
    place: Place,
) -> Result<(), Payload> {
    let control = &task.control;
    let wakeup = Wakeup::guest(runtime.epoch(), runtime.current());
    control.state.peek(|state| state.wakeup = Some(wakeup));
    runtime.set_task(control.id);
    let polled = catch_unwind(AssertUnwindSafe(|| {
        let mut future = Box::pin(future);
        // It may be aborted before it starts.
        if control.is_stopped(Resumed::Rested, place) {
            return None;
        }
        let stopped = |resumed| control.is_stopped(resumed, place);
        drive::run(runtime, future.as_mut(), baton.as_ref(), place, stopped)
    }));
    let result = match polled {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(JoinError::cancelled(control.id)),
        Err(payload) if runtime.returns_panic_to_joiner(&payload) => {
            Err(JoinError::panicked(control.id, payload))
        }
        Err(payload) => return Err(payload),
    };
    task.end(result, place);
    Ok(())
}

/// Starts a task on a thread of the operating system.
#[track_caller]
pub(super) fn start_real<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let task = Task::new(TASKS.fetch_add(1, Ordering::Relaxed));
    let own = Arc::clone(&task);
    std::thread::spawn(move || {
        let control = &own.control;
        REAL_TASK.set(Some(control.id));
        control.state.peek(|state| state.wakeup = Some(Wakeup::real()));
        let stopped = || control.state.peek(|state| state.aborted);
        let polled = catch_unwind(AssertUnwindSafe(|| drive::run_real(Box::pin(future).as_mut(), stopped)));
        let result = match polled {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(JoinError::cancelled(control.id)),
            Err(payload) => Err(JoinError::panicked(control.id, payload)),
        };
        own.end(result, control.state.created_at());
    });
    JoinHandle::new(task, None)
}

/// Polls for the end of a task.
pub(super) fn poll_join<T>(
    task: &Task<T>,
    context: &Context<'_>,
    place: Place,
) -> Poll<Result<T, JoinError>> {
    if !task.control.poll_end(context, place) {
        return Poll::Pending;
    }
    Poll::Ready(task.take().expect("JoinHandle polled after completion"))
}

/// The baton of the running code's task, which the tasks that it starts inherit.
pub(super) fn inherited_baton() -> Option<Baton> {
    context::active().and_then(Runtime::baton)
}
