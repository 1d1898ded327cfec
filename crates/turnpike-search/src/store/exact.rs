//! Every state in full: 4·width bytes, and at most 7.5 for the index.

use turnpike_model::{IdTable, Successors};

use super::arena::Arena;

/// Equality of short vectors, without the call that a slice comparison makes.
#[inline]
fn same(left: &[u32], right: &[u32]) -> bool {
    left.iter().zip(right).all(|(a, b)| a == b)
}

/// An exact set of states with dense ids.
#[derive(Debug)]
pub(crate) struct ExactStore {
    table: IdTable,
    states: Arena,
    /// Scratch of [`insert_all`](Self::insert_all).
    hashes: Vec<u64>,
}

/// Successors whose slots are read ahead; more than a processor can wait for at once would gain nothing.
const READ_AHEAD: usize = 64;

/// A quick hash for this table alone: it is never stored, compared with another's, or used for a choice.
#[inline]
fn quick_hash(state: &[u32]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |value: u64| {
        let product = u128::from(value) * u128::from(MULTIPLIER);
        product as u64 ^ (product >> 64) as u64
    };
    let pairs = state.chunks_exact(2);
    let rest = pairs.remainder().first().map_or(0, |&word| u64::from(word) | 1 << 32);
    let folded = pairs.fold(rest, |hash, pair| {
        fold(hash.rotate_left(23) ^ (u64::from(pair[0]) | u64::from(pair[1]) << 32))
    });
    // Tag and slot come from both halves: one more round spreads the last pair over all bits.
    fold(folded ^ 0x2545_f491_4f6c_dd1d)
}

impl ExactStore {
    pub(crate) fn new(width: usize) -> Self {
        ExactStore { table: IdTable::new(), states: Arena::new(width), hashes: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, state: &[u32]) -> (u32, bool) {
        self.insert_hashed(state, quick_hash(state))
    }

    #[inline]
    fn insert_hashed(&mut self, state: &[u32], hash: u64) -> (u32, bool) {
        let states = &self.states;
        let (id, new) = self.table.find_or_insert(
            hash,
            |id| same(states.get(id), state),
            |id| quick_hash(states.get(id)),
        );
        if new {
            self.states.push(state);
        }
        (id, new)
    }

    /// Inserts all successors in order and writes their ids. The same as one by one, but the slots, and then the
    /// states they point to, are read ahead, so that the cache misses of all successors overlap.
    pub(crate) fn insert_all(&mut self, successors: &Successors, ids: &mut Vec<(u32, bool)>) {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(successors.iter().map(|(_, state)| quick_hash(state)));
        let mut slots = [0; READ_AHEAD];
        for (slot, &hash) in slots.iter_mut().zip(&hashes) {
            *slot = self.table.touch(hash);
        }
        let mut words = 0;
        for (&slot, &hash) in slots.iter().zip(&hashes) {
            if let Some(id) = self.table.likely_id(slot, hash) {
                words ^= self.states.get(id).first().copied().unwrap_or(0);
            }
        }
        std::hint::black_box(words);
        ids.clear();
        for (&hash, (_, state)) in hashes.iter().zip(successors.iter()) {
            ids.push(self.insert_hashed(state, hash));
        }
        self.hashes = hashes;
    }

    /// Reads the slot where a look-up will begin; see [`IdTable::touch`].
    #[inline]
    pub(crate) fn touch(&self, state: &[u32]) -> u32 {
        self.table.touch(quick_hash(state))
    }

    pub(crate) fn find(&self, state: &[u32]) -> Option<u32> {
        self.table.find(quick_hash(state), |id| same(self.states.get(id), state))
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &[u32] {
        self.states.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + self.states.bytes()
    }
}
