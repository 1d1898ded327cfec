//! `std::cell`, with an `UnsafeCell` that detects data races.

mod races;

use std::fmt;
use std::panic::Location;

pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};

use races::Accesses;

/// A cell whose accesses are checked for data races: two accesses by different threads, at least
/// one of them a write, must be ordered by synchronisation. Otherwise the check fails, whatever
/// value was read. Accesses are not steps.
///
/// ```
/// use turnpike_runtime::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: nothing else uses it.
/// cell.with_mut(|value| unsafe { *value += 1 });
/// assert_eq!(cell.into_inner(), 2);
/// ```
pub struct UnsafeCell<T: ?Sized> {
    accesses: Accesses,
    inner: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub const fn new(value: T) -> Self {
        UnsafeCell { accesses: Accesses::new(), inner: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer, which must not be kept.
    ///
    /// # Panics
    /// Inside a check, if the access races with another one.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let place = Location::caller();
        self.accesses.add(false, place);
        let result = f(self.inner.get());
        self.accesses.add(false, place);
        result
    }

    /// Writes through a pointer, which must not be kept.
    ///
    /// # Panics
    /// Inside a check, if the access races with another one.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let place = Location::caller();
        self.accesses.add(true, place);
        let result = f(self.inner.get());
        self.accesses.add(true, place);
        result
    }

    /// The value. The exclusive borrow makes a check unnecessary.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
