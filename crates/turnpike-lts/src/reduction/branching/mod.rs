//! Branching bisimilarity in O(m log n): the bunch algorithm of Jansen, Groote, Keiren and Wijs
//! (TACAS 2020).
//!
//! Internal cycles are contracted first. An internal edge within a block is *inert*; a state
//! without inert edges is a *bottom* state, and every state reaches a bottom state of its block by
//! inert edges. The other edges are grouped in *bunches*, each a union of *actions* (edges with one
//! label into one block). The partition is kept **stable**: if some state of a block has an edge in
//! a bunch, all bottom states of that block have one. When every bunch is a single action, this is
//! branching bisimilarity.
//!
//! - `edges` holds the edges and their three groupings; an edge changes group in constant time
//!   (`lists`, `counters`).
//! - `blocks` holds the states, block by block, bottom states first.
//! - `split` divides one block in time proportional to the lighter part.
//! - this file chooses the splitters.

mod blocks;
mod counters;
mod edges;
mod lists;
mod split;

use crate::reduction::graph::{Edge, Graph, NONE};
use crate::reduction::signature;
use blocks::Blocks;
use counters::Counters;
use edges::Edges;
use split::{Knowledge, Sides};

/// The coarsest branching bisimulation, as block numbers and their count. The `tau` edges of the
/// graph must lead to smaller states.
pub(crate) fn partition(graph: &Graph, tau: u32) -> (Vec<u32>, u32) {
    let rounds = signature::rounds(graph, Some(tau));
    if rounds.stable {
        return (rounds.now, rounds.blocks);
    }
    refine(graph, tau, &rounds.now, rounds.blocks)
}

/// Refines a partition that is coarser than branching bisimilarity.
fn refine(graph: &Graph, tau: u32, block_of: &[u32], blocks: u32) -> (Vec<u32>, u32) {
    let mut refiner = Refiner::new(graph, tau, block_of, blocks);
    for block in 0..blocks {
        refiner.distrust(block);
    }
    refiner.stabilise();
    while let Some(bunch) = refiner.edges.next_composite_bunch() {
        refiner.take_action_out_of(bunch);
        refiner.stabilise();
    }
    refiner.blocks.into_partition()
}

struct Refiner {
    edges: Edges,
    blocks: Blocks,
    counters: Counters,
    sides: Sides,
    /// Slices whose block may be unstable under their bunch. A slice records that it is listed
    /// here.
    doubtful: Vec<u32>,
    /// States that are known to have an edge of the splitter. Reused memory.
    seeds: Vec<u32>,
    /// The slice of the rest of the bunch, tracked through the splits of the main step.
    followed: Vec<u32>,
}

impl Refiner {
    fn new(graph: &Graph, tau: u32, block_of: &[u32], blocks: u32) -> Refiner {
        let inert = |state: u32| {
            let within = |edge: &&Edge| block_of[edge.target as usize] == block_of[state as usize];
            graph.edges_with(state, tau).iter().filter(within).count() as u32
        };
        let blocks = Blocks::new(block_of, blocks, (0..graph.states() as u32).map(inert).collect());
        let mut counters = Counters::new(graph.states());
        let edges = Edges::new(graph, tau, &blocks, &mut counters);
        Refiner {
            edges,
            blocks,
            counters,
            sides: Sides::new(graph.states()),
            doubtful: Vec::new(),
            seeds: Vec::new(),
            followed: Vec::new(),
        }
    }

    /// The main step: moves the smaller of two actions of the bunch to a new bunch.
    fn take_action_out_of(&mut self, bunch: u32) {
        let (own, moved) = self.edges.detach_smaller_action(bunch);
        // Block, state, and counter of the state's edges in the rest of the bunch; each state
        // occurs once.
        let mut touched: Vec<(u32, u32, u32)> = Vec::new();
        let mut rests: Vec<(u32, u32, u32)> = Vec::new();
        for &edge in &moved {
            let state = self.edges.source(edge);
            let block = self.blocks.of(state);
            let old = self.edges.counter(edge);
            if self.counters.recount(state, old) {
                touched.push((block, state, old));
            }
            self.edges.set_counter(edge, self.counters.fresh(state));
            let rest = self.edges.slice(edge);
            if let Some(new) = self.edges.move_to_sibling(edge, block, own) {
                rests.push((block, rest, new));
            }
        }
        for &(_, state, _) in &touched {
            self.counters.settle(state);
        }
        self.edges.forget_siblings(rests.iter().map(|&(_, rest, _)| rest));
        touched.sort_unstable();
        rests.sort_unstable();
        let mut groups = touched.chunk_by(|a, b| a.0 == b.0);
        for &(block, rest, new) in &rests {
            let group = groups.next().expect("a block that lost edges has their sources");
            debug_assert_eq!(group[0].0, block);
            if self.edges.drop_if_empty(rest) {
                continue; // all its edges of the bunch moved: what was stable under the bunch is stable under these
            }
            self.split_by_both(block, new, rest, group);
        }
        for (_, _, old) in touched {
            self.counters.free_if_zero(old);
        }
    }

    /// Restores the stability of a block with edges both in the new bunch and in the rest of the
    /// old one.
    fn split_by_both(&mut self, block: u32, new: u32, rest: u32, group: &[(u32, u32, u32)]) {
        let bunch = self.edges.bunch_of_slice(rest);
        self.seeds.clear();
        self.seeds.extend(group.iter().map(|&(_, state, _)| state));
        self.followed.clear();
        self.followed.push(rest);
        let with_new = self.split(block, new, Knowledge::Complete);
        if with_new == NONE {
            return; // all of it is distrusted, and will be checked under every bunch
        }
        // The rest of the bunch in this block may have moved together with states of the block.
        // Numbers of dropped slices are reused, so compare bunches, not only blocks.
        let is_rest = |&&slice: &&u32| {
            self.edges.slice_is_alive(slice)
                && self.edges.block_of_slice(slice) == with_new
                && self.edges.bunch_of_slice(slice) == bunch
        };
        let Some(&rest) = self.followed.iter().find(is_rest) else { return };
        self.seeds.clear();
        for &(_, state, old) in group {
            if self.blocks.of(state) == with_new && self.counters.get(old) > 0 {
                self.seeds.push(state);
            }
        }
        self.split(with_new, rest, Knowledge::BottomStates);
    }

    /// Checks and splits until no slice is doubtful.
    fn stabilise(&mut self) {
        self.followed.clear();
        while let Some(slice) = self.doubtful.pop() {
            if self.edges.settle_doubt(slice) {
                self.seeds.clear();
                self.edges.take_marked_sources(slice, &mut self.seeds);
                let block = self.edges.block_of_slice(slice);
                self.split(block, slice, Knowledge::BottomStates);
            }
        }
    }

    /// Splits `block` by the bunch of `slice` into the states that reach it by inert edges, and the
    /// others. Seeds must contain all bottom states with an edge in the slice, and all such states
    /// for [`Knowledge::Complete`]. Returns the part that reaches it and was not distrusted, which
    /// may be the whole block, or `NONE`.
    fn split(&mut self, block: u32, slice: u32, knowledge: Knowledge) -> u32 {
        let Some((reaching, other)) = self.divide(block, slice, knowledge) else { return block };
        let (fresh, sources) = self.release_inert(reaching, other);
        if fresh == NONE {
            return reaching;
        }
        // Some states of `reaching` now have an edge to `other` that its old bottom states lack.
        // The states that reach such an edge only have new bottom states; the others keep their
        // bottom states and their stability.
        self.seeds = sources;
        let Some((distrusted, rest)) = self.divide(reaching, fresh, Knowledge::Complete) else {
            self.distrust(reaching);
            return NONE;
        };
        self.release_inert(distrusted, rest);
        self.distrust(distrusted);
        rest
    }

    /// Divides a block, or finds that all of it reaches the slice. Seeds as for [`Refiner::split`].
    fn divide(&mut self, block: u32, slice: u32, knowledge: Knowledge) -> Option<(u32, u32)> {
        let part = self.sides.search(&mut self.blocks, &self.edges, block, slice, knowledge, &self.seeds)?;
        let new = self.blocks.carve(block, &part.states);
        for &state in &part.states {
            for edge in self.edges.out(state) {
                let old = self.edges.slice(edge);
                if old != NONE
                    && let Some(sibling) =
                        self.edges.move_to_sibling(edge, new, self.edges.bunch_of_slice(old))
                {
                    self.sides.moved_slices.push(old);
                    if self.edges.inherit_doubt(old, sibling) {
                        self.doubtful.push(sibling);
                    }
                    if self.followed.contains(&old) {
                        self.followed.push(sibling);
                    }
                }
            }
        }
        self.edges.forget_siblings(self.sides.moved_slices.iter().copied());
        for slice in self.sides.moved_slices.drain(..) {
            self.edges.drop_if_empty(slice);
        }
        self.edges.split_actions_into(&part.states);
        self.sides.recycle(part.states);
        Some(if part.reaching { (new, block) } else { (block, new) })
    }

    /// Moves the internal edges from `reaching` to `other`, which are no longer inert, to a new
    /// bunch. Returns its slice of `reaching` and the sources, or `NONE`.
    fn release_inert(&mut self, reaching: u32, other: u32) -> (u32, Vec<u32>) {
        let mut released = Vec::new();
        // One part was just carved, in time proportional to its weight. It has the larger number:
        // scan that one.
        if other > reaching {
            for &state in self.blocks.states(other) {
                let inert = |&edge: &u32| self.edges.slice(edge) == NONE;
                let crossing = |&edge: &u32| self.blocks.of(self.edges.source(edge)) == reaching;
                released.extend(self.edges.internal_in(state).iter().copied().filter(inert).filter(crossing));
            }
        } else {
            for &state in self.blocks.states(reaching) {
                let inert = |&edge: &u32| self.edges.slice(edge) == NONE;
                let crossing = |&edge: &u32| self.blocks.of(self.edges.target(edge)) == other;
                released.extend(self.edges.internal_out(state).filter(inert).filter(crossing));
            }
        }
        if released.is_empty() {
            return (NONE, Vec::new());
        }
        let (bunch, action) = self.edges.new_bunch();
        let slice = self.edges.new_slice(reaching, bunch);
        let mut sources = Vec::new();
        for edge in released {
            let state = self.edges.source(edge);
            self.blocks.lose_inert_edge(state);
            if self.counters.count_fresh(state) {
                sources.push(state);
            }
            self.edges.insert(edge, slice, action, self.counters.fresh(state));
        }
        for &state in &sources {
            self.counters.settle(state);
        }
        (slice, sources)
    }

    /// Handles a block with only new bottom states. Nothing is known about its stability, so all
    /// its slices are checked. This costs the edges of its bottom states, once for each of them.
    fn distrust(&mut self, block: u32) {
        for &state in self.blocks.bottom_states(block) {
            for edge in self.edges.out(state) {
                self.edges.mark(edge);
            }
        }
        self.edges.doubt_all(block, &mut self.doubtful);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bunch algorithm has the same result as rounds alone, from any initial partition.
    #[test]
    fn any_start_leads_to_the_same_end() {
        let mut seed = 11u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        let mut compared = 0;
        for case in 0..6000 {
            let states = 2 + random(if case % 10 == 0 { 300 } else { 14 });
            let (labels, span, internal) = (1 + random(4), 1 + random(states), 1 + random(4));
            let edges: Vec<(u32, Edge)> = (0..random(states * 3))
                .map(|_| {
                    let from = 1 + random(states - 1);
                    if random(internal) == 0 {
                        (from, Edge { label: 0, target: from - 1 - random(span.min(from)) })
                    } else {
                        (from, Edge { label: 1 + random(labels), target: (from + random(span)) % states })
                    }
                })
                .collect();
            let graph = Graph::new(states as usize, edges.iter().copied());
            let expected = signature::rounds_while(&graph, Some(0), |_, _, _| true);
            if !expected.stable {
                continue; // too large for rounds
            }
            compared += 1;
            for last in 0..4 {
                let (start, blocks) = match last {
                    0 => (vec![0; states as usize], 1),
                    _ => {
                        let rounds = signature::rounds_while(&graph, Some(0), |round, _, _| round < last);
                        (rounds.now, rounds.blocks)
                    }
                };
                let (block_of, blocks) = refine(&graph, 0, &start, blocks);
                assert_eq!(blocks, expected.blocks, "case {case}, from round {last}");
                let mut to = vec![NONE; blocks as usize];
                for (&one, &two) in block_of.iter().zip(&expected.now) {
                    let slot = &mut to[one as usize];
                    assert!(*slot == NONE || *slot == two, "case {case}, from round {last}");
                    *slot = two;
                }
            }
        }
        assert!(compared > 5000, "only {compared} cases were compared");
    }
}
