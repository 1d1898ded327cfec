//! The building blocks of `select!`.

use std::future::poll_fn;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use super::core::Ticket;
use super::error::{RecvError, SendError};
use super::{Receiver, Sender};
use crate::future::block_on;
use crate::site::Place;
use crate::time::Duration;
use crate::tokio::first_branch;
use crate::tokio::time::timeout;

/// A receive operation as one of several branches.
pub struct Receive<'a, T> {
    receiver: &'a Receiver<T>,
    ticket: Ticket,
    place: Place,
}

/// A receive operation as one of several branches.
#[track_caller]
pub fn receive<T>(receiver: &Receiver<T>) -> Receive<'_, T> {
    Receive { receiver, ticket: Ticket::default(), place: Location::caller() }
}

impl<T> Receive<'_, T> {
    /// Polls it.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        self.receiver.poll(&mut self.ticket, false, context, self.place)
    }
}

impl<T> Drop for Receive<'_, T> {
    fn drop(&mut self) {
        self.receiver.give_up(&mut self.ticket, self.place);
    }
}

/// A send operation as one of several branches.
pub struct Send<'a, T> {
    sender: &'a Sender<T>,
    message: Option<T>,
    ticket: Ticket,
    place: Place,
}

/// A send operation as one of several branches.
///
/// # Panics
///
/// If the channel has no capacity.
#[track_caller]
pub fn send<T>(sender: &Sender<T>, message: T) -> Send<'_, T> {
    assert!(sender.capacity() != Some(0), "turnpike's select! cannot send to a channel without capacity");
    Send { sender, message: Some(message), ticket: Ticket::default(), place: Location::caller() }
}

impl<T> Send<'_, T> {
    /// Polls it.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let channel = &self.sender.channel;
        let sent = channel.poll_send(&mut self.message, &mut self.ticket, context, self.place);
        sent.map(|sent| sent.map_err(|()| SendError(self.message.take().expect("it was not sent"))))
    }
}

impl<T> Drop for Send<'_, T> {
    fn drop(&mut self) {
        self.sender.channel.give_up(&mut self.ticket, self.place);
    }
}

/// Waits for the first of `count` branches. With a `default` branch, waits at most for its
/// duration, or not at all. Which of several ready branches is taken is up to the scheduler, unless
/// it is `biased` to the first.
#[track_caller]
pub fn select_branch<R>(
    count: usize,
    biased: bool,
    default: Option<Option<Duration>>,
    mut poll: impl FnMut(usize, &mut Context<'_>) -> Poll<R>,
) -> Option<R> {
    let mut round = |context: &mut Context<'_>| {
        let first = if biased { 0 } else { first_branch(count, 0) };
        (0..count)
            .map(|turn| poll((first + turn) % count, context))
            .find(Poll::is_ready)
            .unwrap_or(Poll::Pending)
    };
    match default {
        None => Some(block_on(poll_fn(round))),
        Some(Some(limit)) => block_on(timeout(limit, poll_fn(round))).ok(),
        Some(None) => match round(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        },
    }
}
