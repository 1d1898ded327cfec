//! `tokio::sync::mpsc`: channels with many senders and one receiver.

mod bounded;
mod channel;
mod unbounded;

pub use bounded::{OwnedPermit, Permit, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

/// Errors of channels.
pub mod error {
    use std::fmt;

    pub use super::bounded::SendTimeoutError;

    /// The receiver was dropped. Contains the message.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub struct SendError<T>(pub T);

    /// Why a message was not sent immediately. Contains the message.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub enum TrySendError<T> {
        /// There is no room.
        Full(T),
        /// The receiver was dropped.
        Closed(T),
    }

    impl<T> TrySendError<T> {
        /// The message.
        pub fn into_inner(self) -> T {
            match self {
                TrySendError::Full(message) | TrySendError::Closed(message) => message,
            }
        }
    }

    /// Why no message was received.
    #[derive(PartialEq, Eq, Clone, Copy, Debug)]
    pub enum TryRecvError {
        /// The channel is empty.
        Empty,
        /// The channel is closed and empty.
        Disconnected,
    }

    impl<T> fmt::Debug for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("SendError").finish_non_exhaustive()
        }
    }

    impl<T> fmt::Display for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl<T> std::error::Error for SendError<T> {}

    impl<T> fmt::Debug for TrySendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let text = match self {
                TrySendError::Full(_) => "Full(..)",
                TrySendError::Closed(_) => "Closed(..)",
            };
            fmt::Debug::fmt(text, f)
        }
    }

    impl<T> fmt::Display for TrySendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                TrySendError::Full(_) => "no available capacity",
                TrySendError::Closed(_) => "channel closed",
            })
        }
    }

    impl<T> std::error::Error for TrySendError<T> {}

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                TryRecvError::Empty => "receiving on an empty channel",
                TryRecvError::Disconnected => "receiving on a closed channel",
            })
        }
    }

    impl std::error::Error for TryRecvError {}
}
