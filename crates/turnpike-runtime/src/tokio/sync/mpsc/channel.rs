//! The common parts of bounded and unbounded channels.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::error::TryRecvError;
use crate::future::{Shared, store, wake_all};
use crate::runtime::Why;
use crate::site::Place;
use crate::tokio::sync::permits::PermitState;

/// A channel. An unbounded one has unlimited permits.
pub(super) struct Channel<T> {
    pub(super) shared: Shared<State<T>>,
    pub(super) bound: Option<usize>,
}

pub(super) struct State<T> {
    /// Room for messages. Closed when the receiver is closed.
    pub(super) permits: PermitState,
    pub(super) messages: VecDeque<T>,
    pub(super) senders: usize,
    pub(super) weak_senders: usize,
    receiver: Option<Waker>,
    /// Senders that wait until the receiver is dropped, by number.
    watchers: BTreeMap<u64, Option<Waker>>,
    numbers: u64,
}

impl<T> State<T> {
    /// A message takes reserved room. Returns the waker to use.
    pub(super) fn push(&mut self, message: T) -> Option<Waker> {
        self.messages.push_back(message);
        self.receiver.take()
    }

    /// Reserved room for so many messages is released unused.
    pub(super) fn give_back(&mut self, room: usize) -> Vec<Waker> {
        let woken = self.permits.give(room);
        self.with_receiver(woken)
    }

    /// A sender stops waiting for room.
    pub(super) fn give_up(&mut self, wanted: usize, ticket: u64) -> Vec<Waker> {
        let woken = self.permits.give_up(wanted, ticket);
        self.with_receiver(woken)
    }

    /// The receiver may wait for the last room to be released.
    fn with_receiver(&mut self, mut woken: Vec<Waker>) -> Vec<Waker> {
        if self.permits.closed {
            woken.extend(self.receiver.take());
        }
        woken
    }

    fn pop(&mut self, bounded: bool) -> Option<(T, Vec<Waker>)> {
        let message = self.messages.pop_front()?;
        Some((message, if bounded { self.permits.give(1) } else { Vec::new() }))
    }

    /// Whether no message can come: no sender is left, or no sender has room or can get any.
    fn is_over(&self, bound: Option<usize>) -> bool {
        let idle = bound.is_none_or(|bound| self.permits.free() == bound);
        self.senders == 0 || (self.permits.closed && idle)
    }
}

impl<T> Channel<T> {
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Arc<Self> {
        let state = State {
            permits: PermitState::new(bound.unwrap_or(usize::MAX >> 3)),
            messages: VecDeque::new(),
            senders: 1,
            weak_senders: 0,
            receiver: None,
            watchers: BTreeMap::new(),
            numbers: 0,
        };
        Arc::new(Channel { shared: Shared::new("channel", state), bound })
    }

    pub(super) fn place(&self) -> Place {
        self.shared.created_at()
    }

    pub(super) fn add_sender(&self) {
        self.shared.clone_handle(|state| state.senders += 1);
    }

    pub(super) fn drop_sender(&self) {
        let place = self.place();
        let woken = self.shared.act(place, |state| {
            state.senders -= 1;
            if state.senders == 0 { state.receiver.take() } else { None }
        });
        wake_all(woken, place);
    }

    /// Adds a sender; there is one already.
    pub(super) fn upgrade(&self, place: Place) -> bool {
        self.shared.act(place, |state| {
            state.senders += usize::from(state.senders > 0);
            state.senders > 0
        })
    }

    /// The receiver is closed.
    pub(super) fn close(&self, place: Place) {
        let woken = self.shared.act(place, |state| {
            let mut woken = state.permits.close();
            woken.extend(state.watchers.values_mut().filter_map(Option::take));
            woken
        });
        wake_all(woken, place);
    }

    /// The receiver is dropped, and with it all messages.
    pub(super) fn drop_receiver(&self) {
        self.close(self.place());
        let messages = self.shared.peek(|state| std::mem::take(&mut state.messages));
        drop(messages);
    }

    pub(super) fn try_recv(&self, place: Place) -> Result<T, TryRecvError> {
        let bounded = self.bound.is_some();
        let (message, woken) = self.shared.act(place, |state| {
            let over = state.is_over(self.bound);
            let missing = if over { TryRecvError::Disconnected } else { TryRecvError::Empty };
            state.pop(bounded).ok_or(missing)
        })?;
        wake_all(woken, place);
        Ok(message)
    }

    pub(super) fn poll_recv(&self, context: &Context<'_>, place: Place) -> Poll<Option<T>> {
        let bounded = self.bound.is_some();
        let polled = self.shared.act(place, |state| match state.pop(bounded) {
            Some(message) => Poll::Ready(Some(message)),
            None if state.is_over(self.bound) => Poll::Ready(None),
            None => {
                store(&mut state.receiver, context);
                Poll::Pending
            }
        });
        match polled {
            Poll::Ready(Some((message, woken))) => {
                wake_all(woken, place);
                Poll::Ready(Some(message))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                self.awaits_message(place);
                Poll::Pending
            }
        }
    }

    pub(super) fn recv(&self, place: Place) -> impl Future<Output = Option<T>> {
        poll_fn(move |context| self.poll_recv(context, place))
    }

    /// Takes the available messages, at most `limit`, and waits if there are none.
    pub(super) fn poll_recv_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        context: &Context<'_>,
        place: Place,
    ) -> Poll<usize> {
        let (polled, woken) = self.shared.act(place, |state| {
            let (mut count, mut woken) = (0, Vec::new());
            while count < limit
                && let Some((message, wakers)) = state.pop(self.bound.is_some())
            {
                buffer.push(message);
                woken.extend(wakers);
                count += 1;
            }
            if count > 0 || limit == 0 || state.is_over(self.bound) {
                return (Poll::Ready(count), woken);
            }
            store(&mut state.receiver, context);
            (Poll::Pending, woken)
        });
        wake_all(woken, place);
        if polled.is_pending() {
            self.awaits_message(place);
        }
        polled
    }

    fn awaits_message(&self, place: Place) {
        let senders = self.shared.peek(|state| state.senders);
        self.shared.awaited_because(place, None, Some(Why::Empty { senders }));
    }

    /// Waits for messages, and takes at most `limit`.
    pub(super) async fn recv_many(&self, buffer: &mut Vec<T>, limit: usize, place: Place) -> usize {
        poll_fn(|context| self.poll_recv_many(buffer, limit, context, place)).await
    }

    /// Waits until the receiver is dropped or closed.
    pub(super) async fn closed(&self, place: Place) {
        let mut watch = Watch { channel: self, number: None };
        poll_fn(|context| watch.poll(context, place)).await;
    }

    pub(super) fn look<R>(&self, place: Place, f: impl FnOnce(&State<T>) -> R) -> R {
        self.shared.look(place, f)
    }
}

/// A sender that waits until the receiver is dropped.
struct Watch<'a, T> {
    channel: &'a Channel<T>,
    number: Option<u64>,
}

impl<T> Watch<'_, T> {
    fn poll(&mut self, context: &Context<'_>, place: Place) -> Poll<()> {
        let closed = self.channel.shared.act(place, |state| {
            if state.permits.closed {
                return true;
            }
            let number = *self.number.get_or_insert_with(|| {
                state.numbers += 1;
                state.numbers
            });
            store(state.watchers.entry(number).or_default(), context);
            false
        });
        if closed {
            return Poll::Ready(());
        }
        self.channel.shared.awaited(place, None);
        Poll::Pending
    }
}

impl<T> Drop for Watch<'_, T> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // Not a step: dropping the waker of a dropped future has no observable effect.
            self.channel.shared.peek(|state| state.watchers.remove(&number));
        }
    }
}
