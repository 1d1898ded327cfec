//! The common parts of all atomic types.

/// Defines them for a type with the fields `tag` and `inner`.
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
                match turn(&self.tag, Kind::Load, order, Location::caller(), || self.values(None, None)) {
                    Some(seen) => seen.value(),
                    None => self.inner.load(order),
                }
            }

            /// Writes it.
            #[track_caller]
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                let values = || self.values(Some(value), None);
                match turn(&self.tag, Kind::Store, order, Location::caller(), values) {
                    Some(seen) => self.inner.store(seen.newest(), Ordering::Relaxed),
                    None => self.inner.store(value, order),
                }
            }

            /// Writes it and returns the previous value.
            #[track_caller]
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                match turn(&self.tag, Kind::Update, order, Location::caller(), || self.values(None, None)) {
                    Some(seen) => self.leave(&seen, value),
                    None => self.inner.swap(value, order),
                }
            }

            /// The values of an operation that the scheduler needs under weak memory.
            fn values(&self, stores: Option<$value>, expected: Option<$value>) -> AtomicValues {
                AtomicValues {
                    present: self.inner.load(Ordering::Relaxed).to_word(),
                    stores: stores.map_or(0, Word::to_word),
                    expected: expected.map(Word::to_word),
                    awaits_change_of: None,
                }
            }

            /// Stores the result of a read-modify-write under weak memory. Returns the previous
            /// value.
            fn leave(&self, seen: &Seen, new: $value) -> $value {
                seen.leave(new);
                self.inner.store(seen.newest(), Ordering::Relaxed);
                seen.value()
            }

            /// As [`leave`](Self::leave), for a compare-and-exchange.
            fn leave_if(&self, seen: &Seen, new: $value) -> Result<$value, $value> {
                if seen.wrote() { Ok(self.leave(seen, new)) } else { Err(seen.value()) }
            }

            /// Writes it if it has the value `current`. Returns the previous value, as `Ok` if it
            /// was written.
            #[track_caller]
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let succeeds = || self.inner.load(Ordering::Relaxed) == current;
                let values = || self.values(None, Some(current));
                match turn_exchange(&self.tag, (success, failure), Location::caller(), succeeds, values) {
                    Some(seen) => self.leave_if(&seen, new),
                    None => self.inner.compare_exchange(current, new, success, failure),
                }
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
                if crate::context::active().is_some() {
                    self.compare_exchange(current, new, success, failure)
                } else {
                    self.inner.compare_exchange_weak(current, new, success, failure)
                }
            }

            /// Writes it if it has the value `current`, and returns the previous value.
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

            /// Applies `f` to it, repeatedly until no other thread wrote in between or `f` returns
            /// `None`.
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

            /// Applies `f` to it, repeatedly until no other thread wrote in between. Returns the
            /// previous value.
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

            /// The value. The exclusive borrow makes an atomic access unnecessary.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// The value.
            pub const fn into_inner(self) -> $value {
                self.inner.into_inner()
            }

            /// The address of the value. The scheduler does not see accesses through it.
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
