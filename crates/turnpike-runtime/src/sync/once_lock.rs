//! `OnceLock`.

use std::fmt;

use super::once::Once;
use super::slot::Slot;

/// A value that is set once; in a `static`, once per execution.
pub struct OnceLock<T> {
    once: Once,
    value: Slot<T>,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[track_caller]
    pub const fn new() -> Self {
        OnceLock { once: Once::new(), value: Slot::new() }
    }

    /// The value, if it was set.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value.get() } else { None }
    }

    /// The value, if it was set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.once.done_quietly() { self.value.get_mut() } else { None }
    }

    /// Sets the value, or returns it as an error if there is one already. Waits while another
    /// thread sets it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("a value is set once"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, computed by `f` if there is none. Waits while another thread computes it.
    #[track_caller]
    pub fn get_or_init<F>(&self, f: F) -> &T
    where
        F: FnOnce() -> T,
    {
        // A panic leaves the cell empty, not poisoned; the next thread tries again.
        self.once.call_once_force(|_| self.value.set(f()));
        self.value.get().expect("the value was set")
    }

    /// The value, computed by `f` if there is none. If that fails, the next thread tries.
    #[track_caller]
    pub(crate) fn try_init<F, E>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Result<T, E>,
    {
        let mut error = None;
        self.once.try_call(|| match f() {
            Ok(value) => {
                self.value.set(value);
                true
            }
            Err(failed) => {
                error = Some(failed);
                false
            }
        });
        match error {
            None => Ok(self.value.get().expect("the value was set")),
            Some(error) => Err(error),
        }
    }

    /// The value, after it was set.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait();
        self.value.get().expect("the value was set")
    }

    /// The value.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        if !self.once.done_quietly() {
            return None;
        }
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
        let mut out = f.debug_tuple("OnceLock");
        match self.value.get() {
            Some(value) if self.once.done_quietly() => out.field(value),
            _ => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let lock = OnceLock::new();
        // No other thread has access, so nothing is scheduled.
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
