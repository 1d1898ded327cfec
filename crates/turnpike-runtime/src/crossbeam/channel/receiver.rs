//! `Receiver`.

use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use super::core::{Channel, Ticket};
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::future::block_on;
use crate::site::Place;
use crate::time::{Duration, Instant};
use crate::tokio::time::{sleep_until, timeout};
use crate::traits::iterators;

/// Receives messages.
pub struct Receiver<T> {
    flavor: Flavor<T>,
}

enum Flavor<T> {
    Channel(Arc<Channel<T>>),
    /// A clock, and a function that turns the due moment into a message.
    Timer(Arc<Timer>, fn(Instant) -> T),
    Never,
}

struct Timer {
    /// When the next message is due, if any.
    due: Mutex<Option<Instant>>,
    period: Option<Duration>,
}

impl Timer {
    fn poll(&self, context: &mut Context<'_>) -> Poll<Instant> {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(now) = *due else { return Poll::Pending };
        if std::pin::Pin::new(&mut sleep_until(now)).poll(context).is_pending() {
            return Poll::Pending;
        }
        // Ticks that were missed are not made up.
        *due = self.period.map(|period| now.max(Instant::unwatched()) + period);
        Poll::Ready(now)
    }
}

impl<T> Receiver<T> {
    pub(super) fn of(channel: Arc<Channel<T>>) -> Self {
        Receiver { flavor: Flavor::Channel(channel) }
    }

    pub(super) fn never() -> Self {
        Receiver { flavor: Flavor::Never }
    }

    pub(super) fn poll(
        &self,
        ticket: &mut Ticket,
        committed: bool,
        context: &mut Context<'_>,
        place: Place,
    ) -> Poll<Result<T, RecvError>> {
        match &self.flavor {
            Flavor::Channel(channel) => channel.poll_recv(ticket, committed, context, place),
            Flavor::Timer(timer, make) => timer.poll(context).map(|due| Ok(make(due))),
            Flavor::Never => Poll::Pending,
        }
    }

    pub(super) fn give_up(&self, ticket: &mut Ticket, place: Place) {
        if let Flavor::Channel(channel) = &self.flavor {
            channel.give_up(ticket, place);
        }
    }

    /// Waits for a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let (place, mut ticket) = (Location::caller(), Ticket::default());
        let received = block_on(poll_fn(|context| self.poll(&mut ticket, true, context, place)));
        self.give_up(&mut ticket, place);
        received
    }

    /// [`recv`](Self::recv) with a time limit.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        let (place, mut ticket) = (Location::caller(), Ticket::default());
        let receiving = poll_fn(|context| self.poll(&mut ticket, false, context, place));
        let received = block_on(timeout(limit, receiving));
        self.give_up(&mut ticket, place);
        match received {
            Ok(received) => received.map_err(|_| RecvTimeoutError::Disconnected),
            Err(_) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// [`recv`](Self::recv) with a deadline.
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_timeout(deadline.saturating_duration_since(Instant::unwatched()))
    }

    /// A message, if one is available.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.flavor {
            Flavor::Channel(channel) => channel.try_recv(Location::caller()),
            Flavor::Timer(timer, make) => {
                let mut context = Context::from_waker(std::task::Waker::noop());
                match timer.poll(&mut context) {
                    Poll::Ready(due) => Ok(make(due)),
                    Poll::Pending => Err(TryRecvError::Empty),
                }
            }
            Flavor::Never => Err(TryRecvError::Empty),
        }
    }

    /// The number of messages.
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.flavor {
            Flavor::Channel(channel) => channel.shared.look(Location::caller(), |state| state.messages.len()),
            _ => 0,
        }
    }

    /// Whether there are no messages.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for a message.
    #[track_caller]
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.len() >= capacity)
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.flavor, &other.flavor) {
            (Flavor::Channel(one), Flavor::Channel(two)) => Arc::ptr_eq(one, two),
            (Flavor::Timer(one, _), Flavor::Timer(two, _)) => Arc::ptr_eq(one, two),
            (Flavor::Never, Flavor::Never) => true,
            _ => false,
        }
    }

    /// The capacity, if it is bounded.
    pub fn capacity(&self) -> Option<usize> {
        match &self.flavor {
            Flavor::Channel(channel) => channel.capacity,
            Flavor::Timer(..) => Some(1),
            Flavor::Never => Some(0),
        }
    }
}

impl Receiver<Instant> {
    pub(super) fn timer(due: Instant, period: Option<Duration>) -> Self {
        let timer = Timer { due: Mutex::new(Some(due)), period };
        Receiver { flavor: Flavor::Timer(Arc::new(timer), |due| due) }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let flavor = match &self.flavor {
            Flavor::Channel(channel) => {
                channel.shared.peek(|state| state.receivers += 1);
                Flavor::Channel(Arc::clone(channel))
            }
            Flavor::Timer(timer, make) => Flavor::Timer(Arc::clone(timer), *make),
            Flavor::Never => Flavor::Never,
        };
        Receiver { flavor }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Flavor::Channel(channel) = &self.flavor {
            channel.leave(|state| &mut state.receivers);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver { .. }")
    }
}

iterators!(Receiver);
