//! `Notify`.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, wake, wake_all};
use crate::site::Place;

/// Notifies tasks. It stores at most one notification for a later task.
pub struct Notify {
    shared: Shared<State>,
}

struct State {
    /// Whether a notification is stored for a later task.
    stored: bool,
    /// Number of calls of `notify_waiters`.
    rounds: u64,
    /// Waiters by ticket, which is the order of arrival.
    waiters: BTreeMap<u64, Waiter>,
    tickets: u64,
}

#[derive(Default)]
struct Waiter {
    waker: Option<Waker>,
    notified_by: Option<Notification>,
}

/// How a waiter was notified.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notification {
    /// Individually, as the first or the last waiter: if it is dropped, another one is notified.
    Alone { last: bool },
    /// Together with all others.
    All,
}

impl State {
    fn notify(&mut self, last: bool) -> Option<Waker> {
        let mut waiting = self.waiters.values_mut().filter(|waiter| waiter.notified_by.is_none());
        match if last { waiting.next_back() } else { waiting.next() } {
            Some(waiter) => {
                waiter.notified_by = Some(Notification::Alone { last });
                waiter.waker.take()
            }
            None => {
                self.stored = true;
                None
            }
        }
    }

    fn notify_all(&mut self) -> Vec<Waker> {
        self.rounds += 1;
        let waiting = self.waiters.values_mut().filter(|waiter| waiter.notified_by.is_none());
        waiting
            .filter_map(|waiter| {
                waiter.notified_by = Some(Notification::All);
                waiter.waker.take()
            })
            .collect()
    }

    /// Whether a future that was created in this round is notified. Otherwise it starts to wait.
    fn poll(&mut self, stage: &mut Stage, waker: Option<&Waker>) -> bool {
        match *stage {
            Stage::Done => true,
            Stage::New { round } => {
                // A task that was notified with all others does not consume the stored
                // notification.
                if self.rounds != round || std::mem::take(&mut self.stored) {
                    *stage = Stage::Done;
                    return true;
                }
                self.waiters.insert(self.tickets, Waiter { waker: waker.cloned(), notified_by: None });
                *stage = Stage::Waiting { ticket: self.tickets };
                self.tickets += 1;
                false
            }
            Stage::Waiting { ticket } => match self.waiters.get_mut(&ticket) {
                Some(waiter) if waiter.notified_by.is_none() => {
                    if waker.is_some() {
                        waiter.waker = waker.cloned();
                    }
                    false
                }
                _ => {
                    self.waiters.remove(&ticket);
                    *stage = Stage::Done;
                    true
                }
            },
        }
    }
}

impl Notify {
    /// No notification is stored.
    #[track_caller]
    pub const fn new() -> Self {
        let state = State { stored: false, rounds: 0, waiters: BTreeMap::new(), tickets: 0 };
        Notify { shared: Shared::new("notify", state) }
    }

    /// Creates it, for `static`s.
    #[track_caller]
    pub const fn const_new() -> Self {
        Notify::new()
    }

    /// Waits for a notification. It receives [`notify_waiters`](Self::notify_waiters) from now on,
    /// and [`notify_one`](Self::notify_one) from the first poll on, or earlier if no other task
    /// waited.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let place = Location::caller();
        let round = self.shared.look(place, |state| state.rounds);
        Notified { notify: self, stage: Stage::New { round }, place }
    }

    /// Notifies the task that has waited longest. If none waits, the next one does not wait.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// Notifies the task that began to wait last. If none waits, the next one does not wait.
    #[track_caller]
    pub fn notify_last(&self) {
        self.notify(true, Location::caller());
    }

    /// Notifies all waiting tasks, and stores no notification.
    #[track_caller]
    pub fn notify_waiters(&self) {
        let place = Location::caller();
        wake_all(self.shared.act(place, State::notify_all), place);
    }

    fn notify(&self, last: bool, place: Place) {
        if let Some(waker) = self.shared.act(place, |state| state.notify(last)) {
            wake(waker, place);
        }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

/// The future of [`Notify::notified`]. If it is dropped after [`notify_one`](Notify::notify_one)
/// selected it, another one is selected.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Notified<'a> {
    notify: &'a Notify,
    stage: Stage,
    place: Place,
}

#[derive(Clone, Copy)]
enum Stage {
    New { round: u64 },
    Waiting { ticket: u64 },
    Done,
}

impl Notified<'_> {
    /// Starts to wait without being polled. Returns whether it is already notified.
    #[track_caller]
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        let Notified { notify, stage, .. } = &mut *self;
        notify.shared.act(Location::caller(), |state| state.poll(stage, None))
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Notified { notify, stage, place } = &mut *self;
        if notify.shared.act(place, |state| state.poll(stage, Some(context.waker()))) {
            return Poll::Ready(());
        }
        notify.shared.awaited(place, None);
        Poll::Pending
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Stage::Waiting { ticket } = self.stage else { return };
        let next =
            self.notify.shared.act(self.place, |state| match state.waiters.remove(&ticket)?.notified_by? {
                Notification::Alone { last } => state.notify(last),
                Notification::All => None,
            });
        if let Some(waker) = next {
            wake(waker, self.place);
        }
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}
