//! Replacements for the crate `parking_lot`, under control of the scheduler: locks without
//! poisoning, and a condition variable that borrows its guard.
//!
//! Outside a check they are the locks of the standard library. The scheduler decides which thread
//! gets a lock next, also where `parking_lot` is fair. Guards that own an `Arc` of their lock, and
//! raw locks, are missing.

mod condvar;
mod guards;
mod mutex;
mod once;
mod reentrant;
mod rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use guards::{MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard};
pub use mutex::{Mutex, MutexGuard, const_mutex};
pub use mutex::{Mutex as FairMutex, MutexGuard as FairMutexGuard, const_mutex as const_fair_mutex};
pub use once::{Once, OnceState};
pub use reentrant::{MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard, const_reentrant_mutex};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, const_rwlock};
