//! Hash maps and sets whose order is the same in every execution.
//!
//! The standard library's maps are seeded at random, so that iterating over them makes a test nondeterministic. These
//! differ only in the seed, which is fixed inside a check.

use std::collections;
use std::hash::{BuildHasher, DefaultHasher};
use std::ops::{Deref, DerefMut};

use crate::context;

/// Makes hashers: with a fixed seed inside a check, with a random one outside.
#[derive(Clone, Debug)]
pub struct RandomState(Option<std::hash::RandomState>);

impl RandomState {
    /// A seed.
    pub fn new() -> Self {
        RandomState(context::active().is_none().then(std::hash::RandomState::new))
    }
}

impl Default for RandomState {
    fn default() -> Self {
        RandomState::new()
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        match &self.0 {
            Some(real) => real.build_hasher(),
            None => DefaultHasher::new(),
        }
    }
}

macro_rules! collection {
    ($name:ident, $what:literal, ($($parameter:ident),*), $item:ty, $($bound:tt)*) => {
        #[doc = $what]
        #[derive(Clone, Debug, Default)]
        pub struct $name<$($parameter),*>(collections::$name<$($parameter,)* RandomState>);

        impl<$($parameter),*> $name<$($parameter),*> {
            /// Empty.
            pub fn new() -> Self {
                $name(collections::$name::with_hasher(RandomState::new()))
            }

            /// Empty, with room for `capacity` entries.
            pub fn with_capacity(capacity: usize) -> Self {
                $name(collections::$name::with_capacity_and_hasher(capacity, RandomState::new()))
            }
        }

        impl<$($parameter),*> Deref for $name<$($parameter),*> {
            type Target = collections::$name<$($parameter,)* RandomState>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$($parameter),*> DerefMut for $name<$($parameter),*> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl<$($parameter),*> FromIterator<$item> for $name<$($parameter),*>
        where
            $($bound)*
        {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                $name(items.into_iter().collect())
            }
        }

        impl<$($parameter),*> Extend<$item> for $name<$($parameter),*>
        where
            $($bound)*
        {
            fn extend<I: IntoIterator<Item = $item>>(&mut self, items: I) {
                self.0.extend(items);
            }
        }

        impl<$($parameter),*> IntoIterator for $name<$($parameter),*> {
            type Item = $item;
            type IntoIter = <collections::$name<$($parameter,)* RandomState> as IntoIterator>::IntoIter;

            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }

        impl<'a, $($parameter),*> IntoIterator for &'a $name<$($parameter),*> {
            type Item = <&'a collections::$name<$($parameter,)* RandomState> as IntoIterator>::Item;
            type IntoIter = <&'a collections::$name<$($parameter,)* RandomState> as IntoIterator>::IntoIter;

            fn into_iter(self) -> Self::IntoIter {
                self.0.iter()
            }
        }
    };
}

collection!(HashMap, "A hash map.", (K, V), (K, V), K: Eq + std::hash::Hash);
collection!(HashSet, "A hash set.", (T), T, T: Eq + std::hash::Hash);

impl<K: Eq + std::hash::Hash, V: PartialEq> PartialEq for HashMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + std::hash::Hash> PartialEq for HashSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
