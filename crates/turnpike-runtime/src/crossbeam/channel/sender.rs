//! `Sender`.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::core::{Channel, Ticket};
use super::error::{SendError, SendTimeoutError, TrySendError};
use crate::future::block_on;
use crate::site::Place;
use crate::time::Instant;
use crate::tokio::time::timeout;

/// Sends messages.
pub struct Sender<T> {
    pub(super) channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Sender { channel }
    }

    /// Sends a message as soon as there is room; without capacity, as soon as a receiver takes it.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.send_within(message, None, Location::caller()).map_err(|error| match error {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Disconnected(message) => {
                SendError(message)
            }
        })
    }

    /// [`send`](Self::send) with a time limit.
    #[track_caller]
    pub fn send_timeout(&self, message: T, limit: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_within(message, Some(limit), Location::caller())
    }

    /// [`send`](Self::send) with a deadline.
    #[track_caller]
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        let limit = deadline.saturating_duration_since(Instant::unwatched());
        self.send_within(message, Some(limit), Location::caller())
    }

    fn send_within(
        &self,
        message: T,
        limit: Option<Duration>,
        place: Place,
    ) -> Result<(), SendTimeoutError<T>> {
        let (mut slot, mut ticket) = (Some(message), Ticket::default());
        let sending = poll_fn(|context| self.channel.poll_send(&mut slot, &mut ticket, context, place));
        let sent = match limit {
            None => Ok(block_on(sending)),
            Some(limit) => block_on(timeout(limit, sending)),
        };
        let back = self.channel.give_up(&mut ticket, place).or(slot);
        match (sent, back) {
            (Ok(Ok(())), _) | (_, None) => Ok(()),
            (Ok(Err(())), Some(message)) => Err(SendTimeoutError::Disconnected(message)),
            (Err(_), Some(message)) => Err(SendTimeoutError::Timeout(message)),
        }
    }

    /// Sends a message if there is room; without capacity, if a receiver waits for it.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(message, Location::caller())
    }

    /// Whether there are no messages.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room.
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.len() >= capacity)
    }

    /// The number of messages.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.channel.shared.look(Location::caller(), |state| state.messages.len())
    }

    /// The capacity, if it is bounded.
    pub fn capacity(&self) -> Option<usize> {
        self.channel.capacity
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.shared.peek(|state| state.senders += 1);
        Sender { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.leave(|state| &mut state.senders);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender { .. }")
    }
}
