//! Tree-compressed states, stored exactly: a vector is a binary tree of pairs, and equal subtrees
//! are stored once.
//!
//! A state costs one pair (8 bytes and its index slot) if its halves were seen before. In
//! asynchronous systems this is nearly always the case.

use turnpike_model::hash;

use super::table::StateTable;

/// A table of distinct pairs with dense ids.
#[derive(Debug, Default)]
struct PairTable {
    table: StateTable,
    pairs: Vec<Vec<(u32, u32)>>,
}

const CHUNK_BITS: u32 = 14;

#[inline]
fn pair_hash((left, right): (u32, u32)) -> u64 {
    hash::mix(0, u64::from(left) | u64::from(right) << 32)
}

impl PairTable {
    #[inline]
    fn get(&self, id: u32) -> (u32, u32) {
        self.pairs[id as usize >> CHUNK_BITS][id as usize & ((1 << CHUNK_BITS) - 1)]
    }

    #[inline]
    fn insert(&mut self, pair: (u32, u32)) -> (u32, bool) {
        let pairs = &self.pairs;
        let get = |id: u32| pairs[id as usize >> CHUNK_BITS][id as usize & ((1 << CHUNK_BITS) - 1)];
        let (id, new) =
            self.table.find_or_insert(pair_hash(pair), |id| get(id) == pair, |id| pair_hash(get(id)));
        if new {
            if id as usize & ((1 << CHUNK_BITS) - 1) == 0 {
                let capacity = if id == 0 { 0 } else { 1 << CHUNK_BITS };
                self.pairs.push(Vec::with_capacity(capacity));
            }
            self.pairs[id as usize >> CHUNK_BITS].push(pair);
        }
        (id, new)
    }

    fn find(&self, pair: (u32, u32)) -> Option<u32> {
        self.table.find(pair_hash(pair), |id| self.get(id) == pair)
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.pairs.iter().map(|chunk| chunk.capacity() * 8).sum::<usize>()
    }
}

/// An exact, tree-compressed set of states with dense ids.
#[derive(Debug)]
pub(crate) struct TreeStore {
    width: usize,
    /// `nodes[level]` pairs up the words of that level; the last level has one pair, the root.
    nodes: Vec<PairTable>,
    scratch: Vec<u32>,
}

impl TreeStore {
    pub(crate) fn new(width: usize) -> Self {
        let mut levels = 1;
        let mut words = width.div_ceil(2);
        while words > 1 {
            words = words.div_ceil(2);
            levels += 1;
        }
        TreeStore { width, nodes: (0..levels).map(|_| PairTable::default()).collect(), scratch: Vec::new() }
    }

    /// Pairs up `words[..len]` in place with `pair`, and returns the new length. A last odd word is paired with 0.
    #[inline]
    fn fold(words: &mut [u32], mut pair: impl FnMut((u32, u32)) -> Option<u32>) -> Option<usize> {
        let half = words.len().div_ceil(2);
        for at in 0..half {
            let right = words.get(2 * at + 1).copied().unwrap_or(0);
            words[at] = pair((words[2 * at], right))?;
        }
        Some(half)
    }

    pub(crate) fn insert(&mut self, state: &[u32]) -> (u32, bool) {
        debug_assert_eq!(state.len(), self.width);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(state);
        if scratch.is_empty() {
            scratch.push(0);
        }
        let (root, inner) = self.nodes.split_last_mut().expect("a tree has a root");
        let mut len = scratch.len();
        for table in inner {
            len = Self::fold(&mut scratch[..len], |pair| Some(table.insert(pair).0)).unwrap_or(len);
        }
        debug_assert!(len <= 2);
        let answer = root.insert((scratch[0], if len == 2 { scratch[1] } else { 0 }));
        self.scratch = scratch;
        answer
    }

    pub(crate) fn find(&self, state: &[u32]) -> Option<u32> {
        let mut words = state.to_vec();
        if words.is_empty() {
            words.push(0);
        }
        let (root, inner) = self.nodes.split_last()?;
        let mut len = words.len();
        for table in inner {
            len = Self::fold(&mut words[..len], |pair| table.find(pair))?;
        }
        root.find((words[0], if len == 2 { words[1] } else { 0 }))
    }

    pub(crate) fn load(&self, id: u32, out: &mut Vec<u32>) {
        out.clear();
        out.push(id);
        let mut sizes = vec![self.width];
        while *sizes.last().expect("not empty") > 2 {
            sizes.push(sizes.last().expect("not empty").div_ceil(2));
        }
        for (table, &size) in self.nodes.iter().rev().zip(sizes.iter().rev()) {
            let ids = std::mem::take(out);
            for id in ids {
                let (left, right) = table.get(id);
                out.push(left);
                out.push(right);
            }
            out.truncate(size);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.last().map_or(0, |root| root.table.len())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.nodes.iter().map(PairTable::bytes).sum()
    }
}
