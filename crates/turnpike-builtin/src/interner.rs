//! Consecutive label ids for labels with unbounded arguments.

use std::sync::{PoisonError, RwLock};

use turnpike_model::{IdTable, LabelId, hash};

/// The contents of a label: the action, and up to three numbers.
pub(crate) type Key = [u32; 4];

/// Assigns ids to keys in the order of their first use. It belongs to the model, so that all its
/// explorers use the same ids.
#[derive(Default)]
pub(crate) struct Interner(RwLock<Table>);

#[derive(Default)]
struct Table {
    index: IdTable,
    keys: Vec<Key>,
}

impl Table {
    fn find(&self, hash: u64, key: &Key) -> Option<u32> {
        self.index.find(hash, |id| self.keys[id as usize] == *key)
    }
}

impl Interner {
    /// The id of `key`, which is assigned if it has none.
    pub(crate) fn id(&self, key: Key) -> LabelId {
        let hash = hash::words(&key);
        // Most keys are known already, and readers do not block each other. Poisoning is ignored
        // because a panic cannot leave the table in a harmful state.
        if let Some(id) = self.0.read().unwrap_or_else(PoisonError::into_inner).find(hash, &key) {
            return LabelId(id);
        }
        let Table { index, keys } = &mut *self.0.write().unwrap_or_else(PoisonError::into_inner);
        let (id, new) =
            index.find_or_insert(hash, |id| keys[id as usize] == key, |id| hash::words(&keys[id as usize]));
        if new {
            keys.push(key);
        }
        LabelId(id)
    }

    /// The key of an id.
    ///
    /// # Panics
    /// If the id is unknown.
    pub(crate) fn key(&self, id: u32) -> Key {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_all_users() {
        let interner = Interner::default();
        let first: Vec<LabelId> = (0..1000).map(|n| interner.id([1, n, n / 2, 7])).collect();
        let again: Vec<LabelId> = std::thread::scope(|scope| {
            let other = scope.spawn(|| (0..1000).map(|n| interner.id([1, n, n / 2, 7])).collect());
            other.join().expect("no panic")
        });
        assert_eq!(first, again);
        for (n, id) in first.into_iter().enumerate() {
            assert_eq!(interner.key(id.0), [1, n as u32, n as u32 / 2, 7]);
        }
    }
}
