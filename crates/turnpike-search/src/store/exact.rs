//! Every state in full: 4·width bytes, and at most 7.5 for the index.

use super::arena::Arena;
use super::table::{StateTable, prefetch};

/// Equality of short vectors, without the call that a slice comparison makes and without branches.
#[inline]
fn same(left: &[u32], right: &[u32]) -> bool {
    left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// An exact set of states with dense ids.
#[derive(Debug)]
pub(crate) struct ExactStore {
    table: StateTable,
    states: Arena,
}

/// States that are looked up together: enough for all the cache misses that a processor can wait for at once.
const TOGETHER: usize = 128;

/// A quick hash for this table alone: it is never stored, compared with another's, or used for a choice.
#[inline]
pub(crate) fn quick_hash(state: &[u32]) -> u64 {
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
        ExactStore { table: StateTable::new(), states: Arena::new(width) }
    }

    #[inline]
    pub(crate) fn insert(&mut self, state: &[u32]) -> (u32, bool) {
        self.insert_hashed::<0>(state, quick_hash(state))
    }

    #[inline]
    fn insert_hashed<const WIDTH: usize>(&mut self, state: &[u32], hash: u64) -> (u32, bool) {
        let states = &self.states;
        let width = if WIDTH == 0 { states.width() } else { WIDTH };
        let (id, new) = self.table.find_or_insert(
            hash,
            |id| same(states.get_of(width, id), state),
            |id| quick_hash(states.get_of(width, id)),
        );
        if new {
            self.states.push(state);
        }
        (id, new)
    }

    /// Inserts states, given flat, in order and writes their ids: the same as one by one, but
    /// faster.
    pub(crate) fn insert_all(&mut self, words: &[u32], count: usize, ids: &mut Vec<u32>) {
        ids.clear();
        let width = self.states.width();
        if width == 0 || self.states.len() == 0 {
            ids.extend((0..count).map(|index| self.insert(&words[index * width..(index + 1) * width]).0));
            return;
        }
        ids.resize(count, 0);
        // Compiled apart for the usual widths: their comparisons and hashes need no loops.
        let insert = match width {
            1 => Self::insert_block::<1>,
            2 => Self::insert_block::<2>,
            3 => Self::insert_block::<3>,
            4 => Self::insert_block::<4>,
            _ => Self::insert_block::<0>,
        };
        let words = words.chunks(TOGETHER * width);
        for (ids, words) in ids.chunks_mut(TOGETHER).zip(words) {
            insert(self, words, ids);
        }
    }

    /// Inserts up to [`TOGETHER`] states of `WIDTH` words each, or of the store's width if `WIDTH` is 0.
    ///
    /// Most are old. So all are looked up first where they most likely are, without a branch that depends on what is
    /// found: cache misses overlap, and nothing is mispredicted. What was not found goes the usual way, in order.
    fn insert_block<const WIDTH: usize>(&mut self, words: &[u32], ids: &mut [u32]) {
        let width = if WIDTH == 0 { self.states.width() } else { WIDTH };
        let mut hashes = [0; TOGETHER];
        for (hash, state) in hashes.iter_mut().zip(words.chunks_exact(width)) {
            *hash = quick_hash(state);
            self.table.prefetch(*hash);
        }
        let hashes = &hashes[..ids.len()];
        let last = self.states.len() as u32 - 1;
        for (id, &hash) in ids.iter_mut().zip(hashes) {
            *id = self.table.likely_id(hash).min(last);
            prefetch(self.states.get_of(width, *id));
        }
        let (mut missing, mut count) = ([0; TOGETHER], 0);
        for (index, (&id, state)) in ids.iter().zip(words.chunks_exact(width)).enumerate() {
            missing[count] = index;
            count += usize::from(!same(self.states.get_of(width, id), state));
        }
        for &index in &missing[..count] {
            let state = &words[index * width..(index + 1) * width];
            ids[index] = self.insert_hashed::<WIDTH>(state, hashes[index]).0;
        }
    }

    /// Asks for the memory where a look-up will begin; see [`StateTable::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self, state: &[u32]) {
        self.table.prefetch(quick_hash(state));
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
