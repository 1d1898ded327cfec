//! The common parts of `Mutex` and `RwLock`: results of the real locks, and traits of locks and
//! guards.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::runtime::{Runtime, Turn};

/// The result of acquiring the real guard, if the lock was free.
pub(super) fn ready<G>(result: TryLockResult<G>) -> Option<LockResult<G>> {
    match result {
        Ok(guard) => Some(Ok(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Err(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Wraps a real guard.
pub(super) fn wrap<G, W>(result: LockResult<G>, wrap: impl FnOnce(G) -> W) -> LockResult<W> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(poisoned) => Err(PoisonError::new(wrap(poisoned.into_inner()))),
    }
}

/// Acquires the real lock, after the kernel granted it or while the thread unwinds.
pub(super) fn take<G>(
    runtime: &Runtime,
    turn: Turn,
    attempt: impl FnMut() -> Option<LockResult<G>>,
) -> LockResult<G> {
    match turn {
        Turn::Step(_) => super::granted(runtime, attempt),
        Turn::Quiet => super::quietly(runtime, attempt),
    }
}

/// Methods and traits of a lock with the fields `tag` and `inner`, and a method `id`.
macro_rules! lock {
    ($name:ident, $verb:literal) => {
        impl<T> $name<T> {
            /// An unlocked lock.
            #[track_caller]
            pub const fn new(value: T) -> Self {
                $name { tag: Tag::new(), inner: sync::$name::new(value) }
            }

            /// The data.
            pub fn into_inner(self) -> LockResult<T> {
                self.inner.into_inner()
            }
        }

        impl<T: ?Sized> $name<T> {
            #[doc = concat!("Whether a thread panicked while it ", $verb, ".")]
            pub fn is_poisoned(&self) -> bool {
                if let Some(runtime) = context::active() {
                    // Clear poisoning by an earlier execution.
                    let _ = self.id(runtime);
                }
                self.inner.is_poisoned()
            }

            #[doc = concat!("Forgets that a thread panicked while it ", $verb, ".")]
            pub fn clear_poison(&self) {
                self.inner.clear_poison();
            }

            /// The data. The exclusive borrow makes locking unnecessary.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.inner.get_mut()
            }

            fn operation(&self, runtime: &Runtime, kind: Kind, place: Place) -> Operation {
                Operation::new(kind, self.id(runtime), site::of(place))
            }

            /// Ignores poisoning by an earlier execution.
            fn forget_earlier(&self, earlier: bool) {
                if earlier {
                    self.inner.clear_poison();
                }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        crate::traits::from_value!($name);
    };
}
pub(super) use lock;

/// Traits of a guard that has the real guard in the field `inner`.
macro_rules! guard {
    ($name:ident) => {
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.inner.as_ref().expect("a guard has its lock")
            }
        }

        crate::traits::shown_as_data!($name<'a>);
    };
    (mut $name:ident) => {
        guard!($name);

        impl<T: ?Sized> DerefMut for $name<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                self.inner.as_mut().expect("a guard has its lock")
            }
        }
    };
}
pub(super) use guard;
