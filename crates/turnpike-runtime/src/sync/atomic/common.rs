//! What atomic variables of all types have.

/// Defines it for a type with the fields `tag` and `inner`.
macro_rules! common {
    ($name:ident $(<$of:ident>)?, $value:ty) => {
        impl$(<$of>)? $name$(<$of>)? {
            #[doc = concat!("A variable of type `", stringify!($value), "`.")]
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                $name { tag: Tag::new(), inner: atomic::$name::new(value) }
            }

            /// Reads it.
            #[track_caller]
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                turn(&self.tag, Kind::Load, Location::caller());
                self.inner.load(order)
            }

            /// Writes it.
            #[track_caller]
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                turn(&self.tag, Kind::Store, Location::caller());
                self.inner.store(value, order);
            }

            /// Writes it and gives the value before.
            #[track_caller]
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                turn(&self.tag, Kind::Update, Location::caller());
                self.inner.swap(value, order)
            }

            /// Writes it if it has the value `current`. Gives the value before, as `Ok` if it was
            /// written.
            #[track_caller]
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                turn_exchange(&self.tag, Location::caller(), || {
                    self.inner.load(Ordering::Relaxed) == current
                });
                self.inner.compare_exchange(current, new, success, failure)
            }

            /// [`compare_exchange`](Self::compare_exchange); inside a check it does not fail
            /// spuriously.
            #[track_caller]
            #[inline]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                turn_exchange(&self.tag, Location::caller(), || {
                    self.inner.load(Ordering::Relaxed) == current
                });
                if crate::context::active().is_some() {
                    self.inner.compare_exchange(current, new, success, failure)
                } else {
                    self.inner.compare_exchange_weak(current, new, success, failure)
                }
            }

            /// Writes it if it has the value `current`, and gives the value before.
            #[deprecated(note = "use compare_exchange, as with the standard library")]
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    other => other,
                };
                self.compare_exchange(current, new, order, failure).unwrap_or_else(|value| value)
            }

            /// Reads it and writes what `f` makes of it, until nobody wrote in between or `f` gives
            /// nothing.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                let mut before = self.load(fetch_order);
                while let Some(next) = f(before) {
                    match self.compare_exchange_weak(before, next, set_order, fetch_order) {
                        Ok(value) => return Ok(value),
                        Err(value) => before = value,
                    }
                }
                Err(before)
            }

            /// The same under its newer name.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Reads it and writes what `f` makes of it, until nobody wrote in between. Gives the
            /// value before.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
                    Ok(before) | Err(before) => before,
                }
            }

            /// The value; nobody else can use it.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// The value.
            pub const fn into_inner(self) -> $value {
                self.inner.into_inner()
            }

            /// The address of the value. What is done through it is not seen by the scheduler.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }
        }

        impl$(<$of>)? From<$value> for $name$(<$of>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                $name::new(value)
            }
        }

        impl$(<$of>)? fmt::Debug for $name$(<$of>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}
pub(super) use common;
