//! The messages of a channel. The kernel manages their number and schedules operations; the
//! contents are here.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Outcome};

use crate::context;
use crate::runtime::{Runtime, Turn};
use crate::site::{self, Place};
use crate::tag::Tag;

/// A channel.
pub(super) struct Queue<T> {
    tag: Tag,
    bound: Option<usize>,
    state: Mutex<State<T>>,
    /// A message was sent, or the last sender was dropped.
    filled: Condvar,
    /// A message was taken, the receiver was dropped, or it waits (for rendezvous).
    emptied: Condvar,
}

struct State<T> {
    /// With their numbers, which rendezvous channels use.
    messages: VecDeque<(u64, T)>,
    senders: usize,
    receiver: bool,
    /// Number of messages taken: a rendezvous waits for its own.
    taken: u64,
    sent: u64,
    /// Whether the receiver waits.
    waiting: bool,
}

/// Why sending failed.
pub(super) enum Unsent<T> {
    Full(T),
    Disconnected(T),
}

/// Why receiving failed.
#[derive(PartialEq, Eq)]
pub(super) enum Missing {
    /// No message (yet), or timed out.
    Empty,
    Disconnected,
}

impl<T> Queue<T> {
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Self {
        let state = State {
            messages: VecDeque::new(),
            senders: 1,
            receiver: true,
            taken: 0,
            sent: 0,
            waiting: false,
        };
        Queue {
            tag: Tag::new(),
            bound,
            state: Mutex::new(state),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self, runtime: &'static Runtime) -> ObjectId {
        let capacity = self.bound.map_or(u32::MAX, |bound| u32::try_from(bound).unwrap_or(u32::MAX - 1));
        let mut fresh = false;
        let id = self.tag.id_or(runtime, || Object::Queue { capacity }, |_| fresh = true);
        if fresh {
            self.catch_up(runtime, id);
        }
        id
    }

    /// Notifies the kernel of a channel that was used before it was registered: sends its messages
    /// again.
    #[cold]
    fn catch_up(&self, runtime: &'static Runtime, id: ObjectId) {
        let (messages, senders, receiver) = {
            let state = self.state();
            (state.messages.len(), state.senders, state.receiver)
        };
        for _ in 0..messages {
            let _ = runtime.turn(Operation::new(Kind::TrySend, id, site::of(self.created_at())));
        }
        if senders == 0 {
            let _ = runtime.turn(Operation::new(Kind::Close, id, site::of(self.created_at())));
        } else {
            runtime.set_senders(id, senders);
        }
        if !receiver {
            let close = Operation::new(Kind::Close, id, site::of(self.created_at()));
            let _ = runtime.turn(Operation { argument: 1, ..close });
        }
    }

    fn created_at(&self) -> Place {
        self.tag.created_at()
    }

    /// Performs a step with an optional time limit.
    fn turn(&self, runtime: &'static Runtime, kind: Kind, limit: Option<Duration>, place: Place) -> Turn {
        let operation = Operation::new(kind, self.id(runtime), site::of(place));
        runtime.turn(runtime.limited(operation, limit))
    }

    /// Sends, waiting for room if `wait`.
    pub(super) fn send(&self, message: T, wait: bool, place: Place) -> Result<(), Unsent<T>> {
        let Some(runtime) = context::active() else { return self.send_real(message, wait) };
        let kind = if wait { Kind::Send } else { Kind::TrySend };
        match self.turn(runtime, kind, None, place) {
            Turn::Step(outcome) => {
                if !outcome.ok {
                    // Waiting ends without room only when the receiver is dropped.
                    let gone = wait || outcome.value == 1;
                    return Err(if gone { Unsent::Disconnected(message) } else { Unsent::Full(message) });
                }
                let number = outcome.value;
                self.state().messages.push_back((number, message));
                if wait && self.bound == Some(0) { self.meet(runtime, number, place) } else { Ok(()) }
            }
            // The thread unwinds, so it must not wait, and the bound is ignored.
            Turn::Quiet => {
                let mut state = self.state();
                if !state.receiver {
                    return Err(Unsent::Disconnected(message));
                }
                state.messages.push_back((u64::MAX, message));
                Ok(())
            }
        }
    }

    /// Waits until a message was taken. If no receiver is left, the sender gets it back.
    fn meet(&self, runtime: &'static Runtime, number: u64, place: Place) -> Result<(), Unsent<T>> {
        /// A sender that is unwound takes its message with it.
        struct Offer<'a, T>(&'a Queue<T>, u64);
        impl<T> Drop for Offer<'_, T> {
            fn drop(&mut self) {
                drop(self.0.withdraw(self.1));
            }
        }
        let offer = Offer(self, number);
        let leave = Operation::new(Kind::Leave, self.id(runtime), site::of(place));
        let turn = runtime.turn(Operation { argument: number, ..leave });
        std::mem::forget(offer);
        match turn {
            Turn::Step(outcome) if outcome.ok => Ok(()),
            _ => self.withdraw(number).map_or(Ok(()), |message| Err(Unsent::Disconnected(message))),
        }
    }

    fn withdraw(&self, number: u64) -> Option<T> {
        let mut state = self.state();
        let index = state.messages.iter().position(|(other, _)| *other == number)?;
        state.messages.remove(index).map(|(_, message)| message)
    }

    /// Receives, waiting if `wait`, at most for `limit`.
    pub(super) fn receive(&self, wait: bool, limit: Option<Duration>, place: Place) -> Result<T, Missing> {
        let Some(runtime) = context::active() else { return self.receive_real(wait, limit) };
        let kind = if wait { Kind::Receive } else { Kind::TryReceive };
        match self.turn(runtime, kind, limit, place) {
            Turn::Step(outcome) => self.received(wait, outcome),
            Turn::Quiet => loop {
                let mut state = self.state();
                if let Some((_, message)) = state.messages.pop_front() {
                    return Ok(message);
                }
                if state.senders == 0 {
                    return Err(Missing::Disconnected);
                }
                drop(state);
                if !wait || limit.is_some() {
                    return Err(Missing::Empty);
                }
                runtime.stall();
            },
        }
    }

    fn received(&self, wait: bool, outcome: Outcome) -> Result<T, Missing> {
        if outcome.timed_out {
            return Err(Missing::Empty);
        }
        if outcome.ok {
            // The kernel counted it, so it is here.
            let message = self.state().messages.pop_front();
            return message.map(|(_, message)| message).ok_or(Missing::Disconnected);
        }
        if wait || outcome.value == 1 { Err(Missing::Disconnected) } else { Err(Missing::Empty) }
    }

    /// A sender is added.
    pub(super) fn add_sender(&self) {
        let senders = {
            let mut state = self.state();
            state.senders += 1;
            state.senders
        };
        if let Some(runtime) = context::active().filter(|runtime| !runtime.is_over()) {
            runtime.set_senders(self.id(runtime), senders);
        }
    }

    /// A sender is dropped. Each is a step: the order determines which one is the last.
    pub(super) fn drop_sender(&self) {
        let runtime = context::active().filter(|runtime| !runtime.is_over());
        // The kernel must register the queue while this sender still counts.
        let id = runtime.map(|runtime| self.id(runtime));
        let last = {
            let mut state = self.state();
            state.senders = state.senders.saturating_sub(1);
            state.senders == 0
        };
        match (runtime, id) {
            // What follows may unwind if the execution ends here.
            (Some(runtime), Some(id)) => {
                let _ = runtime.turn(Operation::new(Kind::Close, id, site::of(self.created_at())));
            }
            _ if last => self.filled.notify_all(),
            _ => {}
        }
    }

    /// The receiver is dropped, and with it all messages.
    pub(super) fn drop_receiver(&self) {
        if let Some(runtime) = context::active().filter(|runtime| !runtime.is_over()) {
            // The messages are dropped after this step, before which other threads may send.
            let close = Operation::new(Kind::Close, self.id(runtime), site::of(self.created_at()));
            let _ = runtime.turn(Operation { argument: 1, ..close });
        }
        let messages = {
            let mut state = self.state();
            state.receiver = false;
            // Those of a rendezvous belong to their waiting senders.
            if self.bound == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.messages) }
        };
        self.emptied.notify_all();
        drop(messages);
    }

    // --- outside a check -------------------------------------------------------------------------

    fn send_real(&self, message: T, wait: bool) -> Result<(), Unsent<T>> {
        let mut state = self.state();
        loop {
            if !state.receiver {
                return Err(Unsent::Disconnected(message));
            }
            let room = match self.bound {
                None => true,
                Some(0) => state.messages.is_empty() && (wait || state.waiting),
                Some(bound) => state.messages.len() < bound,
            };
            if room {
                break;
            }
            if !wait {
                return Err(Unsent::Full(message));
            }
            state = self.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mine = state.sent;
        state.sent += 1;
        state.messages.push_back((mine, message));
        self.filled.notify_one();
        if self.bound == Some(0) {
            while state.taken <= mine && state.receiver {
                state = self.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            drop(state);
            return self.withdraw(mine).map_or(Ok(()), |message| Err(Unsent::Disconnected(message)));
        }
        Ok(())
    }

    fn receive_real(&self, wait: bool, limit: Option<Duration>) -> Result<T, Missing> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut state = self.state();
        loop {
            if let Some((_, message)) = state.messages.pop_front() {
                state.taken += 1;
                self.emptied.notify_all();
                return Ok(message);
            }
            if state.senders == 0 {
                return Err(Missing::Disconnected);
            }
            if !wait {
                return Err(Missing::Empty);
            }
            if self.bound == Some(0) && !state.waiting {
                state.waiting = true;
                self.emptied.notify_all();
            }
            state = match deadline {
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let now = Instant::now();
                    if now >= deadline {
                        state.waiting = false;
                        return Err(Missing::Empty);
                    }
                    self.filled.wait_timeout(state, deadline - now).unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.waiting = false;
        }
    }
}
