//! Permits that are granted in the order of requests: the common part of semaphores, locks and
//! bounded channels.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use turnpike_scheduler::ThreadId;

use crate::future::{Shared, current_thread, wake_all};
use crate::runtime::Why;
use crate::site::Place;

/// The semaphore is closed.
#[derive(Debug, PartialEq, Eq)]
pub struct AcquireError(());

/// Why no permit was available immediately.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// Too few permits are free.
    NoPermits,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl std::error::Error for TryAcquireError {}

/// Permits, and the tasks that wait for some.
///
/// Free permits go to the task that has waited longest, even if it needs more; so permits are free
/// only when no task waits.
pub(super) struct PermitState {
    free: usize,
    pub(super) closed: bool,
    /// Waiters by ticket, which is the order of arrival. One that needs no more permits has been
    /// woken.
    waiters: BTreeMap<u64, Waiter>,
    tickets: u64,
    /// The thread that last acquired permits, for reports.
    pub(super) holder: Option<(ThreadId, Place)>,
}

struct Waiter {
    missing: usize,
    waker: Option<Waker>,
}

impl PermitState {
    pub(super) const fn new(free: usize) -> Self {
        PermitState { free, closed: false, waiters: BTreeMap::new(), tickets: 0, holder: None }
    }

    pub(super) fn free(&self) -> usize {
        self.free
    }

    pub(super) fn try_take(&mut self, wanted: usize, place: Place) -> Result<(), TryAcquireError> {
        if self.closed {
            return Err(TryAcquireError::Closed);
        }
        self.free = self.free.checked_sub(wanted).ok_or(TryAcquireError::NoPermits)?;
        self.hold(place);
        Ok(())
    }

    /// Acquires permits, or queues for the missing ones with a ticket.
    pub(super) fn poll_take(
        &mut self,
        wanted: usize,
        ticket: &mut Option<u64>,
        context: &Context<'_>,
        place: Place,
    ) -> Poll<Result<(), AcquireError>> {
        if self.closed {
            return Poll::Ready(Err(AcquireError(())));
        }
        let Some(number) = *ticket else {
            let got = self.free.min(wanted);
            self.free -= got;
            if got == wanted {
                self.hold(place);
                return Poll::Ready(Ok(()));
            }
            let waker = Some(context.waker().clone());
            self.waiters.insert(self.tickets, Waiter { missing: wanted - got, waker });
            *ticket = Some(self.tickets);
            self.tickets += 1;
            return Poll::Pending;
        };
        match self.waiters.get_mut(&number) {
            Some(waiter) if waiter.missing > 0 => {
                crate::future::store(&mut waiter.waker, context);
                Poll::Pending
            }
            _ => {
                self.waiters.remove(&number);
                *ticket = None;
                self.hold(place);
                Poll::Ready(Ok(()))
            }
        }
    }

    /// The task with this ticket stops waiting: its permits go to others.
    pub(super) fn give_up(&mut self, wanted: usize, ticket: u64) -> Vec<Waker> {
        match self.waiters.remove(&ticket) {
            Some(waiter) => self.give(wanted - waiter.missing),
            None => Vec::new(),
        }
    }

    /// Adds permits. Returns the wakers to use.
    pub(super) fn give(&mut self, mut permits: usize) -> Vec<Waker> {
        let (mut woken, closed) = (Vec::new(), self.closed);
        for waiter in self.waiters.values_mut().filter(|waiter| waiter.missing > 0 && !closed) {
            let part = permits.min(waiter.missing);
            waiter.missing -= part;
            permits -= part;
            if waiter.missing > 0 {
                break;
            }
            woken.extend(waiter.waker.take());
        }
        self.free = self.free.checked_add(permits).expect("the number of permits overflows");
        if self.free > 0 {
            self.holder = None;
        }
        woken
    }

    /// Grants no more permits. Returns the wakers to use.
    pub(super) fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        self.waiters.values_mut().filter_map(|waiter| waiter.waker.take()).collect()
    }

    /// Removes permits permanently, as many as are free.
    pub(super) fn forget(&mut self, permits: usize) -> usize {
        let gone = permits.min(self.free);
        self.free -= gone;
        gone
    }

    fn hold(&mut self, place: Place) {
        self.holder = current_thread().map(|thread| (thread, place));
    }
}

/// Permits without any further state.
pub(super) struct Permits(Shared<PermitState>);

impl Permits {
    #[track_caller]
    pub(super) const fn new(kind: &'static str, permits: usize) -> Self {
        Permits(Shared::new(kind, PermitState::new(permits)))
    }

    pub(super) fn take(&self, wanted: usize, place: Place) -> Take<'_> {
        Take { permits: self, wanted, ticket: None, place }
    }

    pub(super) fn try_take(&self, wanted: usize, place: Place) -> Result<(), TryAcquireError> {
        self.0.act(place, |state| state.try_take(wanted, place))
    }

    pub(super) fn give(&self, permits: usize, place: Place) {
        wake_all(self.0.act(place, |state| state.give(permits)), place);
    }

    pub(super) fn close(&self, place: Place) {
        wake_all(self.0.act(place, PermitState::close), place);
    }

    pub(super) fn forget(&self, permits: usize, place: Place) -> usize {
        self.0.act(place, |state| state.forget(permits))
    }

    pub(super) fn look<R>(&self, place: Place, f: impl FnOnce(&PermitState) -> R) -> R {
        self.0.look(place, f)
    }
}

/// Waits for permits. Dropping it gives up the place in the queue.
pub(super) struct Take<'a> {
    permits: &'a Permits,
    wanted: usize,
    ticket: Option<u64>,
    place: Place,
}

impl Future for Take<'_> {
    type Output = Result<(), AcquireError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Take { permits, wanted, ticket, place } = &mut *self;
        let (polled, holder, free) = permits
            .0
            .act(place, |state| (state.poll_take(*wanted, ticket, context, place), state.holder, state.free));
        if polled.is_pending() {
            let why = Why::Permits { wanted: *wanted, free };
            permits.0.awaited_because(place, holder, Some(why));
        }
        polled
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            let woken = self.permits.0.act(self.place, |state| state.give_up(self.wanted, ticket));
            wake_all(woken, self.place);
        }
    }
}
