//! Reserved room in a bounded channel.

use std::fmt;
use std::panic::Location;

use super::bounded::Sender;
use super::channel::Channel;
use crate::future::wake_all;
use crate::site::Place;

/// Reserved room for a message.
#[must_use]
pub struct Permit<'a, T> {
    pub(super) channel: &'a Channel<T>,
    pub(super) place: Place,
}

impl<T> Permit<'_, T> {
    /// Uses it to send a message.
    #[track_caller]
    pub fn send(self, message: T) {
        let place = Location::caller();
        wake_all(self.channel.shared.act(place, |state| state.push(message)), place);
        std::mem::forget(self);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        wake_all(self.channel.shared.act(self.place, |state| state.give_back(1)), self.place);
    }
}

/// Reserved room for a message, without borrowing the sender.
#[must_use]
pub struct OwnedPermit<T> {
    pub(super) sender: Option<Sender<T>>,
    pub(super) place: Place,
}

impl<T> OwnedPermit<T> {
    /// Uses it to send a message. Returns the sender.
    #[track_caller]
    pub fn send(mut self, message: T) -> Sender<T> {
        let place = Location::caller();
        let sender = self.sender.take().expect("it is used once");
        wake_all(sender.channel.shared.act(place, |state| state.push(message)), place);
        sender
    }

    /// Whether both are for the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender.as_ref().zip(other.sender.as_ref()).is_some_and(|(one, two)| one.same_channel(two))
    }

    /// Whether it is for the channel of `sender`.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender.as_ref().is_some_and(|own| own.same_channel(sender))
    }

    /// Returns the room to the channel, and the sender.
    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        let place = Location::caller();
        let sender = self.sender.take().expect("it is used once");
        wake_all(sender.channel.shared.act(place, |state| state.give_back(1)), place);
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            wake_all(sender.channel.shared.act(self.place, |state| state.give_back(1)), self.place);
        }
    }
}

/// Reserved room for several messages.
#[must_use]
pub struct PermitIterator<'a, T> {
    pub(super) channel: &'a Channel<T>,
    pub(super) left: usize,
    pub(super) place: Place,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { channel: self.channel, place: self.place })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}

impl<T> std::iter::FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            wake_all(self.channel.shared.act(self.place, |state| state.give_back(self.left)), self.place);
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("capacity", &self.left).finish_non_exhaustive()
    }
}
