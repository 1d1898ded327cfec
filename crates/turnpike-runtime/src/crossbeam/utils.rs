//! `crossbeam::utils`.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

pub use super::sync::WaitGroup;
pub use super::{sync, thread};

/// Waits in loops. Inside a check each turn lets others go first.
#[derive(Debug, Default)]
pub struct Backoff {
    step: Cell<u32>,
}

/// From here on a loop should block.
const COMPLETED: u32 = 11;

impl Backoff {
    /// A new backoff.
    pub fn new() -> Self {
        Backoff::default()
    }

    /// Begins again.
    pub fn reset(&self) {
        self.step.set(0);
    }

    /// For a loop that tries again because another thread made progress.
    #[track_caller]
    #[inline(always)]
    pub fn spin(&self) {
        crate::hint::spin_loop();
        self.advance();
    }

    /// For a loop that waits for another thread.
    #[track_caller]
    #[inline(always)]
    pub fn snooze(&self) {
        crate::thread::yield_now();
        self.advance();
    }

    /// Whether it is time to block. Inside a check at once, because waiting longer gains nothing.
    pub fn is_completed(&self) -> bool {
        crate::is_checking() || self.step.get() >= COMPLETED
    }

    fn advance(&self) {
        // A loop that counts its turns does not look like one that waits.
        if !crate::is_checking() {
            self.step.set((self.step.get() + 1).min(COMPLETED));
        }
    }
}

/// A value with a cache line of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(align(128))]
pub struct CachePadded<T> {
    value: T,
}

impl<T> CachePadded<T> {
    /// Pads it.
    pub const fn new(value: T) -> Self {
        CachePadded { value }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for CachePadded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> From<T> for CachePadded<T> {
    fn from(value: T) -> Self {
        CachePadded::new(value)
    }
}
