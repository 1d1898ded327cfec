//! `crossbeam::utils`.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

pub use super::sync::WaitGroup;
pub use super::{atomic, sync, thread};

/// Backs off in loops. Inside a check each iteration lets other threads go first.
#[derive(Debug, Default)]
pub struct Backoff {
    step: Cell<u32>,
}

/// From this step on a loop should block.
const COMPLETED: u32 = 11;

impl Backoff {
    /// A new backoff.
    pub fn new() -> Self {
        Backoff::default()
    }

    /// Starts again.
    pub fn reset(&self) {
        self.step.set(0);
    }

    /// For a loop that retries because another thread made progress.
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

    /// Whether it is time to block. Always true inside a check, because waiting longer gains
    /// nothing.
    pub fn is_completed(&self) -> bool {
        crate::is_checking() || self.step.get() >= COMPLETED
    }

    fn advance(&self) {
        // Inside a check, a loop must return to the same state to be recognised as waiting.
        if !crate::is_checking() {
            self.step.set((self.step.get() + 1).min(COMPLETED));
        }
    }
}

/// A value padded to a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(align(128))]
pub struct CachePadded<T> {
    value: T,
}

impl<T> CachePadded<T> {
    /// Pads a value.
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

impl<T: std::fmt::Display> std::fmt::Display for CachePadded<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> From<T> for CachePadded<T> {
    fn from(value: T) -> Self {
        CachePadded::new(value)
    }
}
