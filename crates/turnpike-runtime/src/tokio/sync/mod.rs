//! `tokio::sync`.

mod barrier;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod permits;
mod rwlock;
mod semaphore;
mod set_once;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
pub use permits::{AcquireError, TryAcquireError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use set_once::{SetOnce, SetOnceError};

/// The futures of `tokio::sync`.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}
