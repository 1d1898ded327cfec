//! Unbounded channels.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::bounded::ends;
use super::channel::Channel;
use super::error::{SendError, TryRecvError};
use crate::future::wake_all;

/// A channel for any number of messages.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let channel = Channel::new(None);
    (UnboundedSender { channel: Arc::clone(&channel) }, UnboundedReceiver { channel })
}

/// Sends messages, without waiting.
pub struct UnboundedSender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let place = Location::caller();
        let woken = self.channel.shared.act(place, |state| match state.permits.closed {
            true => Err(SendError(message)),
            false => Ok(state.push(message)),
        })?;
        wake_all(woken, place);
        Ok(())
    }
}

ends!(UnboundedSender, WeakUnboundedSender, UnboundedReceiver);
