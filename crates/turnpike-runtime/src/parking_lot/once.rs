//! `Once`.

use std::fmt;

use crate::sync;

/// Initialises something once.
pub struct Once {
    inner: sync::Once,
}

/// The state of a [`Once`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// Not started, or in progress.
    New,
    /// An attempt panicked.
    Poisoned,
    /// In progress. [`Once::state`] does not tell it from `New`.
    InProgress,
    /// Initialised.
    Done,
}

impl OnceState {
    /// Whether an attempt panicked.
    pub fn poisoned(self) -> bool {
        self == OnceState::Poisoned
    }

    /// Whether it is initialised.
    pub fn done(self) -> bool {
        self == OnceState::Done
    }
}

impl Once {
    /// A [`Once`] that is not initialised.
    #[track_caller]
    pub const fn new() -> Self {
        Once { inner: sync::Once::new() }
    }

    /// Whether it is initialised.
    #[track_caller]
    pub fn state(&self) -> OnceState {
        if self.inner.is_completed() { OnceState::Done } else { OnceState::New }
    }

    /// Runs `f` if this is the first call; otherwise waits for the first one.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        self.inner.call_once(f);
    }
}

impl Once {
    /// [`call_once`](Self::call_once), also after an attempt panicked.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, f: F) {
        self.inner.call_once_force(|state| {
            f(if state.is_poisoned() { OnceState::Poisoned } else { OnceState::New });
        });
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Self {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
