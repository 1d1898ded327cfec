//! `tokio::sync::watch`: a value whose changes receivers can wait for. Only the latest is kept.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, store, wake_all};
use crate::site::Place;
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A channel with this value.
#[track_caller]
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(value);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// Errors of watch channels.
pub mod error {
    use std::fmt;

    /// There is no receiver. Contains the value.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub struct SendError<T>(pub T);

    /// No sender is left.
    #[derive(Debug, Clone)]
    pub struct RecvError(pub(super) ());

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

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl std::error::Error for RecvError {}
}

use error::{RecvError, SendError};

struct Watched<T> {
    /// Held while the value is borrowed: a sender waits for that.
    value: RwLock<T>,
    shared: Shared<State>,
}

struct State {
    version: u64,
    senders: usize,
    receivers: usize,
    /// Wakers of receivers that wait for a change, and of senders that wait for the end, by
    /// number.
    wakers: BTreeMap<u64, Option<Waker>>,
    numbers: u64,
}

impl<T> Watched<T> {
    fn read(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.value.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready` returns a result; it is called in each step.
    async fn wait<R>(&self, place: Place, mut ready: impl FnMut(&State) -> Option<R>) -> R {
        let mut waiter = Waiter { watched: self, number: None };
        poll_fn(|context| waiter.poll(context, place, &mut ready)).await
    }

    fn wake(&self, place: Place, change: impl FnOnce(&mut State) -> bool) {
        let woken: Vec<Waker> = self.shared.act(place, |state| match change(state) {
            true => state.wakers.values_mut().filter_map(Option::take).collect(),
            false => Vec::new(),
        });
        wake_all(woken, place);
    }
}

struct Waiter<'a, T> {
    watched: &'a Watched<T>,
    number: Option<u64>,
}

impl<T> Waiter<'_, T> {
    fn poll<R>(
        &mut self,
        context: &Context<'_>,
        place: Place,
        ready: &mut impl FnMut(&State) -> Option<R>,
    ) -> Poll<R> {
        let result = self.watched.shared.act(place, |state| {
            let result = ready(state);
            if result.is_none() {
                let number = *self.number.get_or_insert_with(|| {
                    state.numbers += 1;
                    state.numbers
                });
                store(state.wakers.entry(number).or_default(), context);
            }
            result
        });
        match result {
            Some(result) => Poll::Ready(result),
            None => {
                self.watched.shared.awaited(place, None);
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Waiter<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // Not a step: dropping the waker of a dropped future has no observable effect.
            self.watched.shared.peek(|state| state.wakers.remove(&number));
        }
    }
}

/// Changes the value.
pub struct Sender<T> {
    watched: Arc<Watched<T>>,
}

/// Waits for changes of the value.
pub struct Receiver<T> {
    watched: Arc<Watched<T>>,
    seen: u64,
}

/// The value, which cannot change while this exists.
pub struct Ref<'a, T> {
    guard: RwLockReadGuard<'a, T>,
    changed: bool,
}

impl<T> Ref<'_, T> {
    /// Whether the receiver had not seen it before.
    pub fn has_changed(&self) -> bool {
        self.changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Sender<T> {
    /// A channel without receivers.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let state = State { version: 0, senders: 1, receivers: 0, wakers: BTreeMap::new(), numbers: 0 };
        let watched = Watched { value: RwLock::new(value), shared: Shared::new("watch", state) };
        Sender { watched: Arc::new(watched) }
    }

    /// Changes the value, unless there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.watched.shared.look(Location::caller(), |state| state.receivers == 0) {
            return Err(SendError(value));
        }
        drop(self.replace(value, Location::caller()));
        Ok(())
    }

    /// Changes the value, and returns the previous one.
    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        self.replace(value, Location::caller())
    }

    fn replace(&self, mut value: T, place: Place) -> T {
        self.modify(place, |old| {
            std::mem::swap(old, &mut value);
            true
        });
        value
    }

    /// Changes the value by a function.
    #[track_caller]
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        self.modify(Location::caller(), |value| {
            modify(value);
            true
        });
    }

    /// Changes the value by a function that returns whether it did. If not, receivers are not
    /// notified.
    #[track_caller]
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        self.modify(Location::caller(), modify)
    }

    fn modify(&self, place: Place, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let mut value = self.watched.write();
        let modified = modify(&mut value);
        if !modified {
            return false;
        }
        let woken: Vec<Waker> = self.watched.shared.act(place, |state| {
            state.version += 1;
            state.wakers.values_mut().filter_map(Option::take).collect()
        });
        drop(value);
        wake_all(woken, place);
        true
    }

    /// The value.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { guard: self.watched.read(), changed: false }
    }

    /// A receiver that has seen the current value.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        let seen = self.watched.shared.act(Location::caller(), |state| {
            state.receivers += 1;
            state.version
        });
        Receiver { watched: Arc::clone(&self.watched), seen }
    }

    /// Waits until no receiver is left.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.watched.wait(Location::caller(), |state| (state.receivers == 0).then_some(()))
    }

    /// Whether no receiver is left.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.watched.shared.look(Location::caller(), |state| state.receivers == 0)
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.watched.shared.count_handles(Location::caller(), |state| state.receivers)
    }

    /// The number of senders.
    #[track_caller]
    pub fn sender_count(&self) -> usize {
        self.watched.shared.count_handles(Location::caller(), |state| state.senders)
    }

    /// Whether both change the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.watched, &other.watched)
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Sender::new(T::default())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.watched.shared.clone_handle(|state| state.senders += 1);
        Sender { watched: Arc::clone(&self.watched) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.watched.wake(self.watched.shared.created_at(), |state| {
            state.senders -= 1;
            state.senders == 0
        });
    }
}

impl<T> Receiver<T> {
    /// The value, without marking it as seen.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let guard = self.watched.read();
        let version = self.watched.shared.look(Location::caller(), |state| state.version);
        Ref { guard, changed: version != self.seen }
    }

    /// The value, marked as seen.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let guard = self.watched.read();
        let version = self.watched.shared.look(Location::caller(), |state| state.version);
        let changed = version != self.seen;
        self.seen = version;
        Ref { guard, changed }
    }

    /// Whether there is an unseen value. An error if no sender is left.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let (version, senders) =
            self.watched.shared.look(Location::caller(), |state| (state.version, state.senders));
        if senders == 0 { Err(RecvError(())) } else { Ok(version != self.seen) }
    }

    /// Marks the value as unseen.
    pub fn mark_changed(&mut self) {
        self.seen = self.seen.wrapping_sub(1);
    }

    /// Marks the value as seen.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        self.seen = self.watched.shared.look(Location::caller(), |state| state.version);
    }

    /// Waits for an unseen value, and marks it as seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let (watched, seen, place) = (&self.watched, &mut self.seen, Location::caller());
        watched.wait(place, move |state| change(state, seen))
    }

    /// Waits for a value that satisfies `condition`, and marks it as seen.
    #[track_caller]
    pub fn wait_for<F>(&mut self, mut condition: F) -> impl Future<Output = Result<Ref<'_, T>, RecvError>>
    where
        F: FnMut(&T) -> bool,
    {
        let place = Location::caller();
        async move {
            let (watched, seen) = (&self.watched, &mut self.seen);
            let mut closed = false;
            loop {
                {
                    let guard = watched.read();
                    let version = watched.shared.look(place, |state| state.version);
                    let changed = *seen != version;
                    *seen = version;
                    if (!closed || changed) && condition(&guard) {
                        return Ok(Ref { guard, changed });
                    }
                }
                if closed {
                    return Err(RecvError(()));
                }
                closed = watched.wait(place, |state| change(state, seen)).await.is_err();
            }
        }
    }

    /// Whether no sender is left.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.watched.shared.look(Location::caller(), |state| state.senders == 0)
    }

    /// Whether both see the same value.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.watched, &other.watched)
    }
}

/// Whether there is an unseen value; an error if there can be none any more.
fn change(state: &State, seen: &mut u64) -> Option<Result<(), RecvError>> {
    if state.version != *seen {
        *seen = state.version;
        return Some(Ok(()));
    }
    (state.senders == 0).then_some(Err(RecvError(())))
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.watched.shared.clone_handle(|state| state.receivers += 1);
        Receiver { watched: Arc::clone(&self.watched), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.watched.wake(self.watched.shared.created_at(), |state| {
            state.receivers -= 1;
            state.receivers == 0
        });
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::Receiver").finish_non_exhaustive()
    }
}
