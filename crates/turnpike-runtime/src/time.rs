//! `std::time`. Inside a check time is virtual: it passes only by sleeping and by waiting with a
//! time limit, and is the same in every execution of a schedule. A thread that reads the clock and
//! then yields or spins sleeps a little.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time;

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

use crate::context;

/// Start of the virtual wall clock: 2020-01-01, so that no program considers it invalid.
const WALL_CLOCK: Duration = Duration::from_secs(1_577_836_800);

/// A moment of the monotonic clock, real or virtual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Moment);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Moment {
    Real(time::Instant),
    Virtual(Duration),
}

impl Instant {
    /// Now.
    pub fn now() -> Self {
        Instant(match context::active() {
            Some(runtime) => Moment::Virtual(Duration::from_nanos(runtime.look())),
            None => Moment::Real(time::Instant::now()),
        })
    }

    /// Now, for this crate's own use: does not count as reading the clock.
    pub(crate) fn unwatched() -> Self {
        Instant(match context::active() {
            Some(runtime) => Moment::Virtual(Duration::from_nanos(runtime.now())),
            None => Moment::Real(time::Instant::now()),
        })
    }

    /// The same moment: this type is also the replacement of the standard library's.
    pub fn from_std(std: Instant) -> Self {
        std
    }

    /// The same moment: this type is also the replacement of the standard library's.
    pub fn into_std(self) -> Instant {
        self
    }

    /// Time since `earlier`, or zero if that was later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// Time since `earlier`, or `None` if that was later, or of the other kind.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        match (self.0, earlier.0) {
            (Moment::Real(now), Moment::Real(then)) => now.checked_duration_since(then),
            (Moment::Virtual(now), Moment::Virtual(then)) => now.checked_sub(then),
            _ => None,
        }
    }

    /// Time since `earlier`, or zero if that was later.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }

    /// Time since then.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// Later, if that can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Moment::Real(now) => Moment::Real(now.checked_add(duration)?),
            Moment::Virtual(now) => Moment::Virtual(now.checked_add(duration)?),
        }))
    }

    /// Earlier, if that can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        Some(Instant(match self.0 {
            Moment::Real(now) => Moment::Real(now.checked_sub(duration)?),
            Moment::Virtual(now) => Moment::Virtual(now.checked_sub(duration)?),
        }))
    }
}

/// A moment of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(time::SystemTime);

/// 1970-01-01.
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

impl SystemTime {
    /// 1970-01-01.
    pub const UNIX_EPOCH: SystemTime = SystemTime(time::UNIX_EPOCH);

    /// Now.
    pub fn now() -> Self {
        SystemTime(match context::active() {
            Some(runtime) => time::UNIX_EPOCH + WALL_CLOCK + Duration::from_nanos(runtime.look()),
            None => time::SystemTime::now(),
        })
    }

    /// Time since `earlier`.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// Time since then.
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }

    /// Later, if that can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// Earlier, if that can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl From<SystemTime> for time::SystemTime {
    fn from(time: SystemTime) -> Self {
        time.0
    }
}

impl From<time::SystemTime> for SystemTime {
    fn from(time: time::SystemTime) -> Self {
        SystemTime(time)
    }
}

macro_rules! arithmetic {
    ($type:ident) => {
        impl Add<Duration> for $type {
            type Output = $type;

            fn add(self, duration: Duration) -> $type {
                self.checked_add(duration).expect("overflow when adding a duration to a moment")
            }
        }

        impl AddAssign<Duration> for $type {
            fn add_assign(&mut self, duration: Duration) {
                *self = *self + duration;
            }
        }

        impl Sub<Duration> for $type {
            type Output = $type;

            fn sub(self, duration: Duration) -> $type {
                self.checked_sub(duration).expect("overflow when subtracting a duration from a moment")
            }
        }

        impl SubAssign<Duration> for $type {
            fn sub_assign(&mut self, duration: Duration) {
                *self = *self - duration;
            }
        }
    };
}

arithmetic!(Instant);
arithmetic!(SystemTime);

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}
