//! Rounds of signature refinement: all states at once, one pass over the edges per round.
//!
//! A round is the cheapest way to split a partition that still splits a lot. It is a poor way to
//! finish one: a chain of `n` states needs `n` rounds. So [`rounds`] stops when the gain per pass
//! falls, and hands over.

use crate::reduction::graph::{Graph, NONE};

/// Where the rounds stopped.
pub(crate) struct Rounds {
    /// The block of each state one round before the last.
    pub(crate) before: Vec<u32>,
    /// The block of each state now. Stable under every block of `before`.
    pub(crate) now: Vec<u32>,
    /// Number of blocks in `now`.
    pub(crate) blocks: u32,
    /// Whether another round would split nothing.
    pub(crate) stable: bool,
}

/// After this many rounds the worklist algorithm takes over, whatever the gain.
const MAX_ROUNDS: usize = 16;

/// Refines from one block until nothing changes, or until rounds no longer pay.
///
/// With `hidden`, signatures are those of branching bisimilarity: what a state reaches after inert
/// steps, which are the edges with that label within a block. These edges must lead to states with
/// smaller numbers.
pub(crate) fn rounds(graph: &Graph, hidden: Option<u32>) -> Rounds {
    rounds_while(graph, hidden, |round, blocks, found| {
        // A round must add an eighth to the blocks; the first ones are allowed to start slowly.
        let slow = round >= 3 && found - blocks < blocks / 8;
        !slow && round < MAX_ROUNDS
    })
}

/// As [`rounds`], until `go_on` says no: given the number of rounds done, and of blocks before and
/// after the last.
pub(crate) fn rounds_while(
    graph: &Graph,
    hidden: Option<u32>,
    go_on: impl Fn(usize, u32, u32) -> bool,
) -> Rounds {
    let mut before = vec![0; graph.states()];
    let mut blocks = 1;
    let mut signatures = Signatures::default();
    for round in 1.. {
        let now = match hidden {
            None => signatures.refine(graph, &before),
            Some(hidden) => match signatures.refine_branching(graph, hidden, &before) {
                Some(now) => now,
                None => return Rounds { now: before.clone(), before, blocks, stable: false },
            },
        };
        let found = signatures.len();
        let stable = found == blocks || found as usize == graph.states();
        if stable || !go_on(round, blocks, found) {
            return Rounds { before, now, blocks: found, stable };
        }
        before = now;
        blocks = found;
    }
    unreachable!("the number of blocks cannot grow for ever")
}

/// Signatures met in one round, numbered in the order of arrival, compared exactly.
#[derive(Default)]
pub(crate) struct Signatures {
    pool: Vec<u64>,
    ends: Vec<u32>,
    /// Open addressing: the upper bits of the hash (to skip most comparisons) and the number.
    table: Vec<(u32, u32)>,
    scratch: Vec<u64>,
}

impl Signatures {
    /// Number of distinct signatures.
    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Forgets all signatures, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.pool.clear();
        self.ends.clear();
        self.table.fill((0, NONE));
    }

    /// One round: states get the same number when they reach the same blocks by the same labels.
    fn refine(&mut self, graph: &Graph, block_of: &[u32]) -> Vec<u32> {
        self.clear();
        let mut numbers = Vec::with_capacity(graph.states());
        let mut scratch = std::mem::take(&mut self.scratch);
        for state in 0..graph.states() as u32 {
            scratch.clear();
            scratch.extend(
                graph.edges(state).iter().map(|edge| pair(edge.label, block_of[edge.target as usize])),
            );
            scratch.sort_unstable();
            scratch.dedup();
            numbers.push(self.intern(&scratch));
        }
        self.scratch = scratch;
        numbers
    }

    /// The same for branching bisimilarity. `None` when signatures grow out of proportion: they are
    /// handed on along inert edges, so a chain with an own visible step at each state makes them
    /// quadratic.
    fn refine_branching(&mut self, graph: &Graph, hidden: u32, block_of: &[u32]) -> Option<Vec<u32>> {
        self.clear();
        let mut numbers: Vec<u32> = Vec::with_capacity(graph.states());
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut budget = 8 * (graph.edge_count() + graph.states());
        for state in 0..graph.states() as u32 {
            let own = block_of[state as usize];
            scratch.clear();
            // The own block comes first; labels are shifted to leave it a place.
            scratch.push(pair(0, own));
            for edge in graph.edges(state) {
                let block = block_of[edge.target as usize];
                if edge.label == hidden && block == own {
                    scratch.extend_from_slice(self.get(numbers[edge.target as usize]));
                } else {
                    scratch.push(pair(edge.label + 1, block));
                }
            }
            budget = budget.checked_sub(scratch.len())?;
            scratch.sort_unstable();
            scratch.dedup();
            numbers.push(self.intern(&scratch));
        }
        self.scratch = scratch;
        Some(numbers)
    }

    /// The number of this signature: a sorted list of [`pair`]s without duplicates.
    pub(crate) fn intern(&mut self, signature: &[u64]) -> u32 {
        if self.ends.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(signature);
        let (tag, mask) = ((hash >> 32) as u32, self.table.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let (seen, number) = self.table[at];
            if number == NONE {
                break;
            }
            if seen == tag && self.get(number) == signature {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.len();
        self.pool.extend_from_slice(signature);
        self.ends.push(self.pool.len() as u32);
        self.table[at] = (tag, number);
        number
    }

    fn get(&self, number: u32) -> &[u64] {
        let start = if number == 0 { 0 } else { self.ends[number as usize - 1] };
        &self.pool[start as usize..self.ends[number as usize] as usize]
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(64);
        self.table.clear();
        self.table.resize(size, (0, NONE));
        for number in 0..self.len() {
            let hash = hash(self.get(number));
            let mut at = hash as usize & (size - 1);
            while self.table[at].1 != NONE {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = ((hash >> 32) as u32, number);
        }
    }
}

/// A label and a block in one word.
#[inline]
pub(crate) fn pair(label: u32, block: u32) -> u64 {
    u64::from(label) << 32 | u64::from(block)
}

#[inline]
fn hash(signature: &[u64]) -> u64 {
    let mut hash = signature.len() as u64;
    for &word in signature {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduction::graph::Edge;

    #[test]
    fn numbers_are_exact_and_survive_growth() {
        let mut signatures = Signatures::default();
        for repeat in 0..2 {
            for i in 0..1000u64 {
                let number = signatures.intern(&[i, i + 1, 5000]);
                assert_eq!(u64::from(number), i, "repeat {repeat}");
            }
        }
        assert_eq!(signatures.intern(&[]), 1000);
        assert_eq!(signatures.intern(&[]), 1000);
    }

    #[test]
    fn a_long_chain_is_handed_over_early() {
        let chain = Graph::new(1000, (0..999).map(|s| (s, Edge { label: 0, target: s + 1 })));
        let result = rounds(&chain, None);
        assert!(!result.stable);
        assert!(result.blocks < 30);
    }
}
