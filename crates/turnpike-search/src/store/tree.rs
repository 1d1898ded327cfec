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

/// Two words, or an odd last one paired with 0.
#[inline]
fn as_pair(words: &[u32]) -> (u32, u32) {
    (words[0], words.get(1).copied().unwrap_or(0))
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
    /// States have no words at all: there is one at most.
    is_wordless: bool,
    /// Words of each level, from those of a state up to the pair of the root.
    sizes: Vec<usize>,
    /// `nodes[level]` pairs up the words of that level; the last level has one pair, the root.
    nodes: Vec<PairTable>,
    /// The words of all levels of the state inserted last. States that follow each other differ in few
    /// words, so most pairs of a state are those of the one before, and need not be looked up.
    last: Vec<u32>,
    scratch: Vec<u32>,
}

impl TreeStore {
    pub(crate) fn new(width: usize) -> Self {
        let mut sizes = vec![width.max(1)];
        while let Some(size) = sizes.last().copied().filter(|&size| size > 2) {
            sizes.push(size.div_ceil(2));
        }
        let words = vec![0; sizes.iter().sum()];
        let nodes = sizes.iter().map(|_| PairTable::default()).collect();
        TreeStore { is_wordless: width == 0, sizes, nodes, last: words.clone(), scratch: words }
    }

    pub(crate) fn insert(&mut self, state: &[u32]) -> (u32, bool) {
        // There is a state before this one.
        let follows = self.len() > 0;
        let TreeStore { sizes, nodes, last, scratch, .. } = self;
        scratch[..state.len()].copy_from_slice(state);
        let (root, inner) = nodes.split_last_mut().expect("a tree has a root");
        let (mut words, mut before) = (scratch.as_mut_slice(), last.as_slice());
        for (table, &size) in inner.iter_mut().zip(&*sizes) {
            let (level, above) = words.split_at_mut(size);
            let (level_before, above_before) = before.split_at(size);
            let pairs = level.chunks(2).zip(level_before.chunks(2));
            for ((pair, pair_before), (id, id_before)) in pairs.zip(above.iter_mut().zip(above_before)) {
                let (pair, pair_before) = (as_pair(pair), as_pair(pair_before));
                *id = if follows && pair == pair_before { *id_before } else { table.insert(pair).0 };
            }
            (words, before) = (above, above_before);
        }
        let answer = root.insert(as_pair(words));
        std::mem::swap(&mut self.last, &mut self.scratch);
        answer
    }

    pub(crate) fn find(&self, state: &[u32]) -> Option<u32> {
        let mut words = state.to_vec();
        if words.is_empty() {
            words.push(0);
        }
        let (root, inner) = self.nodes.split_last()?;
        for table in inner {
            words = words.chunks(2).map(|pair| table.find(as_pair(pair))).collect::<Option<_>>()?;
        }
        root.find(as_pair(&words))
    }

    pub(crate) fn load(&self, id: u32, out: &mut Vec<u32>) {
        out.clear();
        out.push(id);
        for (table, &size) in self.nodes.iter().rev().zip(self.sizes.iter().rev()) {
            let pairs = out.len();
            out.resize(2 * pairs, 0);
            // From the end on, so that no pair takes the place of an id that is still needed.
            for at in (0..pairs).rev() {
                (out[2 * at], out[2 * at + 1]) = table.get(out[at]);
            }
            out.truncate(size);
        }
        if self.is_wordless {
            out.clear();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.last().map_or(0, |root| root.table.len())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.nodes.iter().map(PairTable::bytes).sum()
    }
}
