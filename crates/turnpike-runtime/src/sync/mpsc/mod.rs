//! `std::sync::mpsc`: unbounded, bounded and rendezvous channels.
//!
//! The error types are the standard library's. Outside a check, a mutex and condition variables
//! implement them.

mod queue;
mod receiver;
mod sender;

use std::sync::Arc;

use queue::Queue;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A channel that is never full.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue::new(None));
    (Sender::new(queue.clone()), Receiver::new(queue))
}

/// A channel for at most `bound` messages; with 0, a sender waits until its message is taken.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let queue = Arc::new(Queue::new(Some(bound)));
    (SyncSender::new(queue.clone()), Receiver::new(queue))
}
