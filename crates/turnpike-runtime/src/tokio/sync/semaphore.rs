//! `Semaphore`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use super::permits::{AcquireError, Permits, TryAcquireError};
use crate::site::Place;

/// A number of permits, granted in the order of requests.
pub struct Semaphore {
    permits: Permits,
}

impl Semaphore {
    /// The maximal number of permits.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// A semaphore with this number of permits.
    ///
    /// # Panics
    /// If there are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub const fn new(permits: usize) -> Self {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { permits: Permits::new("async semaphore", permits) }
    }

    /// The same, for `static`s.
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Semaphore::new(permits)
    }

    /// The number of free permits.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.permits.look(Location::caller(), |state| state.free())
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.permits.give(n, Location::caller());
    }

    /// Removes free permits permanently, and returns their number.
    #[track_caller]
    pub fn forget_permits(&self, n: usize) -> usize {
        self.permits.forget(n, Location::caller())
    }

    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for several permits.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let place = Location::caller();
        async move {
            self.permits.take(n as usize, place).await?;
            Ok(SemaphorePermit { semaphore: self, permits: n, place })
        }
    }

    /// [`acquire`](Self::acquire) from code that is not async.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        crate::future::block_on(self.acquire())
    }

    /// [`acquire_many`](Self::acquire_many) from code that is not async.
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        crate::future::block_on(self.acquire_many(n))
    }

    /// [`acquire_owned`](Self::acquire_owned) from code that is not async.
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        crate::future::block_on(self.acquire_owned())
    }

    /// [`acquire_many_owned`](Self::acquire_many_owned) from code that is not async.
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        crate::future::block_on(self.acquire_many_owned(n))
    }

    /// A permit, if one is free.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Several permits, if they are free.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let place = Location::caller();
        self.permits.try_take(n as usize, place)?;
        Ok(SemaphorePermit { semaphore: self, permits: n, place })
    }

    /// Waits for a permit that does not borrow the semaphore.
    #[track_caller]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// Waits for several permits that do not borrow the semaphore.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Location::caller();
        async move {
            self.permits.take(n as usize, place).await?;
            Ok(OwnedSemaphorePermit { semaphore: self, permits: n, place })
        }
    }

    /// A permit that does not borrow the semaphore, if one is free.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Several permits that do not borrow the semaphore, if they are free.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let place = Location::caller();
        self.permits.try_take(n as usize, place)?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: n, place })
    }

    /// Closes it: waiting and later tasks get an error instead of permits.
    #[track_caller]
    pub fn close(&self) {
        self.permits.close(Location::caller());
    }

    /// Whether it is closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.permits.look(Location::caller(), |state| state.closed)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

/// Permits of a [`Semaphore`], returned when dropped.
#[must_use]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
    place: Place,
}

/// Permits that do not borrow their [`Semaphore`].
#[must_use]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
    place: Place,
}

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }

    /// Splits off some of them.
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok()?;
        self.permits = self.permits.checked_sub(n)?;
        Some(OwnedSemaphorePermit { semaphore: Arc::clone(&self.semaphore), permits: n, place: self.place })
    }
}

impl<'a> SemaphorePermit<'a> {
    /// The semaphore.
    pub fn semaphore(&self) -> &'a Semaphore {
        self.semaphore
    }

    /// Splits off some of them.
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok()?;
        self.permits = self.permits.checked_sub(n)?;
        Some(SemaphorePermit { semaphore: self.semaphore, permits: n, place: self.place })
    }
}

macro_rules! permit {
    ($name:ident $(<$life:lifetime>)?) => {
        impl$(<$life>)? $name$(<$life>)? {
            /// Drops them without returning them.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Adds the permits of another guard, which must belong to the same semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    std::ptr::eq::<Semaphore>(&*self.semaphore, &*other.semaphore),
                    "merging permits from different semaphore instances"
                );
                self.permits += std::mem::take(&mut other.permits);
            }

            /// The number of permits.
            pub fn num_permits(&self) -> usize {
                self.permits as usize
            }
        }

        impl$(<$life>)? Drop for $name$(<$life>)? {
            fn drop(&mut self) {
                if self.permits > 0 {
                    self.semaphore.permits.give(self.permits as usize, self.place);
                }
            }
        }

        impl$(<$life>)? fmt::Debug for $name$(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("permits", &self.permits).finish_non_exhaustive()
            }
        }
    };
}

permit!(SemaphorePermit<'a>);
permit!(OwnedSemaphorePermit);
