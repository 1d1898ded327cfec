//! A hash index from content to dense ids, four bytes per slot.
//!
//! The values live elsewhere (a state arena, a label list); the table only knows their ids
//! `0, 1, 2, …`. A slot packs the id with the spare high bits of the hash as a tag, so most failed
//! probes never touch the values. Capacity grows by 2/5 instead of doubling: between 5.3 and 7.5
//! bytes per entry, never more.

use std::hint::black_box;

const EMPTY: u32 = u32::MAX;
const MIN_CAPACITY: usize = 32;

/// Maps content to dense ids in insertion order. See the module documentation.
#[derive(Clone, Debug)]
pub struct IdTable {
    slots: Vec<u32>,
    len: u32,
    id_bits: u32,
}

impl Default for IdTable {
    fn default() -> Self {
        IdTable { slots: vec![EMPTY; MIN_CAPACITY], len: 0, id_bits: bits_for(MIN_CAPACITY) }
    }
}

/// Bits needed for ids below `capacity`, leaving at least one tag pattern that is never all ones.
fn bits_for(capacity: usize) -> u32 {
    usize::BITS - capacity.leading_zeros()
}

impl IdTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of entries; also the id that the next new entry gets.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held by the index.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }

    /// Forgets all entries, keeping the memory unless it was mostly unused.
    pub fn clear(&mut self) {
        if self.slots.len() > 64 * (self.len() + MIN_CAPACITY) {
            *self = IdTable::default();
        } else if self.len > 0 {
            self.slots.fill(EMPTY);
            self.len = 0;
        }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        // Multiply-shift maps the upper half of the hash onto any capacity, not only powers of two.
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The id of the entry with this hash for which `same(id)` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        self.probe(hash, &mut same).ok()
    }

    /// `Ok(id)` of the matching entry, or `Err(slot)` where it would go.
    #[inline]
    fn probe(&self, hash: u64, same: &mut impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mask = (1u32 << self.id_bits) - 1;
        let tag = (hash as u32) & !mask;
        let mut slot = self.home(hash);
        loop {
            let entry = self.slots[slot];
            if entry == EMPTY {
                return Err(slot);
            }
            if entry & !mask == tag && same(entry & mask) {
                return Ok(entry & mask);
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    /// Finds the entry, or adds it with the next id. `hash_of(id)` recomputes hashes when the table
    /// grows.
    ///
    /// Returns the id and whether it is new; the caller then appends the value under that id.
    ///
    /// # Panics
    /// When 2³¹ entries are exceeded.
    #[inline]
    pub fn find_or_insert(
        &mut self,
        hash: u64,
        mut same: impl FnMut(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
    ) -> (u32, bool) {
        match self.probe(hash, &mut same) {
            Ok(id) => (id, false),
            Err(slot) => {
                let id = self.len;
                let mask = (1u32 << self.id_bits) - 1;
                self.slots[slot] = (hash as u32) & !mask | id;
                self.len += 1;
                if self.len as usize * 4 > self.slots.len() * 3 {
                    self.grow(hash, &hash_of);
                }
                (id, true)
            }
        }
    }

    #[cold]
    fn grow(&mut self, last_hash: u64, hash_of: &impl Fn(u32) -> u64) {
        let capacity = self.slots.len() / 5 * 7 + 7;
        assert!(capacity < 1 << 31, "an id table holds at most 2^31 entries");
        self.id_bits = bits_for(capacity);
        // Freed before the larger table is allocated: growing never holds both.
        self.slots = Vec::new();
        self.slots = vec![EMPTY; capacity];
        let mask = (1u32 << self.id_bits) - 1;
        let mut hashes = [0u64; 32];
        for start in (0..self.len).step_by(hashes.len()) {
            let ids = start..self.len.min(start + hashes.len() as u32);
            for (hash, id) in hashes.iter_mut().zip(ids.clone()) {
                // The newest value is not stored yet, so its hash comes from the caller.
                *hash = if id + 1 == self.len { last_hash } else { hash_of(id) };
            }
            // Read ahead: the processor waits for all of these slots at once.
            black_box(hashes.iter().fold(0, |sum, &hash| sum ^ self.slots[self.home(hash)]));
            for (&hash, id) in hashes.iter().zip(ids) {
                let mut slot = self.home(hash);
                while self.slots[slot] != EMPTY {
                    slot = if slot + 1 == capacity { 0 } else { slot + 1 };
                }
                self.slots[slot] = (hash as u32) & !mask | id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_a_hash_map() {
        // Miri executes a thousand times slower.
        const VALUES: u64 = if cfg!(miri) { 300 } else { 60_000 };
        const STEPS: u64 = if cfg!(miri) { 1_000 } else { 200_000 };
        let mut values: Vec<u64> = Vec::new();
        let mut table = IdTable::new();
        let mut oracle: HashMap<u64, u32> = HashMap::new();
        let mut x = 1u64;
        for step in 0..STEPS {
            x = crate::hash::mix(x, step);
            let value = x % VALUES;
            let hash = crate::hash::mix(0, value);
            let (id, new) = table.find_or_insert(
                hash,
                |i| values[i as usize] == value,
                |i| crate::hash::mix(0, values[i as usize]),
            );
            let next = oracle.len() as u32;
            let expected = *oracle.entry(value).or_insert(next);
            assert_eq!((id, new), (expected, expected == next && values.len() as u32 == next));
            if new {
                values.push(value);
            }
        }
        assert_eq!(table.len(), oracle.len());
        assert_eq!(table.find(crate::hash::mix(0, VALUES + 1), |i| values[i as usize] == VALUES + 1), None);
    }

    #[test]
    fn survives_hashes_that_all_collide() {
        const COUNT: u32 = if cfg!(miri) { 60 } else { 500 };
        let mut table = IdTable::new();
        for value in 0..COUNT {
            assert_eq!(table.find_or_insert(u64::MAX, |id| id == value, |_| u64::MAX), (value, true));
            assert_eq!(table.find_or_insert(u64::MAX, |id| id == value, |_| u64::MAX), (value, false));
        }
    }

    #[test]
    fn stays_within_its_bytes() {
        const COUNT: u32 = if cfg!(miri) { 1_300 } else { 100_000 };
        let mut table = IdTable::new();
        for value in 0..COUNT {
            let hash = |id: u32| crate::hash::mix(1, u64::from(id));
            table.find_or_insert(hash(value), |id| id == value, hash);
            if value > 1000 {
                let per_entry = table.bytes() as f64 / table.len() as f64;
                assert!((5.3..7.6).contains(&per_entry), "{per_entry} bytes an entry at {value}");
            }
        }
    }
}
