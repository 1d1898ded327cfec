//! `crossbeam::channel`: channels with many senders and many receivers.
//!
//! On a channel without capacity, `try_send` succeeds only if a receiver waits in `recv`, and
//! `select!` cannot send.

mod core;
mod error;
mod receiver;
mod select;
mod sender;

use std::sync::Arc;

use crate::time::{Duration, Instant};

pub use error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use receiver::{IntoIter, Iter, Receiver, TryIter};
#[doc(hidden)]
pub use select::{receive, select_branch, send};
pub use sender::Sender;

/// A channel for at most `capacity` messages; without capacity, sender and receiver rendezvous.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let channel = core::Channel::new(Some(capacity));
    (Sender::new(Arc::clone(&channel)), Receiver::of(channel))
}

/// A channel for any number of messages.
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let channel = core::Channel::new(None);
    (Sender::new(Arc::clone(&channel)), Receiver::of(channel))
}

/// A channel that delivers one message after this time.
pub fn after(duration: Duration) -> Receiver<Instant> {
    Receiver::timer(Instant::unwatched() + duration, None)
}

/// A channel that delivers one message at this moment.
pub fn at(when: Instant) -> Receiver<Instant> {
    Receiver::timer(when, None)
}

/// A channel that delivers a message after each period.
pub fn tick(period: Duration) -> Receiver<Instant> {
    Receiver::timer(Instant::unwatched() + period, Some(period))
}

/// A channel that never delivers a message.
pub fn never<T>() -> Receiver<T> {
    Receiver::never()
}
