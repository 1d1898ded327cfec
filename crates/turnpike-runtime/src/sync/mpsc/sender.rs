//! Sending ends.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};

use super::queue::{Queue, Unsent};

/// The sending end of an unbounded channel.
pub struct Sender<T>(Arc<Queue<T>>);

/// The sending end of a bounded channel.
pub struct SyncSender<T>(Arc<Queue<T>>);

impl<T> Sender<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Self {
        Sender(queue)
    }

    /// Sends a message; returns it as an error if the receiver was dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        send(&self.0, message, Location::caller())
    }
}

impl<T> SyncSender<T> {
    pub(super) fn new(queue: Arc<Queue<T>>) -> Self {
        SyncSender(queue)
    }

    /// Sends a message as soon as there is room; returns it as an error if the receiver was
    /// dropped.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        send(&self.0, message, Location::caller())
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.0.send(message, false, Location::caller()) {
            Ok(()) => Ok(()),
            Err(Unsent::Full(message)) => Err(TrySendError::Full(message)),
            Err(Unsent::Disconnected(message)) => Err(TrySendError::Disconnected(message)),
        }
    }
}

fn send<T>(queue: &Queue<T>, message: T, place: crate::site::Place) -> Result<(), SendError<T>> {
    match queue.send(message, true, place) {
        Ok(()) => Ok(()),
        Err(Unsent::Full(message) | Unsent::Disconnected(message)) => Err(SendError(message)),
    }
}

macro_rules! shared {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                self.0.add_sender();
                $name(self.0.clone())
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                self.0.drop_sender();
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

shared!(Sender);
shared!(SyncSender);
