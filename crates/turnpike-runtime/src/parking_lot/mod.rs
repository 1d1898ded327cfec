//! Replacements for the crate `parking_lot`, under control of the scheduler: locks without
//! poisoning, and a condition variable that borrows its guard.
//!
//! Outside a check they are the locks of the standard library. `ReentrantMutex`, upgradable guards
//! and fair unlocking other than `unlock_fair` are missing.

mod condvar;
mod guards;
mod mutex;
mod once;
mod rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use guards::{MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard};
pub use mutex::{Mutex, MutexGuard, const_mutex};
pub use once::{Once, OnceState};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard, const_rwlock};
