//! `tokio::time`, on the virtual clock inside a check.
//!
//! A task that only sleeps may continue at any time, and its clock then shows that it slept. If a
//! task also waits for something else, the check's setting for timeouts decides when it times out.
#![allow(unsafe_code)]

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context;
use crate::future::set_timer;

pub use crate::time::{Duration, Instant};

/// Waits for this time.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { deadline: deadline_after(duration) }
}

/// Waits until a moment.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline }
}

/// A moment that is this far away, or practically never.
fn deadline_after(duration: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    Instant::unwatched() + duration.min(NEVER)
}

/// The future of [`sleep`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sleep {
    deadline: Instant,
}

impl Sleep {
    /// When it ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it has ended.
    pub fn is_elapsed(&self) -> bool {
        Instant::unwatched() >= self.deadline
    }

    /// Changes when it ends.
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.deadline = deadline;
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let rest = self.deadline.saturating_duration_since(Instant::unwatched());
        if rest.is_zero() {
            return Poll::Ready(());
        }
        match context::active() {
            Some(runtime) => {
                let nanoseconds = u64::try_from(rest.as_nanos()).unwrap_or(u64::MAX);
                runtime.poll_at(runtime.now().saturating_add(nanoseconds));
            }
            None => set_timer(rest, context),
        }
        Poll::Pending
    }
}

/// Errors of time limits.
pub mod error {
    use std::fmt;

    /// The time limit expired.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Elapsed(pub(super) ());

    impl fmt::Display for Elapsed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deadline has elapsed")
        }
    }

    impl std::error::Error for Elapsed {}

    impl From<Elapsed> for std::io::Error {
        fn from(_: Elapsed) -> Self {
            std::io::ErrorKind::TimedOut.into()
        }
    }
}

use error::Elapsed;

/// A future with a time limit. The future is polled first, so it wins if both are ready.
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), delay: sleep(duration) }
}

/// The same with a deadline.
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), delay: sleep_until(deadline) }
}

/// The future of [`timeout`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Timeout<F> {
    /// Not in a box: its memory tells whether a loop has changed something since it last waited.
    future: F,
    delay: Sleep,
}

impl<F> Timeout<F> {
    /// The future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the future is not moved: it is pinned like all of this, which has no destructor.
        let (future, delay) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.delay)
        };
        if let Poll::Ready(value) = future.poll(context) {
            return Poll::Ready(Ok(value));
        }
        Pin::new(delay).poll(context).map(|()| Err(Elapsed(())))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").field("delay", &self.delay).finish_non_exhaustive()
    }
}

/// How to handle missed ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// Tick without delay until they are made up.
    #[default]
    Burst,
    /// Continue with a full period from now.
    Delay,
    /// Skip them.
    Skip,
}

/// Ticks now, and then after each period.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::unwatched(), period)
}

/// Ticks at `start`, and then after each period.
///
/// # Panics
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    Interval { next: start, period, missed: MissedTickBehavior::Burst }
}

/// The ticks of [`interval`].
#[derive(Debug)]
pub struct Interval {
    next: Instant,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    /// Waits for the next tick, and returns when it was due.
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        poll_fn(move |context| self.poll_tick(context))
    }

    /// Polls for the next tick.
    pub fn poll_tick(&mut self, context: &mut Context<'_>) -> Poll<Instant> {
        let due = self.next;
        if Pin::new(&mut sleep_until(due)).poll(context).is_pending() {
            return Poll::Pending;
        }
        let now = Instant::unwatched();
        // As in tokio, a small delay counts as in time.
        let late = now > due + Duration::from_millis(5);
        self.next = match self.missed {
            MissedTickBehavior::Delay if late => now + self.period,
            MissedTickBehavior::Skip if late => {
                let since = now.saturating_duration_since(due).as_nanos() % self.period.as_nanos();
                now + self.period - Duration::from_nanos(u64::try_from(since).unwrap_or(0))
            }
            _ => due + self.period,
        };
        Poll::Ready(due)
    }

    /// The next tick comes a period from now.
    pub fn reset(&mut self) {
        self.next = Instant::unwatched() + self.period;
    }

    /// The next tick comes now.
    pub fn reset_immediately(&mut self) {
        self.next = Instant::unwatched();
    }

    /// The next tick comes after this time.
    pub fn reset_after(&mut self, after: Duration) {
        self.next = Instant::unwatched() + after;
    }

    /// The next tick comes at this moment.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.next = deadline;
    }

    /// How missed ticks are handled.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// Sets how missed ticks are handled.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed = behavior;
    }

    /// Time between ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// Has no effect: inside a check the clock is virtual anyway, and passes by waiting only.
pub fn pause() {}

/// Has no effect, like [`pause`].
pub fn resume() {}

/// Lets this time pass.
pub async fn advance(duration: Duration) {
    sleep(duration).await;
}
