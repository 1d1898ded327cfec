//! `OnceLock`.

use std::fmt;
use std::sync;

use super::once::Once;

/// A value that is set once.
pub struct OnceLock<T> {
    once: Once,
    value: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// Without a value.
    #[track_caller]
    pub const fn new() -> Self {
        OnceLock { once: Once::new(), value: sync::OnceLock::new() }
    }

    /// The value, if it was set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value.get() } else { None }
    }

    /// The value, if it was set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the value, or gives it back when there is one already. Waits while another thread sets it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("a value is set once"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, made by `f` if there is none. Waits while another thread makes it.
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        // A panic leaves the cell empty, not poisoned; whoever comes next tries again.
        self.once.call_once_force(|_| {
            // Set in an earlier execution, by an attempt that was cut off before it was published.
            if self.value.get().is_none() {
                let _ = self.value.set(f());
            }
        });
        self.value.get().expect("the value was set")
    }

    /// The value, after it was set.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.value.get().expect("the value was set")
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out.
    pub fn take(&mut self) -> Option<T> {
        self.once = Once::new();
        self.value.take()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let lock = OnceLock::new();
        // Nobody else has it, so nothing is scheduled.
        crate::context::outside(|| {
            let _ = lock.set(value);
        });
        lock
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
