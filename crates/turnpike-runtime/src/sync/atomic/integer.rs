//! Integers and booleans.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{self, Ordering};

use turnpike_scheduler::{AtomicValues, Kind};

use super::common::common;
use super::{Seen, Word, turn, turn_exchange};
use crate::tag::Tag;

/// Read-modify-write operations, and the default value.
macro_rules! updates {
    ($name:ident, $value:ty: $($method:ident $what:literal),* $(,)?) => {
        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                $name::new(<$value>::default())
            }
        }

        impl $name {
            $(
                #[doc = concat!($what, " and returns the previous value.")]
                #[track_caller]
                #[inline]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    match turn(&self.tag, Kind::Update, order, Location::caller(), || self.values(None, None)) {
                        Some(seen) => {
                            let cell = atomic::$name::new(seen.value());
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

macro_rules! integers {
    ($($name:ident $value:ty),* $(,)?) => {
        $(
            #[doc = concat!("A variable of type `", stringify!($value), "` that threads share.")]
            pub struct $name {
                tag: Tag,
                inner: atomic::$name,
            }

            common!($name, $value);
            updates!($name, $value:
                fetch_add "Adds, wrapping around,",
                fetch_sub "Subtracts, wrapping around,",
                fetch_and "Takes the bitwise and",
                fetch_nand "Takes the negated bitwise and",
                fetch_or "Takes the bitwise or",
                fetch_xor "Takes the bitwise exclusive or",
                fetch_max "Takes the maximum",
                fetch_min "Takes the minimum",
            );
        )*
    };
}

integers! {
    AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize,
    AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize,
}

/// A shared boolean.
pub struct AtomicBool {
    tag: Tag,
    inner: atomic::AtomicBool,
}

common!(AtomicBool, bool);
updates!(AtomicBool, bool:
    fetch_and "Takes the conjunction",
    fetch_nand "Takes the negated conjunction",
    fetch_or "Takes the disjunction",
    fetch_xor "Takes the exclusive disjunction",
);

impl AtomicBool {
    /// Negates it and returns the previous value.
    #[track_caller]
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        match turn(&self.tag, Kind::Update, order, Location::caller(), || self.values(None, None)) {
            Some(seen) => self.leave(&seen, !seen.value::<bool>()),
            None => self.inner.fetch_not(order),
        }
    }
}
