//! `Arc`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{self, LazyLock, Mutex, PoisonError};

use super::count::{Count, Use};
use super::weak::Weak;

/// A value with several owners. Changing the reference count is a step where it can be observed.
///
/// Unlike the standard library's it does not coerce to an `Arc<dyn Trait>`: create it from a
/// `Box<dyn Trait>` or [from the standard library's](Arc::from_std). It cannot be the receiver in
/// `self: Arc<Self>`.
pub struct Arc<T: ?Sized> {
    inner: Option<sync::Arc<T>>,
    count: sync::Arc<Count>,
}

/// The counts of references that are currently raw pointers.
static RAW: LazyLock<Mutex<HashMap<usize, Vec<sync::Arc<Count>>>>> = LazyLock::new(Mutex::default);

impl<T> Arc<T> {
    /// A value with one owner.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Arc::from_std(sync::Arc::new(value))
    }

    /// A value that can contain references to itself.
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Self {
        let count = sync::Arc::new(Count::new());
        let inner = sync::Arc::new_cyclic(|weak| make(&Weak::of(weak.clone(), &count)));
        Arc { inner: Some(inner), count }
    }

    /// A pinned value.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Self>
    where
        T: Unpin,
    {
        Pin::new(Arc::new(value))
    }

    /// The value, if this is the only owner.
    #[track_caller]
    pub fn try_unwrap(mut this: Self) -> Result<T, Self> {
        this.count.ask(Use::Claim, "Arc::try_unwrap", Location::caller());
        match this.take().map(sync::Arc::try_unwrap) {
            Some(Ok(value)) => Ok(value),
            Some(Err(inner)) => {
                this.inner = Some(inner);
                Err(this)
            }
            None => Err(this),
        }
    }

    /// The value, if this is the last owner; otherwise drops this owner.
    #[track_caller]
    pub fn into_inner(mut this: Self) -> Option<T> {
        this.count.ask(Use::Claim, "Arc::into_inner", Location::caller());
        this.take().and_then(sync::Arc::into_inner)
    }

    /// The value, or a clone of it.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }
}

impl<T: ?Sized> Arc<T> {
    /// A new owner that shares the value from now on. References created from the other before are
    /// not tracked.
    #[track_caller]
    pub fn from_std(inner: sync::Arc<T>) -> Self {
        Arc { inner: Some(inner), count: sync::Arc::new(Count::new()) }
    }

    fn inner(&self) -> &sync::Arc<T> {
        self.inner.as_ref().expect("an owner has its value")
    }

    fn take(&mut self) -> Option<sync::Arc<T>> {
        self.inner.take()
    }

    pub(super) fn of(inner: sync::Arc<T>, count: &sync::Arc<Count>) -> Self {
        Arc { inner: Some(inner), count: sync::Arc::clone(count) }
    }

    /// The value, if there is no other reference to it.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.count.ask(Use::Look, "Arc::get_mut", Location::caller());
        let only = this.inner.as_mut().and_then(sync::Arc::get_mut)?;
        this.count.acquire();
        Some(only)
    }

    /// A reference that does not own the value.
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.count.share(Location::caller());
        Weak::of(sync::Arc::downgrade(this.inner()), &this.count)
    }

    /// The number of owners.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.count.ask(Use::Look, "Arc::strong_count", Location::caller());
        sync::Arc::strong_count(this.inner())
    }

    /// The number of weak references.
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.count.ask(Use::Look, "Arc::weak_count", Location::caller());
        sync::Arc::weak_count(this.inner())
    }

    /// Whether both own the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        sync::Arc::ptr_eq(this.inner(), other.inner())
    }

    /// The address of the value.
    pub fn as_ptr(this: &Self) -> *const T {
        sync::Arc::as_ptr(this.inner())
    }

    /// Turns the owner into a pointer, which [`from_raw`](Self::from_raw) turns back.
    pub fn into_raw(mut this: Self) -> *const T {
        let inner = this.take().expect("an owner has its value");
        let pointer = sync::Arc::into_raw(inner);
        let mut raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
        raw.entry(pointer.cast::<()>() as usize).or_default().push(sync::Arc::clone(&this.count));
        pointer
    }

    /// The owner that became a pointer.
    ///
    /// # Safety
    /// The pointer comes from [`into_raw`](Self::into_raw), and each is made an owner once.
    #[track_caller]
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let address = pointer.cast::<()>() as usize;
        let mut raw = RAW.lock().unwrap_or_else(PoisonError::into_inner);
        let count = raw.get_mut(&address).and_then(Vec::pop);
        raw.retain(|_, counts| !counts.is_empty());
        drop(raw);
        // SAFETY: the caller's promise.
        let inner = unsafe { sync::Arc::from_raw(pointer) };
        Arc { inner: Some(inner), count: count.unwrap_or_else(|| sync::Arc::new(Count::new())) }
    }
}

impl<T: Clone> Arc<T> {
    /// A mutable reference to the value, which is cloned first if there are other references.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        this.count.ask(Use::Claim, "Arc::make_mut", Location::caller());
        if this.inner.as_mut().and_then(sync::Arc::get_mut).is_none() {
            *this = Arc::new((**this).clone());
        }
        this.inner.as_mut().and_then(sync::Arc::get_mut).expect("there is no other reference")
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.count.share(Location::caller());
        Arc::of(sync::Arc::clone(self.inner()), &self.count)
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        // What follows may unwind if the execution ends here.
        let Some(inner) = self.take() else { return };
        let drops = std::mem::needs_drop::<T>();
        self.count.release(drops);
        if drops && sync::Arc::strong_count(&inner) == 1 {
            self.count.drop_last(inner);
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.inner()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

/// The same conversions as in the standard library.
macro_rules! from {
    ($([$($generic:tt)*] $from:ty => $to:ty;)*) => { $(
        impl<$($generic)*> From<$from> for Arc<$to> {
            #[track_caller]
            fn from(value: $from) -> Self {
                Arc::from_std(sync::Arc::from(value))
            }
        }
    )* };
}

from! {
    [T: ?Sized] Box<T> => T;
    [T] Vec<T> => [T];
    [T: Clone] &[T] => [T];
    [] String => str;
    [] &str => str;
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::from_std(values.into_iter().collect())
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Arc::as_ptr(self), f)
    }
}

impl<T: ?Sized + std::error::Error> std::error::Error for Arc<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (**self).source()
    }
}
