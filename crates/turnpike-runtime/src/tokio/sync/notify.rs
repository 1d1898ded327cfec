//! `Notify`.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, wake, wake_all};
use crate::runtime::Why;
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
    /// For reports: the last notification that nobody got.
    lost: Option<Why>,
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
    fn notify(&mut self, last: bool, place: Place) -> Option<Waker> {
        let mut waiting = self.waiters.values_mut().filter(|waiter| waiter.notified_by.is_none());
        match if last { waiting.next_back() } else { waiting.next() } {
            Some(waiter) => {
                waiter.notified_by = Some(Notification::Alone { last });
                waiter.waker.take()
            }
            None => {
                if std::mem::replace(&mut self.stored, true) {
                    self.lost = Some(Why::Merged(place));
                }
                None
            }
        }
    }

    fn notify_all(&mut self, place: Place) -> Vec<Waker> {
        self.rounds += 1;
        if !self.waiters.values().any(|waiter| waiter.notified_by.is_none()) {
            self.lost = Some(Why::Nobody(place));
        }
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
        let state = State { stored: false, rounds: 0, waiters: BTreeMap::new(), tickets: 0, lost: None };
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
        wake_all(self.shared.act(place, |state| state.notify_all(place)), place);
    }

    /// [`notified`](Self::notified) with a future that does not borrow.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let place = Location::caller();
        let round = self.shared.look(place, |state| state.rounds);
        OwnedNotified { notify: self, stage: Stage::New { round }, place }
    }

    /// A future that waits is dropped: a notification for it goes to another one.
    fn leave(&self, stage: Stage, place: Place) {
        let Stage::Waiting { ticket } = stage else { return };
        let next = self.shared.act(place, |state| match state.waiters.remove(&ticket)?.notified_by? {
            Notification::Alone { last } => state.notify(last, place),
            Notification::All => None,
        });
        if let Some(waker) = next {
            wake(waker, place);
        }
    }

    fn notify(&self, last: bool, place: Place) {
        if let Some(waker) = self.shared.act(place, |state| state.notify(last, place)) {
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

#[derive(Clone, Copy)]
enum Stage {
    New { round: u64 },
    Waiting { ticket: u64 },
    Done,
}

/// A future of a notification, which borrows or shares its [`Notify`].
macro_rules! notified {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?, $notify:ty) => {
        $(#[$doc])*
        #[must_use = "futures do nothing unless you `.await` or poll them"]
        pub struct $name$(<$life>)? {
            notify: $notify,
            stage: Stage,
            place: Place,
        }

        impl$(<$life>)? $name$(<$life>)? {
            /// Starts to wait without being polled. Returns whether it is already notified.
            #[track_caller]
            pub fn enable(mut self: Pin<&mut Self>) -> bool {
                let $name { notify, stage, .. } = &mut *self;
                notify.shared.act(Location::caller(), |state| state.poll(stage, None))
            }
        }

        impl$(<$life>)? Future for $name$(<$life>)? {
            type Output = ();

            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
                let $name { notify, stage, place } = &mut *self;
                if notify.shared.act(place, |state| state.poll(stage, Some(context.waker()))) {
                    return Poll::Ready(());
                }
                notify.shared.awaited_because(place, None, notify.shared.peek(|state| state.lost));
                Poll::Pending
            }
        }

        impl$(<$life>)? Drop for $name$(<$life>)? {
            fn drop(&mut self) {
                self.notify.leave(self.stage, self.place);
            }
        }

        impl$(<$life>)? fmt::Debug for $name$(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

notified! {
    /// The future of [`Notify::notified`]. If it is dropped after [`notify_one`](Notify::notify_one)
    /// selected it, another one is selected.
    Notified<'a>, &'a Notify
}
notified! {
    /// The future of [`Notify::notified_owned`], which is like [`Notified`].
    OwnedNotified, Arc<Notify>
}
