//! The result that a thread leaves for the one that joins it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::panics::Payload;

/// The result of a thread inside a check.
pub(super) struct Packet<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    ended: AtomicBool,
}

impl<T> Packet<T> {
    pub(super) fn new() -> Self {
        Packet { result: Mutex::new(None), ended: AtomicBool::new(false) }
    }

    pub(super) fn set(&self, result: std::thread::Result<T>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    /// The return value of the thread. An error if the execution ended before the thread did.
    pub(super) fn take(&self) -> std::thread::Result<T> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.unwrap_or_else(|| Err(Box::new("the execution ended before the thread") as Payload))
    }

    /// Whether it contains a panic.
    pub(super) fn panicked(&self) -> bool {
        matches!(&*self.result.lock().unwrap_or_else(PoisonError::into_inner), Some(Err(_)))
    }

    pub(super) fn ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}
