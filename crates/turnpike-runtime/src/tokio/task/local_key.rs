//! Values of tasks: `task_local!`.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::thread;

/// A value that a future has while it is polled. Created by
/// [`task_local!`](crate::tokio::task_local).
pub struct LocalKey<T: 'static> {
    slot: &'static thread::LocalKey<RefCell<Option<T>>>,
}

/// There is no value, because no future with one is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task-local value not set")
    }
}

impl std::error::Error for AccessError {}

/// Exchanges the value of the thread with another one, and back when it is dropped.
struct Exchange<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<'a, T> Exchange<'a, T> {
    fn new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Self {
        key.slot.with(|slot| std::mem::swap(&mut *slot.borrow_mut(), value));
        Exchange { key, value }
    }
}

impl<T> Drop for Exchange<'_, T> {
    fn drop(&mut self) {
        let value = &mut *self.value;
        // A thread that ends has no value to exchange.
        let _ = self.key.slot.try_with(|slot| std::mem::swap(&mut *slot.borrow_mut(), value));
    }
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn of(slot: &'static thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { slot }
    }

    /// A future that has this value while it is polled.
    pub fn scope<F: Future>(&'static self, value: T, f: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Some(f) }
    }

    /// Calls `f` with this value.
    #[track_caller]
    pub fn sync_scope<F: FnOnce() -> R, R>(&'static self, value: T, f: F) -> R {
        let mut value = Some(value);
        let _exchange = Exchange::new(self, &mut value);
        f()
    }

    /// Calls `f` with the value.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn with<F: FnOnce(&T) -> R, R>(&'static self, f: F) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(_) => panic!("cannot access a task-local storage value without setting it first"),
        }
    }

    /// Calls `f` with the value, if there is one.
    pub fn try_with<F: FnOnce(&T) -> R, R>(&'static self, f: F) -> Result<R, AccessError> {
        let with = |slot: &RefCell<Option<T>>| slot.borrow().as_ref().map(f).ok_or(AccessError(()));
        self.slot.try_with(with).map_err(|_| AccessError(()))?
    }

    /// A copy of the value.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// A copy of the value, if there is one.
    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

/// The future of [`LocalKey::scope`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    /// Dropped with the value in place.
    future: Option<F>,
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// The value and the future, which is not moved.
    fn parts(self: Pin<&mut Self>) -> (&'static LocalKey<T>, &mut Option<T>, Pin<&mut Option<F>>) {
        // SAFETY: only the future is pinned; the destructor does not move it either.
        unsafe {
            let this = self.get_unchecked_mut();
            (this.key, &mut this.value, Pin::new_unchecked(&mut this.future))
        }
    }

    /// Takes the value out.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.parts().1.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let (key, value, mut future) = self.parts();
        let _exchange = Exchange::new(key, value);
        let running = future.as_mut().as_pin_mut().expect("`TaskLocalFuture` polled after completion");
        let polled = running.poll(context);
        if polled.is_ready() {
            future.set(None);
        }
        polled
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            let _exchange = Exchange::new(self.key, &mut self.value);
            // In place, so the future is not moved.
            self.future = None;
        }
    }
}

impl<T: 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").finish_non_exhaustive()
    }
}

/// `tokio::task_local!`: values that futures have while they are polled.
#[doc(hidden)]
#[macro_export]
macro_rules! __task_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty; $($rest:tt)*) => {
        $crate::__task_local!($(#[$attribute])* $visible static $name: $type);
        $crate::__task_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty) => {
        $(#[$attribute])*
        $visible static $name: $crate::tokio::task::LocalKey<$type> = {
            $crate::thread_local! {
                static SLOT: ::std::cell::RefCell<::core::option::Option<$type>> =
                    const { ::std::cell::RefCell::new(::core::option::Option::None) };
            }
            $crate::tokio::task::LocalKey::of(&SLOT)
        };
    };
}
