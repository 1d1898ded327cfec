//! `std::thread`: creating, joining and parking threads, scoped threads, thread-local values.

mod handle;
mod local;
mod packet;
mod scope;
mod spawn;

use std::num::NonZeroUsize;
use std::panic::Location;
use std::time::Duration;

use turnpike_scheduler::{Kind, ObjectId, Operation};

use crate::runtime::Runtime;
use crate::site::Place;
use crate::{context, own_state, site};

pub use handle::{Thread, ThreadId, current};
pub use local::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use spawn::{Builder, JoinHandle, spawn};
pub use std::thread::{Result, panicking};

pub(crate) use local::Locals;

/// The parallelism reported to a program under check: small, because more threads find no more
/// bugs.
const PARALLELISM: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// Lets other threads go first. A thread that has only read since it last yielded in the same state
/// (registers and stack) is not run again before something that it read has changed. One that read
/// the clock sleeps a little instead, so that time passes.
#[track_caller]
#[inline(always)]
pub fn yield_now() {
    match context::active() {
        // Must be called by the yielding code: it is its state.
        Some(runtime) => yield_in(runtime, own_state::of_caller(runtime.stack_end()), Location::caller()),
        None => std::thread::yield_now(),
    }
}

#[inline(never)]
fn yield_in(runtime: &Runtime, state: u64, place: Place) {
    let yields = || (Kind::Yield, runtime.state_of_thread(state));
    let (kind, argument) = runtime.nap().map_or_else(yields, |time| (Kind::Sleep, time));
    let operation = Operation::new(kind, ObjectId::NONE, site::of(place));
    let _ = runtime.turn(Operation { argument, ..operation });
}

/// Sleeps; inside a check, in virtual time.
#[track_caller]
pub fn sleep(duration: Duration) {
    match context::active() {
        Some(runtime) => {
            let operation = Operation::new(Kind::Sleep, ObjectId::NONE, site::of(Location::caller()));
            let _ = runtime.turn(Operation { argument: nanoseconds(duration), ..operation });
        }
        None => std::thread::sleep(duration),
    }
}

/// Waits for a call of [`Thread::unpark`] on this thread, unless there was one since the last
/// `park`.
#[track_caller]
pub fn park() {
    match context::active() {
        Some(runtime) => {
            let operation = Operation::new(Kind::Park, ObjectId::NONE, site::of(Location::caller()));
            let _ = runtime.turn(operation);
        }
        None => std::thread::park(),
    }
}

/// [`park`] with a time limit.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    match context::active() {
        Some(runtime) => {
            let operation = Operation::new(Kind::Park, ObjectId::NONE, site::of(Location::caller()));
            let _ = runtime.turn(runtime.limited(operation, Some(limit)));
        }
        None => std::thread::park_timeout(limit),
    }
}

/// The number of parallel threads: 2 inside a check, so that executions do not depend on the
/// machine.
pub fn available_parallelism() -> std::io::Result<NonZeroUsize> {
    match context::active() {
        Some(_) => Ok(PARALLELISM),
        None => std::thread::available_parallelism(),
    }
}

/// A time limit for the scheduler.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
