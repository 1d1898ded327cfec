//! `tokio::sync::oneshot`: a channel for one message.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, store, wake};
use crate::site::Place;

/// A channel for one message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { message: None, sent: false, closed: false, receiver: None, sender: None };
    let shared = Arc::new(Shared::new("oneshot", state));
    (Sender { shared: Some(Arc::clone(&shared)) }, Receiver { shared, done: false })
}

struct State<T> {
    message: Option<T>,
    /// Whether the sender sent its message, or was dropped.
    sent: bool,
    /// Whether the receiver was dropped or closed.
    closed: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

/// Sends the message.
pub struct Sender<T> {
    shared: Option<Arc<Shared<State<T>>>>,
}

/// Receives the message; a future of it.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Receiver<T> {
    shared: Arc<Shared<State<T>>>,
    done: bool,
}

/// Errors of oneshot channels.
pub mod error {
    use std::fmt;

    /// The sender was dropped.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecvError(pub(super) ());

    /// Why no message was received.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum TryRecvError {
        /// It was not sent yet.
        Empty,
        /// The sender was dropped.
        Closed,
    }

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                TryRecvError::Empty => "channel empty",
                TryRecvError::Closed => "channel closed",
            })
        }
    }

    impl std::error::Error for TryRecvError {}
}

use error::{RecvError, TryRecvError};

/// The sender is done, with or without a message. Returns the message if the receiver is gone.
fn leave<T>(shared: &Shared<State<T>>, message: Option<T>, place: Place) -> Option<T> {
    let (message, waker) = shared.act(place, |state| {
        state.sent = true;
        if state.closed {
            return (message, None);
        }
        state.message = message;
        (None, state.receiver.take())
    });
    if let Some(waker) = waker {
        wake(waker, place);
    }
    message
}

impl<T> Sender<T> {
    fn shared(&self) -> &Shared<State<T>> {
        self.shared.as_ref().expect("it has not sent yet")
    }

    /// Sends the message, or returns it as an error if the receiver is gone.
    #[track_caller]
    pub fn send(mut self, message: T) -> Result<(), T> {
        let shared = self.shared.take().expect("it has not sent yet");
        leave(&shared, Some(message), Location::caller()).map_or(Ok(()), Err)
    }

    /// Whether the receiver was dropped or closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared().look(Location::caller(), |state| state.closed)
    }

    /// Waits until the receiver is dropped or closed.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        let place = Location::caller();
        poll_fn(move |context| self.poll_closed_at(context, place))
    }

    /// Polls [`closed`](Self::closed).
    #[track_caller]
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(context, Location::caller())
    }

    fn poll_closed_at(&self, context: &Context<'_>, place: Place) -> Poll<()> {
        let closed = self.shared().act(place, |state| {
            if !state.closed {
                store(&mut state.sender, context);
            }
            state.closed
        });
        if closed {
            return Poll::Ready(());
        }
        self.shared().awaited(place, None);
        Poll::Pending
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            leave(&shared, None, shared.created_at());
        }
    }
}

impl<T> Receiver<T> {
    /// Closes the channel. A message that was already sent can still be received.
    #[track_caller]
    pub fn close(&mut self) {
        self.close_at(Location::caller());
    }

    fn close_at(&self, place: Place) {
        let waker = self.shared.act(place, |state| {
            state.closed = true;
            state.sender.take()
        });
        if let Some(waker) = waker {
            wake(waker, place);
        }
    }

    /// The message, if it was sent.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = self.shared.act(Location::caller(), |state| match state.message.take() {
            Some(message) => Ok(message),
            None if state.sent || state.closed => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        });
        self.done |= received.as_ref().err() != Some(&TryRecvError::Empty);
        received
    }

    /// Whether there is no message to receive now.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.shared.look(Location::caller(), |state| state.message.is_none())
    }

    /// Whether the message, or the end of the sender, was received.
    pub fn is_terminated(&self) -> bool {
        self.done
    }

    /// Waits for the message, from code that is not async.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        crate::future::block_on(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.done, "called after complete");
        let place = self.shared.created_at();
        let polled = self.shared.act(place, |state| match state.message.take() {
            Some(message) => Poll::Ready(Ok(message)),
            None if state.sent || state.closed => Poll::Ready(Err(RecvError(()))),
            None => {
                store(&mut state.receiver, context);
                Poll::Pending
            }
        });
        match polled {
            Poll::Ready(_) => self.done = true,
            Poll::Pending => self.shared.awaited(place, None),
        }
        polled
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if !self.done {
            self.close_at(self.shared.created_at());
            // A message that was not received is dropped with the receiver.
            drop(self.shared.peek(|state| state.message.take()));
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
