//! A small open-addressing hash table from 64-bit keys, without removal: all that the shadow of an
//! address space needs. It cannot be iterated over, so its order cannot influence a result.

use alloc::vec::Vec;

/// A map from keys to small values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table<V> {
    /// Key plus one (0 = free), value. The length is a power of two, or 0 before the first key.
    slots: Vec<(u64, V)>,
    used: usize,
}

impl<V: Copy + Default> Table<V> {
    /// An empty table; allocates nothing.
    pub(crate) const fn new() -> Self {
        Table { slots: Vec::new(), used: 0 }
    }

    /// The value of `key`.
    pub(crate) fn get(&self, key: u64) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.find(key);
        (self.slots[at].0 != 0).then(|| self.slots[at].1)
    }

    /// The value of `key`, which is the default value when it is new.
    pub(crate) fn entry(&mut self, key: u64) -> &mut V {
        if self.used * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let at = self.find(key);
        let slot = &mut self.slots[at];
        if slot.0 == 0 {
            slot.0 = key.wrapping_add(1);
            self.used += 1;
        }
        &mut slot.1
    }

    /// The place of the key, or the free place where it would go. There is always a free one.
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let stored = key.wrapping_add(1);
        // Neighbouring keys are the common case; the high half of the product spreads them.
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[at].0 != 0 && self.slots[at].0 != stored {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let room = (self.slots.len() * 2).max(64);
        let mut bigger = Vec::with_capacity(room);
        bigger.resize(room, (0, V::default()));
        let old = core::mem::replace(&mut self.slots, bigger);
        for (stored, value) in old {
            if stored != 0 {
                let at = self.find(stored.wrapping_sub(1));
                self.slots[at] = (stored, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_map(keys in proptest::collection::vec(0u64..400, 0..600)) {
            let mut table = Table::new();
            let mut oracle = BTreeMap::new();
            for (i, key) in keys.iter().enumerate() {
                let key = key * 4096;
                prop_assert_eq!(table.get(key), oracle.get(&key).copied());
                *table.entry(key) = i;
                oracle.insert(key, i);
            }
            for key in 0..400 {
                prop_assert_eq!(table.get(key * 4096), oracle.get(&(key * 4096)).copied());
            }
        }
    }
}
