//! `LazyLock`.

use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::once_lock::OnceLock;

/// A value that is made when it is first used.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `make` will make.
    #[track_caller]
    pub const fn new(make: F) -> Self {
        LazyLock { value: OnceLock::new(), make: Mutex::new(Some(make)) }
    }

    /// The value, made now if it was not yet.
    ///
    /// # Panics
    /// When an earlier attempt to make it panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
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
        f.debug_tuple("LazyLock").finish_non_exhaustive()
    }
}
