//! Futures and tasks under control of the scheduler.
//!
//! A task is a thread of the execution that polls one future. When the future is pending the thread
//! parks, and a waker unparks it; so tasks are scheduled, replayed and reported like threads. As on
//! a multi-threaded executor, the code of a task between two points at which it waits is not
//! atomic; the tasks of a local set take turns.
//!
//! Outside a check a task is a thread of the operating system.

mod drive;
mod join;
mod shared;
mod task;
mod turns;
mod wakeup;
mod yielding;

use std::future::Future;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::context;
use crate::site::Place;

pub(crate) use drive::set_timer;
pub use join::{AbortHandle, Id, JoinError, JoinHandle};
pub(crate) use shared::{Shared, current_thread, store, wake_all};
pub(crate) use task::running as running_task;
pub(crate) use turns::{Baton, Turns};
pub(crate) use wakeup::{Wakeup, wake};
pub use yielding::{YieldNow, yield_now};

/// Polls a future on this thread until it is ready.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let place = Location::caller();
    let future = pin!(future);
    match context::active() {
        Some(runtime) => drive::block(runtime, future, None, place),
        None => drive::block_real(future),
    }
}

/// Starts a task.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match context::active() {
        Some(runtime) => task::start_guest(runtime, future, task::inherited_baton(), Location::caller()),
        None => task::start_real(future),
    }
}

/// Starts a task that does not take turns with any other.
#[track_caller]
pub(crate) fn spawn_apart<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match context::active() {
        Some(runtime) => task::start_guest(runtime, future, None, Location::caller()),
        None => task::start_real(future),
    }
}

/// [`block_on`], taking turns with the tasks that share the baton. Inside a check.
pub(crate) fn block_in_turn<F: Future>(future: F, baton: &Baton, place: Place) -> F::Output {
    let runtime = context::active().expect("inside a check");
    drive::block(runtime, pin!(future), Some(baton), place)
}

/// Polls a future while it is its turn.
pub(crate) fn poll_in_turn<F: Future>(
    future: Pin<&mut F>,
    baton: &Baton,
    context: &mut Context<'_>,
    place: Place,
) -> Poll<F::Output> {
    let Some(runtime) = context::active() else { return future.poll(context) };
    let outer = runtime.set_baton(Some(Arc::clone(baton)));
    let polled = match outer.as_ref().is_some_and(|outer| Arc::ptr_eq(outer, baton)) {
        true => future.poll(context),
        false => {
            let _turn = baton.take(place);
            future.poll(context)
        }
    };
    runtime.set_baton(outer);
    polled
}

/// Starts a task that may contain values that cannot be sent to other threads. It takes turns with
/// the tasks that share the baton.
#[track_caller]
pub(crate) fn spawn_local<F>(future: F, baton: Baton) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let runtime = context::active().expect("turnpike's local tasks run inside checks only");
    task::start_guest(runtime, future, Some(baton), Location::caller())
}
