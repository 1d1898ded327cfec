//! Sequences of words of one length, numbered in the order in which they came.

use turnpike_model::IdTable;

/// Numbers sequences of `width` words.
#[derive(Debug)]
pub(crate) struct Table {
    width: usize,
    index: IdTable,
    words: Vec<u32>,
}

impl Table {
    pub(crate) fn new(width: usize) -> Table {
        Table { width, index: IdTable::new(), words: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn get(&self, id: u32) -> &[u32] {
        &self.words[id as usize * self.width..(id as usize + 1) * self.width]
    }

    /// The number of a sequence, and whether it is new.
    pub(crate) fn insert(&mut self, words: &[u32]) -> (u32, bool) {
        debug_assert_eq!(words.len(), self.width);
        let Table { width, index, words: all } = self;
        let get = |id: u32| &all[id as usize * *width..(id as usize + 1) * *width];
        let (id, new) =
            index.find_or_insert(quick_hash(words), |id| get(id) == words, |id| quick_hash(get(id)));
        if new {
            all.extend_from_slice(words);
        }
        (id, new)
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.index.bytes() + self.words.capacity() * size_of::<u32>()
    }
}

/// A hash for these tables alone. Numbers follow the order of arrival, so it affects only speed.
fn quick_hash(words: &[u32]) -> u64 {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let mix = |hash: u64, value: u64, factor: u64| {
        let product = u128::from(hash ^ value) * u128::from(factor);
        product as u64 ^ (product >> 64) as u64
    };
    let (pairs, rest) = words.as_chunks::<2>();
    let pair = |&[low, high]: &[u32; 2]| u64::from(low) | u64::from(high) << 32;
    let mut hash = pairs.iter().map(pair).fold(FACTORS[1], |hash, value| mix(hash, value, FACTORS[0]));
    hash = rest.iter().fold(hash, |hash, &word| mix(hash, u64::from(word), FACTORS[0]));
    mix(hash, words.len() as u64, FACTORS[1])
}
