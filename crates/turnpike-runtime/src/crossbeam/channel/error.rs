//! Errors of channels.

use std::fmt;

/// No receiver is left. Contains the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// No sender is left, and the channel is empty.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct RecvError;

/// Why a message was not sent immediately. Contains the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room; without capacity, no receiver waits.
    Full(T),
    /// No receiver is left.
    Disconnected(T),
}

/// Why a message was not sent in time. Contains the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// No receiver is left.
    Disconnected(T),
}

/// Why there is no message.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// The channel is empty.
    Empty,
    /// No sender is left.
    Disconnected,
}

/// Why there was no message in time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvTimeoutError {
    /// No message came in time.
    Timeout,
    /// No sender is left.
    Disconnected,
}

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Disconnected(message) => message,
        }
    }
}

/// Which of two reasons an error has.
macro_rules! reasons {
    ($($name:ident $(<$of:ident>)?: $first:ident $is_first:ident, ($pattern:pat);)*) => {
        $(
            impl$(<$of>)? $name$(<$of>)? {
                #[doc = concat!("Whether it is `", stringify!($first), "`.")]
                pub fn $is_first(&self) -> bool {
                    !self.is_disconnected()
                }

                /// Whether the other side is gone.
                pub fn is_disconnected(&self) -> bool {
                    matches!(self, $pattern)
                }
            }
        )*
    };
}

reasons! {
    TrySendError<T>: Full is_full, (TrySendError::Disconnected(_));
    SendTimeoutError<T>: Timeout is_timeout, (SendTimeoutError::Disconnected(_));
    TryRecvError: Empty is_empty, (TryRecvError::Disconnected);
    RecvTimeoutError: Timeout is_timeout, (RecvTimeoutError::Disconnected);
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        TrySendError::Disconnected(error.0)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        SendTimeoutError::Disconnected(error.0)
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        TryRecvError::Disconnected
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        RecvTimeoutError::Disconnected
    }
}

macro_rules! errors {
    ($($name:ident $(<$of:ident>)?: $($pattern:pat => $debug:literal, $display:literal);+.)*) => {
        $(
            impl$(<$of>)? fmt::Display for $name$(<$of>)? {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    use $name::*;
                    f.write_str(match self {
                        $($pattern => $display,)+
                    })
                }
            }

            errors!(@debug $name $(<$of>)?: $($pattern => $debug);+);
        )*
    };
    (@debug $name:ident<$of:ident>: $($pattern:pat => $debug:literal);+) => {
        impl<$of> fmt::Debug for $name<$of> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                use $name::*;
                // In quotes, as those of crossbeam.
                let text = match self {
                    $($pattern => $debug,)+
                };
                fmt::Debug::fmt(text, f)
            }
        }

        impl<$of: Send> std::error::Error for $name<$of> {}
    };
    (@debug $name:ident: $($pattern:pat => $debug:literal);+) => {
        impl std::error::Error for $name {}
    };
}

errors! {
    TrySendError<T>: Full(_) => "Full(..)", "sending on a full channel";
        Disconnected(_) => "Disconnected(..)", "sending on a disconnected channel".
    SendTimeoutError<T>: Timeout(_) => "SendTimeoutError(..)", "timed out waiting on send operation";
        Disconnected(_) => "SendTimeoutError(..)", "sending on a disconnected channel".
    TryRecvError: Empty => "Empty", "receiving on an empty channel";
        Disconnected => "Disconnected", "receiving on an empty and disconnected channel".
    RecvTimeoutError: Timeout => "Timeout", "timed out waiting on receive operation";
        Disconnected => "Disconnected", "channel is empty and disconnected".
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt("SendError(..)", f)
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sending on a disconnected channel")
    }
}

impl<T: Send> std::error::Error for SendError<T> {}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("receiving on an empty and disconnected channel")
    }
}

impl std::error::Error for RecvError {}
