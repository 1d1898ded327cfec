//! `tokio::sync::broadcast`: every receiver gets every message, as long as it keeps up.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, wake_all};
use crate::runtime::Why;
use crate::site::Place;

/// A channel that keeps the last `capacity` messages, rounded up to a power of two.
///
/// # Panics
///
/// If the capacity is 0 or more than `usize::MAX / 2`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// Errors of broadcast channels.
pub mod error {
    use std::fmt;

    /// There is no receiver. Contains the message.
    #[derive(Debug, PartialEq, Eq)]
    pub struct SendError<T>(pub T);

    /// Why there is no message.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum RecvError {
        /// The channel is closed and empty.
        Closed,
        /// This many messages were dropped because the receiver was too slow.
        Lagged(u64),
    }

    /// Why no message is available now.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum TryRecvError {
        /// The channel is empty.
        Empty,
        /// The channel is closed and empty.
        Closed,
        /// This many messages were dropped because the receiver was too slow.
        Lagged(u64),
    }

    impl<T> fmt::Display for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl<T: fmt::Debug> std::error::Error for SendError<T> {}

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                RecvError::Closed => f.write_str("channel closed"),
                RecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
            }
        }
    }

    impl std::error::Error for RecvError {}

    impl fmt::Display for TryRecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                TryRecvError::Empty => f.write_str("channel empty"),
                TryRecvError::Closed => f.write_str("channel closed"),
                TryRecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
            }
        }
    }

    impl std::error::Error for TryRecvError {}
}

use error::{RecvError, SendError, TryRecvError};

struct State<T> {
    capacity: usize,
    /// The last messages, each with the number of receivers that have not seen it.
    messages: VecDeque<(Option<T>, usize)>,
    /// Number of messages sent.
    sent: u64,
    senders: usize,
    weak_senders: usize,
    receivers: usize,
    wakers: Vec<Waker>,
    /// Senders that wait until no receiver is left.
    closers: Vec<Waker>,
}

impl<T: Clone> State<T> {
    fn next(&mut self, next: &mut u64) -> Result<T, TryRecvError> {
        let oldest = self.sent - self.messages.len() as u64;
        if *next < oldest {
            let missed = oldest - *next;
            *next = oldest;
            return Err(TryRecvError::Lagged(missed));
        }
        let Some(slot) = self.messages.get_mut((*next - oldest) as usize) else {
            return Err(if self.senders == 0 { TryRecvError::Closed } else { TryRecvError::Empty });
        };
        *next += 1;
        slot.1 -= 1;
        let message = if slot.1 == 0 { slot.0.take() } else { slot.0.clone() };
        Ok(message.expect("a receiver has not seen it"))
    }
}

impl<T> State<T> {
    /// The number of messages that some receiver has not seen.
    fn unseen(&self) -> usize {
        self.messages.iter().rev().take_while(|slot| slot.1 > 0).count()
    }
}

/// Sends messages.
pub struct Sender<T> {
    shared: Arc<Shared<State<T>>>,
}

/// Receives messages.
pub struct Receiver<T> {
    shared: Arc<Shared<State<T>>>,
    next: u64,
}

impl<T> Sender<T> {
    /// A channel without receivers.
    ///
    /// # Panics
    ///
    /// If the capacity is 0 or more than `usize::MAX / 2`.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(capacity <= usize::MAX >> 1, "broadcast channel capacity exceeded `usize::MAX / 2`");
        let state = State {
            capacity: capacity.next_power_of_two(),
            messages: VecDeque::new(),
            sent: 0,
            senders: 1,
            weak_senders: 0,
            receivers: 0,
            wakers: Vec::new(),
            closers: Vec::new(),
        };
        Sender { shared: Arc::new(Shared::new("broadcast", state)) }
    }

    /// Sends a message to all receivers, and returns their number.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<usize, SendError<T>> {
        let place = Location::caller();
        let (receivers, woken, old) = self.shared.act(place, |state| {
            if state.receivers == 0 {
                return Err(SendError(message));
            }
            let full = state.messages.len() == state.capacity;
            let old = if full { state.messages.pop_front() } else { None };
            state.messages.push_back((Some(message), state.receivers));
            state.sent += 1;
            Ok((state.receivers, std::mem::take(&mut state.wakers), old))
        })?;
        drop(old);
        wake_all(woken, place);
        Ok(receivers)
    }

    /// A receiver of all messages from now on.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.shared, Location::caller())
    }

    /// The number of messages that some receiver has not seen.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.shared.look(Location::caller(), |state| state.unseen())
    }

    /// Whether all messages were seen.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.shared.look(Location::caller(), |state| state.unseen() == 0)
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.receivers)
    }

    /// Waits until no receiver is left.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let place = Location::caller();
        poll_fn(move |context| {
            let closed = self.shared.act(place, |state| {
                if state.receivers > 0 {
                    store_once(&mut state.closers, context);
                }
                state.receivers == 0
            });
            if closed {
                return Poll::Ready(());
            }
            self.shared.awaited(place, None);
            Poll::Pending
        })
    }

    /// A sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        self.shared.clone_handle(|state| state.weak_senders += 1);
        WeakSender { shared: Arc::clone(&self.shared) }
    }

    /// The number of senders.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.senders)
    }

    /// The number of weak senders.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.weak_senders)
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

/// Stores the waker of the future that is being polled, unless it is already there.
fn store_once(wakers: &mut Vec<Waker>, context: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
        wakers.push(context.waker().clone());
    }
}

/// A sender that does not keep the channel open.
pub struct WeakSender<T> {
    shared: Arc<Shared<State<T>>>,
}

impl<T> WeakSender<T> {
    /// A sender, if there is one left.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let open = self.shared.act(Location::caller(), |state| {
            state.senders += usize::from(state.senders > 0);
            state.senders > 0
        });
        open.then(|| Sender { shared: Arc::clone(&self.shared) })
    }

    /// The number of senders.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.senders)
    }

    /// The number of weak senders.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.weak_senders)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        self.shared.clone_handle(|state| state.weak_senders += 1);
        WeakSender { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.peek(|state| state.weak_senders -= 1);
    }
}

fn subscribe<T>(shared: &Arc<Shared<State<T>>>, place: Place) -> Receiver<T> {
    let next = shared.act(place, |state| {
        state.receivers += 1;
        state.sent
    });
    Receiver { shared: Arc::clone(shared), next }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.clone_handle(|state| state.senders += 1);
        Sender { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let place = self.shared.created_at();
        let woken = self.shared.act(place, |state| {
            state.senders -= 1;
            if state.senders == 0 { std::mem::take(&mut state.wakers) } else { Vec::new() }
        });
        wake_all(woken, place);
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for the next message. No message is lost if this future is dropped.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let place = Location::caller();
        poll_fn(move |context| self.poll_recv(context, place))
    }

    fn poll_recv(&mut self, context: &Context<'_>, place: Place) -> Poll<Result<T, RecvError>> {
        let next = &mut self.next;
        let polled = self.shared.act(place, |state| match state.next(next) {
            Ok(message) => Poll::Ready(Ok(message)),
            Err(TryRecvError::Closed) => Poll::Ready(Err(RecvError::Closed)),
            Err(TryRecvError::Lagged(missed)) => Poll::Ready(Err(RecvError::Lagged(missed))),
            Err(TryRecvError::Empty) => {
                store_once(&mut state.wakers, context);
                Poll::Pending
            }
        });
        if polled.is_pending() {
            let senders = self.shared.peek(|state| state.senders);
            self.shared.awaited_because(place, None, Some(Why::Empty { senders }));
        }
        polled
    }

    /// The next message, if one is available.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let next = &mut self.next;
        self.shared.act(Location::caller(), |state| state.next(next))
    }

    /// Waits for the next message, from code that is not async.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        crate::future::block_on(self.recv())
    }
}

impl<T> Receiver<T> {
    /// The number of messages that it has not received yet; more than the capacity if it was too
    /// slow.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.shared.look(Location::caller(), |state| (state.sent - self.next) as usize)
    }

    /// Whether it has received all messages.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no sender is left.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.shared.look(Location::caller(), |state| state.senders == 0)
    }

    /// The number of senders.
    #[track_caller]
    pub fn sender_strong_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.senders)
    }

    /// The number of weak senders.
    #[track_caller]
    pub fn sender_weak_count(&self) -> usize {
        self.shared.count_handles(Location::caller(), |state| state.weak_senders)
    }

    /// Another receiver, of all messages from now on.
    #[track_caller]
    pub fn resubscribe(&self) -> Self {
        subscribe(&self.shared, Location::caller())
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (next, place) = (self.next, self.shared.created_at());
        let (unwanted, woken): (Vec<T>, _) = self.shared.act(place, |state| {
            state.receivers -= 1;
            let woken = if state.receivers == 0 { std::mem::take(&mut state.closers) } else { Vec::new() };
            let oldest = state.sent - state.messages.len() as u64;
            let seen = next.saturating_sub(oldest) as usize;
            let rest = state.messages.iter_mut().skip(seen);
            let unwanted = rest.filter_map(|slot| {
                slot.1 -= 1;
                if slot.1 == 0 { slot.0.take() } else { None }
            });
            (unwanted.collect(), woken)
        });
        drop(unwanted);
        wake_all(woken, place);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::WeakSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiver").finish_non_exhaustive()
    }
}
