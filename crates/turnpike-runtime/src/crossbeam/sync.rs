//! `crossbeam::sync`.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::future::{Shared, block_on, store, wake_all};
use crate::site::Place;
use crate::time::Instant;
use crate::tokio::time::timeout;

pub use crate::sync::{
    RwLock as ShardedLock, RwLockReadGuard as ShardedLockReadGuard, RwLockWriteGuard as ShardedLockWriteGuard,
};

/// Waits for a token from an [`Unparker`].
pub struct Parker {
    unparker: Unparker,
    /// Only one thread at a time parks.
    of: PhantomData<Cell<()>>,
}

/// Gives a [`Parker`] its token.
#[derive(Clone)]
pub struct Unparker {
    shared: Arc<Shared<Token>>,
}

#[derive(Default)]
struct Token {
    given: bool,
    waiting: Option<Waker>,
}

impl Parker {
    /// A parker without a token.
    #[track_caller]
    pub fn new() -> Self {
        let shared = Arc::new(Shared::new("parker", Token::default()));
        Parker { unparker: Unparker { shared }, of: PhantomData }
    }

    /// Waits for the token and takes it.
    #[track_caller]
    pub fn park(&self) {
        let place = Location::caller();
        block_on(poll_fn(|context| self.poll(context, place)));
    }

    /// [`park`](Self::park) with a time limit.
    #[track_caller]
    pub fn park_timeout(&self, limit: Duration) {
        let place = Location::caller();
        // Whether it timed out does not matter: the token then stays for the next call.
        let _ = block_on(timeout(limit, poll_fn(|context| self.poll(context, place))));
    }

    /// [`park`](Self::park), at most until a moment.
    #[track_caller]
    pub fn park_deadline(&self, deadline: Instant) {
        self.park_timeout(deadline.saturating_duration_since(Instant::unwatched()));
    }

    fn poll(&self, context: &Context<'_>, place: Place) -> Poll<()> {
        let shared = &self.unparker.shared;
        let given = shared.act(place, |token| {
            if !token.given {
                store(&mut token.waiting, context);
            }
            std::mem::take(&mut token.given)
        });
        if given {
            return Poll::Ready(());
        }
        shared.awaited(place, None);
        Poll::Pending
    }

    /// The unparker that gives it its token.
    pub fn unparker(&self) -> &Unparker {
        &self.unparker
    }
}

impl Default for Parker {
    #[track_caller]
    fn default() -> Self {
        Parker::new()
    }
}

impl Unparker {
    /// Gives the token, unless it is already there.
    #[track_caller]
    pub fn unpark(&self) {
        let place = Location::caller();
        let woken = self.shared.act(place, |token| {
            token.given = true;
            token.waiting.take()
        });
        wake_all(woken, place);
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker").finish_non_exhaustive()
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}

/// Waits until all its clones are dropped.
pub struct WaitGroup {
    shared: Arc<Shared<Members>>,
}

struct Members {
    count: usize,
    waiting: Vec<Waker>,
}

impl WaitGroup {
    /// A group of one.
    #[track_caller]
    pub fn new() -> Self {
        WaitGroup { shared: Arc::new(Shared::new("wait group", Members { count: 1, waiting: Vec::new() })) }
    }

    /// Leaves the group and waits until all others have.
    #[track_caller]
    pub fn wait(self) {
        let (shared, place) = (Arc::clone(&self.shared), Location::caller());
        drop(self);
        block_on(poll_fn(|context| {
            let all_left = shared.act(place, |members| {
                if members.count > 0 {
                    members.waiting.push(context.waker().clone());
                }
                members.count == 0
            });
            if all_left {
                return Poll::Ready(());
            }
            shared.awaited(place, None);
            Poll::Pending
        }));
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        WaitGroup::new()
    }
}

impl Clone for WaitGroup {
    #[track_caller]
    fn clone(&self) -> Self {
        // Not a step: the count cannot become zero before this one leaves.
        self.shared.peek(|members| members.count += 1);
        WaitGroup { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        let place = self.shared.created_at();
        let woken = self.shared.act(place, |members| {
            members.count -= 1;
            if members.count == 0 { std::mem::take(&mut members.waiting) } else { Vec::new() }
        });
        wake_all(woken, place);
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").finish_non_exhaustive()
    }
}
