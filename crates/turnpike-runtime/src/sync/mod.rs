//! `std::sync`: locks, condition variables, barriers, one-time initialisation, channels, atomics.
//!
//! Each type contains the real primitive. Outside a check only that is used; inside, the scheduler
//! decides when an operation happens, and the real primitive, which is then never contended,
//! protects the data and tracks poisoning. Reference counting is a step only where the program can
//! observe it, see `count`.

mod arc;
mod barrier;
mod condvar;
mod count;
mod lazy_lock;
mod lock;
mod mutex;
mod once;
mod once_lock;
mod rwlock;
mod slot;
mod weak;

pub mod atomic;
pub mod mpsc;

pub use arc::Arc;
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
pub use weak::Weak;

use std::time::{Duration, Instant};

use crate::runtime::Runtime;

/// How long to retry a primitive that the kernel granted but that a thread outside the check holds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Retries until it succeeds, for a lock that the kernel granted. It succeeds immediately, unless
/// an uncontrolled thread uses the lock too, or a guard was forgotten in an earlier execution.
fn granted<G>(runtime: &Runtime, mut attempt: impl FnMut() -> Option<G>) -> G {
    if let Some(guard) = attempt() {
        return guard;
    }
    runtime.uncontrolled("a lock that is also used outside the check");
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        std::thread::yield_now();
        if let Some(guard) = attempt() {
            return guard;
        }
    }
    panic!("a lock is held outside the check, or its guard was forgotten in an earlier execution");
}

/// Retries until it succeeds, while the thread unwinds.
fn quietly<G>(runtime: &Runtime, mut attempt: impl FnMut() -> Option<G>) -> G {
    loop {
        if let Some(guard) = attempt() {
            return guard;
        }
        runtime.stall();
    }
}
