//! The messages of a channel, and the senders and receivers that wait.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::error::{RecvError, TryRecvError, TrySendError};
use crate::future::{Shared, wake_all};
use crate::runtime::Why;
use crate::site::Place;

pub(super) struct Channel<T> {
    pub(super) shared: Shared<State<T>>,
    /// The bound, if there is one; with 0, sender and receiver rendezvous.
    pub(super) capacity: Option<usize>,
}

pub(super) struct State<T> {
    pub(super) messages: VecDeque<T>,
    /// Messages of senders that wait until they are taken, by ticket.
    offers: BTreeMap<u64, T>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
    /// The wakers of those that wait for a change, by ticket.
    waiting: BTreeMap<u64, Waker>,
    tickets: u64,
    /// Receivers that wait only for a message of this channel.
    committed: usize,
}

/// A sender or receiver that waits at a channel.
#[derive(Default)]
pub(super) struct Ticket {
    number: Option<u64>,
    /// Its message is offered.
    offered: bool,
    committed: bool,
}

impl<T> State<T> {
    fn ticket(&mut self, ticket: &mut Ticket) -> u64 {
        *ticket.number.get_or_insert_with(|| {
            self.tickets += 1;
            self.tickets
        })
    }

    /// Returns the wakers of all that wait, so that they try again.
    fn wake(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    fn take(&mut self) -> Option<T> {
        self.messages.pop_front().or_else(|| self.offers.pop_first().map(|(_, message)| message))
    }
}

impl<T> Channel<T> {
    #[track_caller]
    pub(super) fn new(capacity: Option<usize>) -> Arc<Self> {
        let state = State {
            messages: VecDeque::new(),
            offers: BTreeMap::new(),
            senders: 1,
            receivers: 1,
            waiting: BTreeMap::new(),
            tickets: 0,
            committed: 0,
        };
        Arc::new(Channel { shared: Shared::new("channel", state), capacity })
    }

    /// One end is dropped.
    pub(super) fn leave(&self, count: impl FnOnce(&mut State<T>) -> &mut usize) {
        let place = self.shared.created_at();
        let (woken, unwanted) = self.shared.act(place, |state| {
            let left = count(state);
            *left -= 1;
            let last = *left == 0;
            let unwanted = (state.receivers == 0).then(|| std::mem::take(&mut state.messages));
            (if last { state.wake() } else { Vec::new() }, unwanted)
        });
        drop(unwanted);
        wake_all(woken, place);
    }

    pub(super) fn try_send(&self, message: T, place: Place) -> Result<(), TrySendError<T>> {
        let woken = self.shared.act(place, |state| {
            if state.receivers == 0 {
                return Err(TrySendError::Disconnected(message));
            }
            let room = match self.capacity {
                None => true,
                Some(0) => state.messages.len() < state.committed,
                Some(capacity) => state.messages.len() < capacity,
            };
            if !room {
                return Err(TrySendError::Full(message));
            }
            state.messages.push_back(message);
            Ok(state.wake())
        })?;
        wake_all(woken, place);
        Ok(())
    }

    /// Sends the message in the slot when there is room, or when it was taken. It stays there if no
    /// receiver is left.
    pub(super) fn poll_send(
        &self,
        slot: &mut Option<T>,
        ticket: &mut Ticket,
        context: &Context<'_>,
        place: Place,
    ) -> Poll<Result<(), ()>> {
        let (polled, woken) = self.shared.act(place, |state| {
            let number = state.ticket(ticket);
            if ticket.offered {
                match state.offers.remove(&number) {
                    None => {
                        ticket.offered = false;
                        return (Poll::Ready(Ok(())), Vec::new());
                    }
                    message => *slot = message,
                }
                ticket.offered = false;
            }
            if state.receivers == 0 {
                return (Poll::Ready(Err(())), Vec::new());
            }
            let room = self.capacity.is_none_or(|capacity| state.messages.len() < capacity);
            let message = slot.take().expect("it is sent once");
            if room {
                state.messages.push_back(message);
                return (Poll::Ready(Ok(())), state.wake());
            }
            let mut woken = Vec::new();
            if self.capacity == Some(0) {
                state.offers.insert(number, message);
                ticket.offered = true;
                woken = state.wake();
            } else {
                *slot = Some(message);
            }
            state.waiting.insert(number, context.waker().clone());
            (Poll::Pending, woken)
        });
        wake_all(woken, place);
        if polled.is_pending() {
            self.shared.awaited_because(place, None, Some(Why::Full));
        }
        polled
    }

    pub(super) fn try_recv(&self, place: Place) -> Result<T, TryRecvError> {
        let (message, woken) = self.shared.act(place, |state| match state.take() {
            Some(message) => Ok((message, state.wake())),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        })?;
        wake_all(woken, place);
        Ok(message)
    }

    /// `committed`: the receiver waits for nothing else.
    pub(super) fn poll_recv(
        &self,
        ticket: &mut Ticket,
        committed: bool,
        context: &Context<'_>,
        place: Place,
    ) -> Poll<Result<T, RecvError>> {
        let (polled, woken) = self.shared.act(place, |state| {
            if std::mem::take(&mut ticket.committed) {
                state.committed -= 1;
            }
            match state.take() {
                Some(message) => (Poll::Ready(Ok(message)), state.wake()),
                None if state.senders == 0 => (Poll::Ready(Err(RecvError)), Vec::new()),
                None => {
                    let number = state.ticket(ticket);
                    state.waiting.insert(number, context.waker().clone());
                    state.committed += usize::from(committed);
                    ticket.committed = committed;
                    (Poll::Pending, Vec::new())
                }
            }
        });
        wake_all(woken, place);
        if polled.is_pending() {
            let senders = self.shared.peek(|state| state.senders);
            self.shared.awaited_because(place, None, Some(Why::Empty { senders }));
        }
        polled
    }

    /// Stops waiting. Returns the message if it was offered and not taken.
    pub(super) fn give_up(&self, ticket: &mut Ticket, place: Place) -> Option<T> {
        let number = ticket.number.take()?;
        let visible = ticket.offered || ticket.committed;
        let clear = |state: &mut State<T>| {
            state.waiting.remove(&number);
            if std::mem::take(&mut ticket.committed) {
                state.committed -= 1;
            }
            state.offers.remove(&number)
        };
        if visible {
            return self.shared.act(place, clear);
        }
        // Not a step: dropping the waker of a dropped future has no observable effect.
        self.shared.peek(clear)
    }
}
