//! `Barrier`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use crate::future::{Shared, wake_all};
use crate::site::Place;

/// Lets tasks continue when a number of them has arrived. A task that is dropped while it waits
/// still counts.
pub struct Barrier {
    count: usize,
    shared: Shared<State>,
}

struct State {
    arrived: usize,
    round: u64,
    wakers: Vec<Waker>,
}

/// The result of waiting at a barrier.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether the task was the last to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// A barrier for `n` tasks; for one if `n` is 0.
    #[track_caller]
    pub fn new(n: usize) -> Self {
        let state = State { arrived: 0, round: 0, wakers: Vec::new() };
        Barrier { count: n.max(1), shared: Shared::new("async barrier", state) }
    }

    /// Waits until all tasks have arrived.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let (place, mut round) = (Location::caller(), None);
        poll_fn(move |context| self.poll_wait(&mut round, context, place))
    }

    fn poll_wait(
        &self,
        round: &mut Option<u64>,
        context: &Context<'_>,
        place: Place,
    ) -> Poll<BarrierWaitResult> {
        let (polled, woken) = self.shared.act(place, |state| {
            if round.is_none() {
                *round = Some(state.round);
                state.arrived += 1;
                if state.arrived == self.count {
                    state.arrived = 0;
                    state.round += 1;
                    return (Poll::Ready(BarrierWaitResult(true)), std::mem::take(&mut state.wakers));
                }
            }
            if *round != Some(state.round) {
                return (Poll::Ready(BarrierWaitResult(false)), Vec::new());
            }
            if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                state.wakers.push(context.waker().clone());
            }
            (Poll::Pending, Vec::new())
        });
        wake_all(woken, place);
        if polled.is_pending() {
            self.shared.awaited(place, None);
        }
        polled
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("count", &self.count).finish_non_exhaustive()
    }
}
