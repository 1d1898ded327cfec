//! Trait implementations shared by the look-alikes of several libraries.

/// `Default` and `From` for a type that `new` creates from one value.
macro_rules! from_value {
    ($name:ident) => {
        impl<T: Default> Default for $name<T> {
            #[track_caller]
            fn default() -> Self {
                $name::new(T::default())
            }
        }

        impl<T> From<T> for $name<T> {
            #[track_caller]
            fn from(value: T) -> Self {
                $name::new(value)
            }
        }
    };
}
pub(crate) use from_value;

/// `Debug` for a lock, without the data: reading it would be a step.
macro_rules! opaque {
    ($name:ident) => {
        impl<T: ?Sized> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use opaque;

/// `Debug` and `Display` for a guard: those of the data.
macro_rules! shown_as_data {
    ($name:ident of U) => {
        impl<T: ?Sized, U: ?Sized + std::fmt::Debug> std::fmt::Debug for $name<T, U> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized, U: ?Sized + std::fmt::Display> std::fmt::Display for $name<T, U> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    ($name:ident $(<$life:lifetime>)?) => {
        impl<$($life,)? T: ?Sized + std::fmt::Debug> std::fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($life,)? T: ?Sized + std::fmt::Display> std::fmt::Display for $name<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
pub(crate) use shown_as_data;

/// The iterators of a receiver that has `recv` and `try_recv`.
macro_rules! iterators {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// All messages, until no sender is left.
            pub fn iter(&self) -> Iter<'_, T> {
                Iter(self)
            }

            /// The available messages.
            pub fn try_iter(&self) -> TryIter<'_, T> {
                TryIter(self)
            }
        }

        /// Waits for messages until no sender is left.
        #[derive(Debug)]
        pub struct Iter<'a, T>(&'a $receiver<T>);

        /// Takes messages while there are some.
        #[derive(Debug)]
        pub struct TryIter<'a, T>(&'a $receiver<T>);

        /// Waits for messages until no sender is left, and owns the receiver.
        #[derive(Debug)]
        pub struct IntoIter<T>($receiver<T>);

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<'a, T> IntoIterator for &'a $receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for $receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter(self)
            }
        }
    };
}
pub(crate) use iterators;
