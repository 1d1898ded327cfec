//! Signature refinement in rounds: all states at once, with one pass over the edges per round.
//!
//! A round is the cheapest way to split a partition as long as it splits many blocks, but a poor
//! way to finish it: a chain of `n` states needs `n` rounds. So [`rounds`] stops when the gain per
//! pass falls, and another algorithm takes over.

use crate::reduction::graph::Graph;
use crate::reduction::lists::Lists;

/// The partitions when the rounds stopped.
pub(crate) struct Rounds {
    /// The block of each state one round before the last.
    pub(crate) before: Vec<u32>,
    /// The current block of each state. Stable under every block of `before`.
    pub(crate) now: Vec<u32>,
    /// The number of blocks in `now`.
    pub(crate) blocks: u32,
    /// Whether another round would split nothing.
    pub(crate) stable: bool,
}

/// After this many rounds the worklist algorithm takes over in any case.
const MAX_ROUNDS: usize = 16;

/// Refines from one block until nothing changes, or until rounds no longer pay off.
///
/// With `hidden`, signatures are those of branching bisimilarity: they include the signatures
/// behind inert steps, which are the edges with that label within a block. These edges must lead to
/// smaller states.
pub(crate) fn rounds(graph: &Graph, hidden: Option<u32>) -> Rounds {
    rounds_while(graph, hidden, |round, blocks, found| {
        // A round must add an eighth to the blocks; the first ones may be slower.
        let slow = round >= 3 && found - blocks < blocks / 8;
        !slow && round < MAX_ROUNDS
    })
}

/// As [`rounds`], while `go_on` is true. Its arguments are the number of rounds, and the numbers of
/// blocks before and after the last one.
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
        let found = signatures.lists.len();
        let stable = found == blocks || found as usize == graph.states();
        if stable || !go_on(round, blocks, found) {
            return Rounds { before, now, blocks: found, stable };
        }
        before = now;
        blocks = found;
    }
    unreachable!("the number of blocks cannot grow for ever")
}

/// The signatures of one round: sorted lists of [`pair`]s without duplicates.
#[derive(Default)]
struct Signatures {
    lists: Lists<u64>,
    scratch: Vec<u64>,
}

impl Signatures {
    /// One round: states get the same number if they reach the same blocks by the same labels.
    fn refine(&mut self, graph: &Graph, block_of: &[u32]) -> Vec<u32> {
        self.lists.clear();
        let mut numbers = Vec::with_capacity(graph.states());
        let mut scratch = std::mem::take(&mut self.scratch);
        for state in 0..graph.states() as u32 {
            scratch.clear();
            scratch.extend(
                graph.edges(state).iter().map(|edge| pair(edge.label, block_of[edge.target as usize])),
            );
            scratch.sort_unstable();
            scratch.dedup();
            numbers.push(self.lists.intern(&scratch));
        }
        self.scratch = scratch;
        numbers
    }

    /// As [`Signatures::refine`] for branching bisimilarity. `None` if the signatures explode: they
    /// are inherited along inert edges, so a chain with a visible step at each state makes them
    /// quadratic.
    fn refine_branching(&mut self, graph: &Graph, hidden: u32, block_of: &[u32]) -> Option<Vec<u32>> {
        self.lists.clear();
        let mut numbers: Vec<u32> = Vec::with_capacity(graph.states());
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut budget = 8 * (graph.edge_count() + graph.states());
        for state in 0..graph.states() as u32 {
            let own = block_of[state as usize];
            scratch.clear();
            // The own block comes first; labels are shifted to make room for it.
            scratch.push(pair(0, own));
            for edge in graph.edges(state) {
                let block = block_of[edge.target as usize];
                if edge.label == hidden && block == own {
                    scratch.extend_from_slice(self.lists.get(numbers[edge.target as usize]));
                } else {
                    scratch.push(pair(edge.label + 1, block));
                }
            }
            budget = budget.checked_sub(scratch.len())?;
            scratch.sort_unstable();
            scratch.dedup();
            numbers.push(self.lists.intern(&scratch));
        }
        self.scratch = scratch;
        Some(numbers)
    }
}

/// A label and a block in one word.
#[inline]
pub(crate) fn pair(label: u32, block: u32) -> u64 {
    u64::from(label) << 32 | u64::from(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduction::graph::Edge;

    #[test]
    fn a_long_chain_is_handed_over_early() {
        let chain = Graph::new(1000, (0..999).map(|s| (s, Edge { label: 0, target: s + 1 })));
        let result = rounds(&chain, None);
        assert!(!result.stable);
        assert!(result.blocks < 30);
    }
}
