//! Pointers.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{self, Ordering};

use turnpike_scheduler::Kind;

use super::{turn, turn_exchange};
use crate::tag::Tag;

/// A pointer that threads share.
pub struct AtomicPtr<T> {
    tag: Tag,
    inner: atomic::AtomicPtr<T>,
}

impl<T> AtomicPtr<T> {
    /// A variable with this value.
    #[track_caller]
    pub const fn new(pointer: *mut T) -> Self {
        AtomicPtr { tag: Tag::new(), inner: atomic::AtomicPtr::new(pointer) }
    }

    /// A variable that points nowhere.
    #[track_caller]
    pub const fn null() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }

    /// Reads it.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> *mut T {
        turn(&self.tag, Kind::Load, Location::caller());
        self.inner.load(order)
    }

    /// Writes it.
    #[track_caller]
    pub fn store(&self, pointer: *mut T, order: Ordering) {
        turn(&self.tag, Kind::Store, Location::caller());
        self.inner.store(pointer, order);
    }

    /// Writes it and gives the value before.
    #[track_caller]
    pub fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        turn(&self.tag, Kind::Update, Location::caller());
        self.inner.swap(pointer, order)
    }

    /// Writes it if it has the value `current`. Gives the value before, as `Ok` if it was written.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        turn_exchange(&self.tag, Location::caller(), || self.inner.load(Ordering::Relaxed) == current);
        self.inner.compare_exchange(current, new, success, failure)
    }

    /// [`compare_exchange`](Self::compare_exchange); it does not fail spuriously.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.compare_exchange(current, new, success, failure)
    }

    /// Reads it and writes what `f` makes of it, until nobody wrote in between or `f` gives nothing.
    #[track_caller]
    pub fn fetch_update<F>(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: F,
    ) -> Result<*mut T, *mut T>
    where
        F: FnMut(*mut T) -> Option<*mut T>,
    {
        let mut before = self.load(fetch_order);
        while let Some(next) = f(before) {
            match self.compare_exchange_weak(before, next, set_order, fetch_order) {
                Ok(value) => return Ok(value),
                Err(value) => before = value,
            }
        }
        Err(before)
    }

    /// The same under its newer name.
    #[track_caller]
    pub fn try_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        f: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        self.fetch_update(set_order, fetch_order, f)
    }

    /// Reads it and writes what `f` makes of it, until nobody wrote in between. Gives the value before.
    #[track_caller]
    pub fn update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: impl FnMut(*mut T) -> *mut T,
    ) -> *mut T {
        match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
            Ok(before) | Err(before) => before,
        }
    }

    /// The value; nobody else can use it.
    pub fn get_mut(&mut self) -> &mut *mut T {
        self.inner.get_mut()
    }

    /// The value.
    pub const fn into_inner(self) -> *mut T {
        self.inner.into_inner()
    }

    /// The address of the value. What is done through it is not seen by the scheduler.
    pub const fn as_ptr(&self) -> *mut *mut T {
        self.inner.as_ptr()
    }
}

/// Arithmetic on pointers.
macro_rules! updates {
    ($($method:ident $what:literal),* $(,)?) => {
        impl<T> AtomicPtr<T> {
            $(
                #[doc = concat!($what, " and gives the value before.")]
                #[track_caller]
                pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                    turn(&self.tag, Kind::Update, Location::caller());
                    self.inner.$method(value, order)
                }
            )*
        }
    };
}

updates! {
    fetch_ptr_add "Adds so many values of type `T`, wrapping around,",
    fetch_ptr_sub "Subtracts so many values of type `T`, wrapping around,",
    fetch_byte_add "Adds bytes, wrapping around,",
    fetch_byte_sub "Subtracts bytes, wrapping around,",
    fetch_or "Takes the bitwise or of the address",
    fetch_and "Takes the bitwise and of the address",
    fetch_xor "Takes the bitwise exclusive or of the address",
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicPtr::null()
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> Self {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.inner, f)
    }
}
