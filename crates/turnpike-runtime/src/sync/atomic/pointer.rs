//! Pointers.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{self, Ordering};

use turnpike_scheduler::{AtomicValues, Kind};

use super::common::common;
use super::{Seen, Word, turn, turn_exchange};
use crate::tag::Tag;

/// A shared pointer.
pub struct AtomicPtr<T> {
    tag: Tag,
    inner: atomic::AtomicPtr<T>,
}

common!(AtomicPtr<T>, *mut T);

impl<T> AtomicPtr<T> {
    /// A null pointer.
    #[track_caller]
    pub const fn null() -> Self {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

/// Arithmetic on pointers.
macro_rules! updates {
    ($($method:ident $what:literal),* $(,)?) => {
        impl<T> AtomicPtr<T> {
            $(
                #[doc = concat!($what, " and returns the previous value.")]
                #[track_caller]
                pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                    match turn(&self.tag, Kind::Update, order, Location::caller(), || self.values(None, None)) {
                        Some(seen) => {
                            let cell = atomic::AtomicPtr::new(seen.value());
                            cell.$method(value, Ordering::Relaxed);
                            self.leave(&seen, cell.into_inner())
                        }
                        None => self.inner.$method(value, order),
                    }
                }
            )*
        }
    };
}

updates! {
    fetch_ptr_add "Adds a number of values of type `T`, wrapping around,",
    fetch_ptr_sub "Subtracts a number of values of type `T`, wrapping around,",
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

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.inner, f)
    }
}
