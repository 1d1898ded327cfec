//! Tasks that take turns.

use std::sync::{Arc, Mutex as Plain, PoisonError};
use std::task::{Context, Poll};

use super::task::Control;
use crate::site::Place;
use crate::sync::{Mutex, MutexGuard};

/// A lock held by the task that is being polled, of several that take turns, and these tasks.
pub(crate) struct Turns {
    turn: Mutex<()>,
    tasks: Plain<Vec<Arc<Control>>>,
}

/// [`Turns`] that are shared.
pub(crate) type Baton = Arc<Turns>;

impl Turns {
    #[track_caller]
    pub(crate) fn new() -> Baton {
        Arc::new(Turns { turn: Mutex::new(()), tasks: Plain::default() })
    }

    /// Waits for the turn.
    pub(super) fn take(&self, place: Place) -> MutexGuard<'_, ()> {
        self.turn.lock_at(place).unwrap_or_else(PoisonError::into_inner)
    }

    /// Another task takes turns with the others.
    pub(super) fn add(&self, task: &Arc<Control>) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(task));
    }

    /// Waits until all tasks have ended, also those that start meanwhile.
    pub(crate) fn poll_ends(&self, context: &Context<'_>, place: Place) -> Poll<()> {
        loop {
            // One after the other: the last that ends wakes the one that waits.
            let next = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(task) = next else { return Poll::Ready(()) };
            if !task.poll_end_in_set(context, place) {
                self.add(&task);
                return Poll::Pending;
            }
        }
    }
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}
