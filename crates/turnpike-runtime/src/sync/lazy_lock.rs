//! `LazyLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use super::once::Once;
use super::slot::{Slot, copy_of_function};
use crate::context;

const POISONED: &str = "LazyLock instance has previously been poisoned";

/// A value that is made when it is first used. In a `static`, each execution makes it anew.
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    value: Slot<T>,
    make: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `make` will make.
    #[track_caller]
    pub const fn new(make: F) -> Self {
        LazyLock { once: Once::new(), value: Slot::new(), make: Mutex::new(Some(make)) }
    }

    /// The value, made now if it was not yet.
    ///
    /// # Panics
    /// When an earlier attempt to make it panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.once.call_once_force(|state| {
            // In a check the function may still be there.
            assert!(!state.is_poisoned(), "{POISONED}");
            let make = {
                let mut make = this.make.lock().unwrap_or_else(PoisonError::into_inner);
                // The next execution makes the value of a `static` anew, so the function is needed
                // again.
                let copy =
                    if context::active().is_some() { make.as_ref().and_then(copy_of_function) } else { None };
                copy.or_else(|| make.take())
            };
            match make {
                Some(make) => this.value.set(make()),
                // A closure that an earlier execution has used up: its value has to do.
                None if this.value.get().is_some() => {}
                None => panic!("{POISONED}"),
            }
        });
        this.value.get().expect("the value was made")
    }

    /// The value, made now if it was not yet.
    ///
    /// # Panics
    /// When an earlier attempt to make it panicked.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.value.get_mut().expect("the value was made")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        if this.once.is_completed() { this.value.get() } else { None }
    }

    /// The value, if it was made.
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
