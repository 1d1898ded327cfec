//! Hash maps and sets whose order is the same in every execution.
//!
//! The standard library's maps are seeded at random, so that iterating over them makes a test
//! nondeterministic. These differ only in the seed, which is fixed inside a check. All other
//! collections are the standard library's.

use std::borrow::Borrow;
use std::collections;
use std::hash::{BuildHasher, DefaultHasher, Hash};
use std::ops::{BitAnd, BitOr, BitXor, Deref, DerefMut, Index, Sub};

use crate::context;

pub use std::collections::{
    BTreeMap, BTreeSet, BinaryHeap, Bound, LinkedList, TryReserveError, VecDeque, binary_heap, btree_map,
    btree_set, linked_list, vec_deque,
};

/// The types around [`HashMap`].
pub mod hash_map {
    pub use super::{HashMap, RandomState};
    pub use std::collections::hash_map::{
        DefaultHasher, Drain, Entry, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys,
        OccupiedEntry, VacantEntry, Values, ValuesMut,
    };
}

/// The types around [`HashSet`].
pub mod hash_set {
    pub use super::HashSet;
    pub use std::collections::hash_set::{
        Difference, Drain, ExtractIf, Intersection, IntoIter, Iter, SymmetricDifference, Union,
    };
}

/// Creates hashers: with a fixed seed inside a check, with a random one outside.
#[derive(Clone, Debug)]
pub struct RandomState(Option<std::hash::RandomState>);

impl RandomState {
    /// A source of hashers with a new seed.
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
    ($name:ident, $what:literal, ($($parameter:ident),*), $item:ty, $key:ident) => {
        #[doc = $what]
        #[derive(Clone, Debug)]
        pub struct $name<$($parameter),*>(collections::$name<$($parameter,)* RandomState>);

        impl<$($parameter),*> $name<$($parameter),*> {
            /// An empty collection.
            pub fn new() -> Self {
                $name(collections::$name::with_hasher(RandomState::new()))
            }

            /// An empty collection with room for `capacity` entries.
            pub fn with_capacity(capacity: usize) -> Self {
                $name(collections::$name::with_capacity_and_hasher(capacity, RandomState::new()))
            }
        }

        impl<$($parameter),*> Default for $name<$($parameter),*> {
            fn default() -> Self {
                $name::new()
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
            $key: Eq + Hash,
        {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                $name(items.into_iter().collect())
            }
        }

        impl<$($parameter,)* const N: usize> From<[$item; N]> for $name<$($parameter),*>
        where
            $key: Eq + Hash,
        {
            fn from(items: [$item; N]) -> Self {
                items.into_iter().collect()
            }
        }

        impl<$($parameter),*> Extend<$item> for $name<$($parameter),*>
        where
            $key: Eq + Hash,
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

collection!(HashMap, "A hash map.", (K, V), (K, V), K);
collection!(HashSet, "A hash set.", (T), T, T);

impl<K, V> HashMap<K, V> {
    /// The keys, consuming the map.
    pub fn into_keys(self) -> hash_map::IntoKeys<K, V> {
        self.0.into_keys()
    }

    /// The values, consuming the map.
    pub fn into_values(self) -> hash_map::IntoValues<K, V> {
        self.0.into_values()
    }
}

impl<'a, K, V> IntoIterator for &'a mut HashMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = hash_map::IterMut<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<'a, K: Eq + Hash + Copy, V: Copy> Extend<(&'a K, &'a V)> for HashMap<K, V> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<'a, T: Eq + Hash + Copy> Extend<&'a T> for HashSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.0.extend(items);
    }
}

impl<K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized, V> Index<&Q> for HashMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        &self.0[key]
    }
}

impl<K: Eq + Hash, V: PartialEq> PartialEq for HashMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Eq + Hash, V: Eq> Eq for HashMap<K, V> {}

impl<T: Eq + Hash> PartialEq for HashSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Eq + Hash> Eq for HashSet<T> {}

macro_rules! set_operations {
    ($($trait:ident $method:ident $of:ident),* $(,)?) => {
        $(
            impl<T: Eq + Hash + Clone> $trait<&HashSet<T>> for &HashSet<T> {
                type Output = HashSet<T>;

                fn $method(self, other: &HashSet<T>) -> HashSet<T> {
                    self.0.$of(&other.0).cloned().collect()
                }
            }
        )*
    };
}

set_operations! {
    BitOr bitor union,
    BitAnd bitand intersection,
    BitXor bitxor symmetric_difference,
    Sub sub difference,
}
