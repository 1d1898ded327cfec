//! `LazyLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use super::once::Once;
use super::slot::{Slot, copy_of_function};
use crate::context;

const POISONED: &str = "LazyLock instance has previously been poisoned";

/// A value that is computed on first use. In a `static`, each execution computes it again.
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    value: Slot<T>,
    make: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `make` computes.
    #[track_caller]
    pub const fn new(make: F) -> Self {
        LazyLock { once: Once::new(), value: Slot::new(), make: Mutex::new(Some(make)) }
    }

    /// The value, computed now if necessary.
    ///
    /// # Panics
    ///
    /// If an earlier attempt to compute it panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.once.call_once_force(|state| {
            // Inside a check the function may still be available.
            assert!(!state.is_poisoned(), "{POISONED}");
            let make = {
                let mut make = this.make.lock().unwrap_or_else(PoisonError::into_inner);
                // The next execution computes the value of a `static` again, so it needs the
                // function.
                let copy =
                    if context::active().is_some() { make.as_ref().and_then(copy_of_function) } else { None };
                copy.or_else(|| make.take())
            };
            match make {
                Some(make) => this.value.set(make()),
                // An earlier execution consumed the closure: keep its value.
                None if this.value.get().is_some() => {}
                None => panic!("{POISONED}"),
            }
        });
        this.value.get().expect("the value was computed")
    }

    /// The value, computed now if necessary.
    ///
    /// # Panics
    ///
    /// If an earlier attempt to compute it panicked.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.value.get_mut().expect("the value was computed")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if computed.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        if this.once.is_completed() { this.value.get() } else { None }
    }

    /// The value, if computed.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        if this.once.done_quietly() { this.value.get_mut() } else { None }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match self.value.get() {
            Some(value) if self.once.done_quietly() => out.field(value),
            _ => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
