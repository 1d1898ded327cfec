//! Thread-local values: one per thread of an execution, dropped at its end.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::rc::Rc;

use crate::context;

/// A thread-local value. Created by [`thread_local!`](crate::thread_local!).
pub struct LocalKey<T: 'static> {
    real: std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// The values of one thread. A destroyed one remains as `None`.
#[derive(Default)]
pub(crate) struct Locals(Vec<(usize, Option<Rc<dyn Any>>)>);

impl Locals {
    /// Drops all values, the youngest first. `with` provides access to the values of the running
    /// thread, never while one is dropped.
    pub(crate) fn destroy(with: impl Fn(&mut dyn FnMut(&mut Locals))) {
        loop {
            let mut value = None;
            with(&mut |locals| value = locals.0.iter_mut().rev().find_map(|(_, value)| value.take()));
            if value.is_none() {
                return;
            }
        }
    }
}

/// The value was already dropped: the thread is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { real, init }
    }

    /// Calls `f` with the running thread's value, initialised now if necessary.
    ///
    /// # Panics
    ///
    /// If the value was already dropped.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("cannot access a thread-local value after its destruction")
    }

    /// [`with`](Self::with), or an error if the value was already dropped.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let Some(runtime) = context::active() else {
            return self.real.try_with(f).map_err(|_| AccessError);
        };
        let key = std::ptr::from_ref(self).addr();
        let known = runtime.locals(|locals| locals.0.iter().find(|(k, _)| *k == key).map(|(_, v)| v.clone()));
        let value = match known {
            Some(value) => value,
            None => {
                let value: Rc<dyn Any> = Rc::new((self.init)());
                runtime.locals(|locals| locals.0.push((key, Some(value.clone()))));
                Some(value)
            }
        };
        let value = value.and_then(|value| value.downcast::<T>().ok()).ok_or(AccessError)?;
        Ok(f(&value))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// A copy of the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Replaces the value and returns the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls `f` with a reference to the content of the cell.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls `f` with a mutable reference to the content of the cell.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| *cell.borrow_mut() = value);
    }

    /// Takes the value and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Replaces the value and returns the old one.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Declares thread-local values, like the standard library's macro: `static NAME: T = init;` or
/// `static NAME: T = const { init };`.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::__thread_local_one!($(#[$attribute])* $visibility $name, $type, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $init:block) => {
        $crate::__thread_local_one!($(#[$attribute])* $visibility $name, $type, $init);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__thread_local_one!($(#[$attribute])* $visibility $name, $type, $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::__thread_local_one!($(#[$attribute])* $visibility $name, $type, $init);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __thread_local_one {
    ($(#[$attribute:meta])* $visibility:vis $name:ident, $type:ty, $init:expr) => {
        $(#[$attribute])*
        $visibility static $name: $crate::thread::LocalKey<$type> = {
            fn init() -> $type {
                $init
            }
            ::std::thread_local! { static REAL: $type = init(); }
            $crate::thread::LocalKey::new(REAL, init)
        };
    };
}
