//! `SetOnce`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use super::permits::Permits;
use crate::sync::OnceLock;

/// A value that is set once, and for which tasks can wait.
pub struct SetOnce<T> {
    /// Closed when the value is set.
    unset: Permits,
    value: OnceLock<T>,
}

/// The value was set before. Contains the new one.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> std::error::Error for SetOnceError<T> {}

impl<T> SetOnce<T> {
    /// Without a value.
    #[track_caller]
    pub const fn new() -> Self {
        SetOnce { unset: Permits::new("set once", 0), value: OnceLock::new() }
    }

    /// Without a value, for `static`s.
    #[track_caller]
    pub const fn const_new() -> Self {
        SetOnce::new()
    }

    /// With this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let cell = SetOnce::new();
        if let Some(value) = value {
            let set = cell.set(value);
            debug_assert!(set.is_ok());
        }
        cell
    }

    /// Whether it has a value.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.value.get().is_some()
    }

    /// The value.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Sets the value, and wakes all that wait for it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.value.set(value).map_err(SetOnceError)?;
        self.unset.close(Location::caller());
        Ok(())
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let place = Location::caller();
        async move {
            let taken = self.unset.take(1, place).await;
            debug_assert!(taken.is_err(), "there is no permit");
            self.value.get().expect("it was set before it was closed")
        }
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        SetOnce::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        SetOnce::new_with(Some(value))
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        SetOnce::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").finish_non_exhaustive()
    }
}
