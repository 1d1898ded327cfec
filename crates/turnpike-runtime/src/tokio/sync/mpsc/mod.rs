//! `tokio::sync::mpsc`: channels with many senders and one receiver.

mod bounded;
mod channel;
mod permit;
mod unbounded;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

/// Errors of channels.
pub mod error {
    use std::fmt;

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

    impl<T> From<SendError<T>> for TrySendError<T> {
        fn from(error: SendError<T>) -> Self {
            TrySendError::Closed(error.0)
        }
    }

    /// Why a message was not sent in time. Contains the message.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub enum SendTimeoutError<T> {
        /// There was no room in time.
        Timeout(T),
        /// The receiver was dropped.
        Closed(T),
    }

    impl<T> SendTimeoutError<T> {
        /// The message.
        pub fn into_inner(self) -> T {
            match self {
                SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message) => message,
            }
        }
    }

    impl<T> fmt::Debug for SendTimeoutError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let text = match self {
                SendTimeoutError::Timeout(_) => "Timeout(..)",
                SendTimeoutError::Closed(_) => "Closed(..)",
            };
            fmt::Debug::fmt(text, f)
        }
    }

    impl<T> fmt::Display for SendTimeoutError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self {
                SendTimeoutError::Timeout(_) => "timed out waiting on send operation",
                SendTimeoutError::Closed(_) => "channel closed",
            })
        }
    }

    impl<T> std::error::Error for SendTimeoutError<T> {}

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
