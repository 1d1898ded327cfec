//! Bounded channels.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::channel::{Channel, State};
use super::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use crate::future::wake_all;
use crate::runtime::Why;
use crate::site::Place;
use crate::tokio::sync::permits::TryAcquireError;

/// A channel for at most `buffer` messages.
///
/// # Panics
///
/// If `buffer` is 0.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let channel = Channel::new(Some(buffer));
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// Sends messages. Senders are admitted in the order of their requests.
pub struct Sender<T> {
    pub(super) channel: Arc<Channel<T>>,
}

/// Reserves room for messages. Dropping it gives up the place in the queue.
struct Room<'a, T> {
    channel: &'a Channel<T>,
    wanted: usize,
    ticket: Option<u64>,
    place: Place,
}

impl<'a, T> Room<'a, T> {
    fn new(channel: &'a Channel<T>, wanted: usize, place: Place) -> Self {
        Room { channel, wanted, ticket: None, place }
    }

    /// Calls `then` in the step in which there is room.
    fn poll<R>(
        &mut self,
        context: &Context<'_>,
        then: impl FnOnce(&mut State<T>) -> R,
    ) -> Poll<Result<R, SendError<()>>> {
        let (wanted, place) = (self.wanted, self.place);
        let polled = self.channel.shared.act(place, |state| {
            let polled = state.permits.poll_take(wanted, &mut self.ticket, context, place);
            polled.map(|taken| taken.map(|()| then(state)).map_err(|_| SendError(())))
        });
        if polled.is_pending() {
            self.channel.shared.awaited_because(place, None, Some(Why::Full));
        }
        polled
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let woken = self.channel.shared.act(self.place, |state| state.give_up(self.wanted, ticket));
            wake_all(woken, self.place);
        }
    }
}

impl<T> Sender<T> {
    /// Sends a message when there is room.
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        send(&self.channel, message, Location::caller())
    }

    /// [`send`](Self::send) with a time limit.
    #[track_caller]
    pub fn send_timeout(
        &self,
        message: T,
        limit: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let place = Location::caller();
        async move {
            match crate::tokio::time::timeout(limit, self.reserve_at(place)).await {
                Ok(Ok(permit)) => {
                    permit.send(message);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(message)),
                Err(_) => Err(SendTimeoutError::Timeout(message)),
            }
        }
    }

    /// Sends a message, from code that is not async.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        crate::future::block_on(send(&self.channel, message, Location::caller()))
    }

    /// Sends a message if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let place = Location::caller();
        let woken = self.channel.shared.act(place, |state| match state.permits.try_take(1, place) {
            Ok(()) => Ok(state.push(message)),
            Err(TryAcquireError::Closed) => Err(TrySendError::Closed(message)),
            Err(TryAcquireError::NoPermits) => Err(TrySendError::Full(message)),
        })?;
        wake_all(woken, place);
        Ok(())
    }

    /// Waits for room for a message.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        self.reserve_at(Location::caller())
    }

    async fn reserve_at(&self, place: Place) -> Result<Permit<'_, T>, SendError<()>> {
        let mut room = Room::new(&self.channel, 1, place);
        poll_fn(|context| room.poll(context, |_| ())).await?;
        Ok(Permit { channel: &self.channel, place })
    }

    /// Waits for room for a message, without borrowing the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            {
                let mut room = Room::new(&self.channel, 1, place);
                poll_fn(|context| room.poll(context, |_| ())).await?;
            }
            Ok(OwnedPermit { sender: Some(self), place })
        }
    }

    /// Room for a message, if available.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        let place = Location::caller();
        self.channel.shared.act(place, |state| match state.permits.try_take(1, place) {
            Ok(()) => Ok(()),
            Err(TryAcquireError::Closed) => Err(TrySendError::Closed(())),
            Err(TryAcquireError::NoPermits) => Err(TrySendError::Full(())),
        })?;
        Ok(Permit { channel: &self.channel, place })
    }

    /// Room for a message without borrowing the sender, if available.
    #[track_caller]
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let place = Location::caller();
        match self.channel.shared.act(place, |state| state.permits.try_take(1, place)) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self), place }),
            Err(TryAcquireError::Closed) => Err(TrySendError::Closed(self)),
            Err(TryAcquireError::NoPermits) => Err(TrySendError::Full(self)),
        }
    }

    /// Waits for room for `n` messages. An error if there can never be so much.
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            if n > self.max_capacity() {
                return Err(SendError(()));
            }
            let mut room = Room::new(&self.channel, n, place);
            poll_fn(|context| room.poll(context, |_| ())).await?;
            Ok(PermitIterator { channel: &self.channel, left: n, place })
        }
    }

    /// Room for `n` messages, if available.
    #[track_caller]
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        let place = Location::caller();
        match self.channel.shared.act(place, |state| state.permits.try_take(n, place)) {
            Ok(()) => Ok(PermitIterator { channel: &self.channel, left: n, place }),
            Err(TryAcquireError::Closed) => Err(TrySendError::Closed(())),
            Err(TryAcquireError::NoPermits) => Err(TrySendError::Full(())),
        }
    }

    /// The number of messages for which there is room.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.channel.look(Location::caller(), |state| state.permits.free())
    }

    /// The bound.
    pub fn max_capacity(&self) -> usize {
        self.channel.bound.unwrap_or(usize::MAX)
    }
}

async fn send<T>(channel: &Channel<T>, message: T, place: Place) -> Result<(), SendError<T>> {
    let mut room = Room::new(channel, 1, place);
    let mut message = Some(message);
    let sent = poll_fn(|context| {
        room.poll(context, |state| {
            let message = message.take().expect("it is sent once");
            state.push(message)
        })
    });
    match sent.await {
        Ok(woken) => {
            wake_all(woken, place);
            Ok(())
        }
        Err(_) => Err(SendError(message.take().expect("it was not sent"))),
    }
}

impl<T> Receiver<T> {
    /// The number of messages for which there is room.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.channel.look(Location::caller(), |state| state.permits.free())
    }

    /// The bound.
    pub fn max_capacity(&self) -> usize {
        self.channel.bound.unwrap_or(usize::MAX)
    }
}

/// The common parts of both kinds of channels: a weak sender, a receiver, and methods of these and
/// of senders.
macro_rules! ends {
    ($sender:ident, $weak:ident, $receiver:ident) => {
        /// Receives messages.
        pub struct $receiver<T> {
            channel: Arc<Channel<T>>,
        }

        /// A sender that does not keep the channel open.
        pub struct $weak<T> {
            channel: Arc<Channel<T>>,
        }

        impl<T> $sender<T> {
            /// Waits until the receiver was dropped or closed.
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> {
                self.channel.closed(Location::caller())
            }

            /// A sender that does not keep the channel open.
            pub fn downgrade(&self) -> $weak<T> {
                self.channel.shared.clone_handle(|state| state.weak_senders += 1);
                $weak { channel: Arc::clone(&self.channel) }
            }

            /// Whether the receiver was dropped or closed.
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.channel.look(Location::caller(), |state| state.permits.closed)
            }

            /// Whether both send to the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }

            /// The number of senders.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.senders)
            }

            /// The number of weak senders.
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.weak_senders)
            }
        }

        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                self.channel.add_sender();
                $sender { channel: Arc::clone(&self.channel) }
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                self.channel.drop_sender();
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }

        impl<T> $weak<T> {
            /// A sender, if there is one left.
            #[track_caller]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                self.channel
                    .upgrade(Location::caller())
                    .then(|| $sender { channel: Arc::clone(&self.channel) })
            }

            /// The number of senders.
            #[track_caller]
            pub fn strong_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.senders)
            }

            /// The number of weak senders.
            #[track_caller]
            pub fn weak_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.weak_senders)
            }
        }

        impl<T> Clone for $weak<T> {
            fn clone(&self) -> Self {
                self.channel.shared.clone_handle(|state| state.weak_senders += 1);
                $weak { channel: Arc::clone(&self.channel) }
            }
        }

        impl<T> Drop for $weak<T> {
            fn drop(&mut self) {
                self.channel.shared.peek(|state| state.weak_senders -= 1);
            }
        }

        impl<T> fmt::Debug for $weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }

        impl<T> $receiver<T> {
            /// Waits for a message; `None` if the channel is closed and empty. No message is lost
            /// if this future is dropped.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                self.channel.recv(Location::caller())
            }

            /// Waits for messages, and takes at most `limit`.
            #[track_caller]
            pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
                self.channel.recv_many(buffer, limit, Location::caller())
            }

            /// A message, if one is available.
            #[track_caller]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.channel.try_recv(Location::caller())
            }

            /// Waits for a message, from code that is not async.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                crate::future::block_on(self.channel.recv(Location::caller()))
            }

            /// Waits for messages, and takes at most `limit`, from code that is not async.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                crate::future::block_on(self.channel.recv_many(buffer, limit, Location::caller()))
            }

            /// Polls for messages, and takes at most `limit`.
            #[track_caller]
            pub fn poll_recv_many(
                &mut self,
                context: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                self.channel.poll_recv_many(buffer, limit, context, Location::caller())
            }

            /// The number of senders.
            #[track_caller]
            pub fn sender_strong_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.senders)
            }

            /// The number of weak senders.
            #[track_caller]
            pub fn sender_weak_count(&self) -> usize {
                self.channel.shared.count_handles(Location::caller(), |state| state.weak_senders)
            }

            /// Polls for a message.
            #[track_caller]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
                self.channel.poll_recv(context, Location::caller())
            }

            /// Closes the channel. Messages that were sent, or for which there is a permit, can
            /// still be received.
            #[track_caller]
            pub fn close(&mut self) {
                self.channel.close(Location::caller());
            }

            /// Whether it was closed, or no sender is left.
            #[track_caller]
            pub fn is_closed(&self) -> bool {
                self.channel.look(Location::caller(), |state| state.permits.closed || state.senders == 0)
            }

            /// Whether there are no messages.
            #[track_caller]
            pub fn is_empty(&self) -> bool {
                self.channel.look(Location::caller(), |state| state.messages.is_empty())
            }

            /// The number of messages.
            #[track_caller]
            pub fn len(&self) -> usize {
                self.channel.look(Location::caller(), |state| state.messages.len())
            }
        }

        impl<T> Drop for $receiver<T> {
            fn drop(&mut self) {
                self.channel.drop_receiver();
            }
        }

        impl<T> fmt::Debug for $receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($receiver)).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use ends;

ends!(Sender, WeakSender, Receiver);
