//! Replacements for the crates `once_cell` and `lazy_static`, under control of the scheduler.

/// Cells for many threads.
pub mod sync {
    use crate::sync::OnceLock;

    pub use crate::sync::LazyLock as Lazy;

    /// A value that is set once; in a `static`, once per execution.
    #[derive(Clone, PartialEq, Eq)]
    pub struct OnceCell<T>(OnceLock<T>);

    impl<T> OnceCell<T> {
        /// An empty cell.
        #[track_caller]
        pub const fn new() -> Self {
            OnceCell(OnceLock::new())
        }

        /// A cell with this value.
        #[track_caller]
        pub fn with_value(value: T) -> Self {
            OnceCell(OnceLock::from(value))
        }

        /// The value, if it was set.
        #[track_caller]
        pub fn get(&self) -> Option<&T> {
            self.0.get()
        }

        /// The value, after it was set.
        #[track_caller]
        pub fn wait(&self) -> &T {
            self.0.wait()
        }

        /// The value, if it was set.
        pub fn get_mut(&mut self) -> Option<&mut T> {
            self.0.get_mut()
        }

        /// Sets the value, or returns it as an error if there is one already.
        #[track_caller]
        pub fn set(&self, value: T) -> Result<(), T> {
            self.0.set(value)
        }

        /// Sets the value and returns a reference to it. An error if there is one already.
        #[track_caller]
        pub fn try_insert(&self, value: T) -> Result<&T, (&T, T)> {
            let mut value = Some(value);
            let cell = self.get_or_init(|| value.take().expect("a value is set once"));
            match value {
                None => Ok(cell),
                Some(value) => Err((cell, value)),
            }
        }

        /// The value, computed by `f` if there is none.
        #[track_caller]
        pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
            self.0.get_or_init(f)
        }

        /// The value, computed by `f` if there is none. If that fails, the next thread tries.
        #[track_caller]
        pub fn get_or_try_init<F: FnOnce() -> Result<T, E>, E>(&self, f: F) -> Result<&T, E> {
            self.0.try_init(f)
        }

        /// Takes the value out.
        #[track_caller]
        pub fn take(&mut self) -> Option<T> {
            self.0.take()
        }

        /// The value.
        pub fn into_inner(self) -> Option<T> {
            self.0.into_inner()
        }
    }

    impl<T> Default for OnceCell<T> {
        #[track_caller]
        fn default() -> Self {
            OnceCell::new()
        }
    }

    impl<T> From<T> for OnceCell<T> {
        #[track_caller]
        fn from(value: T) -> Self {
            OnceCell::with_value(value)
        }
    }

    impl<T: std::fmt::Debug> std::fmt::Debug for OnceCell<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }
}

/// Cells for one thread.
pub mod unsync {
    pub use std::cell::{LazyCell as Lazy, OnceCell};
}

/// `lazy_static!`: values that are computed when they are first used, once in each execution.
///
/// ```
/// turnpike_runtime::lazy_static! {
///     /// A table.
///     pub static ref SQUARES: Vec<u32> = (0..4).map(|number| number * number).collect();
/// }
/// assert_eq!(SQUARES[3], 9);
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $visible:vis static ref $name:ident: $type:ty = $value:expr;)*) => {
        $(
            $(#[$attribute])*
            $visible static $name: $crate::sync::LazyLock<$type> = $crate::sync::LazyLock::new(|| $value);
        )*
    };
}

/// Computes the value of a [`lazy_static!`](macro@crate::lazy_static) now.
#[track_caller]
pub fn initialize<T>(lazy: &crate::sync::LazyLock<T>) {
    crate::sync::LazyLock::force(lazy);
}
