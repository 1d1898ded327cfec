//! `OnceCell`.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use super::permits::{Permits, TryAcquireError};
use crate::site::Place;
use crate::sync::OnceLock;

/// A value that is computed by the first task that needs it.
pub struct OnceCell<T> {
    /// The permit to initialise it. Closed when initialised.
    permits: Permits,
    value: OnceLock<T>,
}

/// Why a cell was not set. Contains the value.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// It has a value.
    AlreadyInitializedError(T),
    /// Another task is computing it.
    InitializingError(T),
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "AlreadyInitializedError",
            SetError::InitializingError(_) => "InitializingError",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for SetError<T> {}

/// The permit to initialise a cell, which passes to another task if unused.
struct Claim<'a, T> {
    cell: &'a OnceCell<T>,
    place: Place,
    used: bool,
}

impl<'a, T> Claim<'a, T> {
    fn set(mut self, value: T) -> &'a T {
        let cell = self.cell;
        let set = cell.value.set(value);
        assert!(set.is_ok(), "only one task initialises it");
        self.used = true;
        cell.permits.close(self.place);
        cell.value.get().expect("it was just set")
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        if !self.used {
            self.cell.permits.give(1, self.place);
        }
    }
}

impl<T> OnceCell<T> {
    /// An empty cell.
    #[track_caller]
    pub const fn new() -> Self {
        OnceCell { permits: Permits::new("async semaphore", 1), value: OnceLock::new() }
    }

    /// Creates a cell, for `static`s.
    #[track_caller]
    pub const fn const_new() -> Self {
        OnceCell::new()
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        let cell = OnceCell::new();
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

    /// The value. The exclusive borrow makes a step unnecessary.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the value.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        let place = Location::caller();
        match self.permits.try_take(1, place) {
            Ok(()) => {
                Claim { cell: self, place, used: false }.set(value);
                Ok(())
            }
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
        }
    }

    /// The value, computed by `f` if there is none. If that is dropped or panics, another task
    /// computes it.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, f: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let place = Location::caller();
        async move {
            match self.claim(place).await {
                Ok(value) => value,
                Err(claim) => claim.set(f().await),
            }
        }
    }

    /// [`get_or_init`](Self::get_or_init) for a fallible computation.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let place = Location::caller();
        async move {
            match self.claim(place).await {
                Ok(value) => Ok(value),
                Err(claim) => Ok(claim.set(f().await?)),
            }
        }
    }

    /// The value, or the permit to compute it.
    async fn claim(&self, place: Place) -> Result<&T, Claim<'_, T>> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        match self.permits.take(1, place).await {
            Ok(()) => Err(Claim { cell: self, place, used: false }),
            Err(_) => Ok(self.value.get().expect("it was set before it was closed")),
        }
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> SetError<T> {
    /// Whether it has a value.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Whether another task is computing it.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        OnceCell::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceCell::new_with(Some(value))
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").finish_non_exhaustive()
    }
}
