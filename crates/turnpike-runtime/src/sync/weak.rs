//! `Weak`.

use std::fmt;
use std::panic::Location;
use std::sync;

use super::arc::Arc;
use super::count::{Count, Use};

/// A reference to the value of an [`Arc`] that does not keep it alive.
pub struct Weak<T: ?Sized> {
    inner: sync::Weak<T>,
    /// `None` for a reference to nothing.
    count: Option<sync::Arc<Count>>,
}

impl<T> Weak<T> {
    /// A reference to nothing.
    pub const fn new() -> Self {
        Weak { inner: sync::Weak::new(), count: None }
    }
}

impl<T: ?Sized> Weak<T> {
    pub(super) fn of(inner: sync::Weak<T>, count: &sync::Arc<Count>) -> Self {
        Weak { inner, count: Some(sync::Arc::clone(count)) }
    }

    /// An owner, if there is still one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let count = self.count.as_ref()?;
        count.ask(Use::Claim, "Weak::upgrade", Location::caller());
        Some(Arc::of(self.inner.upgrade()?, count))
    }

    /// The number of owners.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.look("Weak::strong_count", Location::caller());
        self.inner.strong_count()
    }

    /// The number of weak references, while there is an owner.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.look("Weak::weak_count", Location::caller());
        self.inner.weak_count()
    }

    fn look(&self, what: &str, place: &'static Location<'static>) {
        if let Some(count) = &self.count {
            count.ask(Use::Look, what, place);
        }
    }

    /// Whether both refer to the same value, or to nothing.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.inner.ptr_eq(&other.inner)
    }
}

impl<T> Weak<T> {
    /// Where the value is, or was.
    pub fn as_ptr(&self) -> *const T {
        self.inner.as_ptr()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        if let Some(count) = &self.count {
            count.share(Location::caller());
        }
        Weak { inner: self.inner.clone(), count: self.count.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(count) = &self.count {
            count.release(false);
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
