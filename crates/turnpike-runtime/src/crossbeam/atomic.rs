//! `crossbeam::atomic`.

use std::fmt;
use std::panic::Location;

use crate::future::Shared;

/// A value that threads share, of which each operation is one step. Under weak memory too, threads
/// see its operations in one order.
pub struct AtomicCell<T> {
    value: Shared<T>,
}

impl<T> AtomicCell<T> {
    /// With this value.
    #[track_caller]
    pub const fn new(val: T) -> Self {
        AtomicCell { value: Shared::new("cell", val) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// Whether values of this type need no lock outside a check: here they do.
    pub const fn is_lock_free() -> bool {
        false
    }

    /// Sets the value.
    #[track_caller]
    pub fn store(&self, val: T) {
        drop(self.value.act(Location::caller(), |value| std::mem::replace(value, val)));
    }

    /// Sets the value and returns the one before.
    #[track_caller]
    pub fn swap(&self, val: T) -> T {
        self.value.act(Location::caller(), |value| std::mem::replace(value, val))
    }
}

impl<T: Default> AtomicCell<T> {
    /// Takes the value and leaves the default.
    #[track_caller]
    pub fn take(&self) -> T {
        self.swap(T::default())
    }
}

impl<T: Copy> AtomicCell<T> {
    /// A copy of the value.
    #[track_caller]
    pub fn load(&self) -> T {
        self.value.look(Location::caller(), |value| *value)
    }
}

impl<T: Copy + Eq> AtomicCell<T> {
    /// If the value is `current`, sets it to `new`. Returns the value before.
    #[track_caller]
    pub fn compare_and_swap(&self, current: T, new: T) -> T {
        match self.compare_exchange(current, new) {
            Ok(value) | Err(value) => value,
        }
    }

    /// If the value is `current`, sets it to `new`. Returns the value before.
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T) -> Result<T, T> {
        self.value.act(Location::caller(), |value| {
            if *value != current {
                return Err(*value);
            }
            *value = new;
            Ok(current)
        })
    }

    /// Sets the value to `f` of it, unless that is `None`; tries again if another thread changes
    /// it meanwhile. Returns the value before.
    #[track_caller]
    pub fn fetch_update<F: FnMut(T) -> Option<T>>(&self, mut f: F) -> Result<T, T> {
        let mut current = self.load();
        while let Some(new) = f(current) {
            match self.compare_exchange(current, new) {
                Ok(value) => return Ok(value),
                Err(value) => current = value,
            }
        }
        Err(current)
    }
}

/// Operations that change a value and return the one before.
macro_rules! updates {
    ($type:ty: $($method:ident $what:literal |$value:ident, $operand:ident| $new:expr;)*) => {
        impl AtomicCell<$type> {
            $(
                #[doc = concat!($what, " and returns the value before.")]
                #[track_caller]
                pub fn $method(&self, $operand: $type) -> $type {
                    self.value.act(Location::caller(), |value| {
                        let $value = *value;
                        *value = $new;
                        $value
                    })
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(
            updates! { $type:
                fetch_add "Adds, wrapping around," |value, val| value.wrapping_add(val);
                fetch_sub "Subtracts, wrapping around," |value, val| value.wrapping_sub(val);
                fetch_and "Takes the bitwise and" |value, val| value & val;
                fetch_nand "Takes the negated bitwise and" |value, val| !(value & val);
                fetch_or "Takes the bitwise or" |value, val| value | val;
                fetch_xor "Takes the bitwise exclusive or" |value, val| value ^ val;
                fetch_max "Takes the maximum" |value, val| value.max(val);
                fetch_min "Takes the minimum" |value, val| value.min(val);
            }
        )*
    };
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize }

updates! { bool:
    fetch_and "Takes the conjunction" |value, val| value & val;
    fetch_nand "Takes the negated conjunction" |value, val| !(value & val);
    fetch_or "Takes the disjunction" |value, val| value | val;
    fetch_xor "Takes the exclusive disjunction" |value, val| value ^ val;
}

impl<T: Default> Default for AtomicCell<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicCell::new(T::default())
    }
}

impl<T> From<T> for AtomicCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        AtomicCell::new(value)
    }
}

impl<T> fmt::Debug for AtomicCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCell").finish_non_exhaustive()
    }
}
