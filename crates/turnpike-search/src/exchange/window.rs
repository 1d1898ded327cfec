//! How far a process may run ahead of another that takes its batches more slowly.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Batches that another process may have to take before this one waits for it.
const MOST_UNTAKEN: usize = 32;
/// Batches that are confirmed by one message.
const TOGETHER: usize = 8;

/// What is on its way between this process and each other, counted in batches.
pub(super) struct Window {
    /// Sent, and not confirmed by the receiver.
    untaken: Vec<AtomicUsize>,
    /// Received and taken, from the beginning.
    taken: Vec<AtomicUsize>,
}

impl Window {
    pub(super) fn new(processes: usize) -> Self {
        let zeros = || (0..processes).map(|_| AtomicUsize::new(0)).collect();
        Window { untaken: zeros(), taken: zeros() }
    }

    pub(super) fn note_sent(&self, to: usize) {
        self.untaken[to].fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a process should get nothing more for now.
    pub(super) fn is_full(&self, to: usize) -> bool {
        self.untaken[to].load(Ordering::Relaxed) > MOST_UNTAKEN
    }

    /// A process confirmed batches.
    pub(super) fn note_confirmed(&self, by: usize) {
        let less = |untaken: usize| Some(untaken.saturating_sub(TOGETHER));
        let _ = self.untaken[by].fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// A batch was taken here. Whether it is time to confirm.
    pub(super) fn note_taken(&self, from: usize) -> bool {
        (self.taken[from].fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(TOGETHER)
    }
}
