//! The receiving end.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::queue::{Missing, Queue};
use crate::traits::iterators;

/// The receiving end of a channel.
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// As in the standard library, it can be sent to another thread but not shared.
    one_thread: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Self {
        Receiver { queue, one_thread: PhantomData }
    }

    /// Waits for a message; an error when no sender is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.queue.receive(true, None, Location::caller()).map_err(|_| RecvError)
    }

    /// Takes a message if one is available.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.queue.receive(false, None, Location::caller()).map_err(|missing| match missing {
            Missing::Empty => TryRecvError::Empty,
            Missing::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// Waits for a message, with a time limit.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.queue.receive(true, Some(limit), Location::caller()).map_err(|missing| match missing {
            Missing::Empty => RecvTimeoutError::Timeout,
            Missing::Disconnected => RecvTimeoutError::Disconnected,
        })
    }
}

// As in the standard library.
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

iterators!(Receiver);
