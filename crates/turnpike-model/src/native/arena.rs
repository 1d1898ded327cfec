//! Values with dense numbers and stable addresses.

use std::sync::RwLock;

use crate::id_table::IdTable;

/// The capacity of an [`IdTable`].
const CAPACITY: u32 = 1 << 30;

/// Numbers distinct values from 0 in order of arrival. Reading by number takes no lock and returns
/// a reference that stays valid, because values never move. Only insertions are serialised.
#[derive(Debug)]
pub(super) struct Arena<T> {
    index: RwLock<IdTable>,
    entries: boxcar::Vec<Entry<T>>,
}

#[derive(Debug)]
pub(super) struct Entry<T> {
    /// Stored because tables need it again when they grow, and searches for every choice.
    pub(super) hash: u64,
    pub(super) value: T,
}

impl<T: Eq> Arena<T> {
    pub(super) fn new() -> Self {
        Arena { index: RwLock::default(), entries: boxcar::Vec::new() }
    }

    /// The value with this number.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&Entry<T>> {
        self.entries.get(id as usize)
    }

    /// The number of a known value.
    pub(super) fn find(&self, hash: u64, same: impl Fn(&T) -> bool) -> Option<u32> {
        let index = self.index.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        index.find(hash, |id| self.matches(id, hash, &same))
    }

    /// The number of `value`, which is added if it is new; `None` if the arena is full.
    pub(super) fn intern(&self, hash: u64, value: T) -> Option<u32> {
        if let Some(id) = self.find(hash, |known| *known == value) {
            return Some(id);
        }
        // A panic inside the lock can only come from comparing values, before anything has changed,
        // so the data behind a poisoned lock are intact.
        let mut index = self.index.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Another thread may have added it in between.
        if let Some(id) = index.find(hash, |id| self.matches(id, hash, |known| *known == value)) {
            return Some(id);
        }
        let next = index.len() as u32;
        if next >= CAPACITY {
            return None;
        }
        // The value before its number, so that a thread that finds the number also finds the value.
        let place = self.entries.push(Entry { hash, value });
        debug_assert_eq!(place, next as usize);
        let (id, _) = index.find_or_insert(hash, |_| false, |id| self.get(id).map_or(0, |entry| entry.hash));
        debug_assert_eq!(id, next);
        Some(id)
    }

    #[inline]
    fn matches(&self, id: u32, hash: u64, same: impl Fn(&T) -> bool) -> bool {
        self.get(id).is_some_and(|entry| entry.hash == hash && same(&entry.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_agree_on_numbers() {
        // A multiple of four that is not one of seven; small for Miri, which executes slowly.
        const COUNT: u64 = if cfg!(miri) { 200 } else { 20_000 };
        let arena: Arena<u64> = Arena::new();
        let number = |value: u64| arena.intern(crate::hash::mix(0, value), value).expect("room");
        let lists: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4u64)
                .map(|thread| {
                    let number = &number;
                    scope.spawn(move || {
                        let mut list = vec![0; COUNT as usize];
                        for step in 0..COUNT {
                            let value = (step * 7 + thread * (COUNT / 4)) % COUNT;
                            list[value as usize] = number(value);
                        }
                        list
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(lists.windows(2).all(|pair| pair[0] == pair[1]));
        let mut ids = lists[0].clone();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(0..COUNT as u32));
        for (value, &id) in lists[0].iter().enumerate() {
            assert_eq!(arena.get(id).expect("there").value, value as u64);
        }
        assert!(arena.get(COUNT as u32).is_none());
        assert!(arena.get(u32::MAX).is_none());
        assert_eq!(arena.find(5, |_| true), None);
    }
}
