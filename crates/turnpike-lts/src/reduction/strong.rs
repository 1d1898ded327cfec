//! Strong bisimilarity: Paige and Tarjan's three-way split, with labels.
//!
//! The partition is kept stable under a coarser one, whose members are called constellations here
//! (after Groote, Jansen, Keiren and Wijs). A step removes a block with at most half of the states
//! from a constellation of several blocks, and splits all blocks by what they reach: only that
//! block, both it and the rest of the constellation, or neither. A state is in the smaller half at
//! most log n times, so the work is O(m log n). Constellations are ranges of one array of states,
//! and blocks are ranges within them, so both splits are swaps.

use crate::reduction::graph::{Graph, NONE};
use crate::reduction::signature::{self, Rounds, pair};

/// The coarsest strong bisimulation, as block numbers and their count.
pub(crate) fn partition(graph: &Graph) -> (Vec<u32>, u32) {
    let rounds = signature::rounds(graph, None);
    if rounds.stable {
        return (rounds.now, rounds.blocks);
    }
    refine(graph, rounds)
}

/// Completes the refinement that the rounds began. Correct from any round on, including the first.
fn refine(graph: &Graph, rounds: Rounds) -> (Vec<u32>, u32) {
    let mut refiner = Refiner::new(graph, rounds);
    while let Some(constellation) = refiner.work.pop() {
        refiner.take_block_out_of(constellation);
    }
    (refiner.block_of, refiner.blocks.len() as u32)
}

/// An edge seen from its target.
#[derive(Clone, Copy)]
struct Incoming {
    source: u32,
    label: u32,
    /// The counter of edges with this source, label and target constellation.
    counter: u32,
}

#[derive(Clone, Copy)]
struct Block {
    start: u32,
    end: u32,
    constellation: u32,
    /// The number of states swapped to the front, which reach both the splitter and the rest of its
    /// old constellation.
    both: u32,
    /// The number of states swapped to the back, which reach the splitter but not the rest.
    only: u32,
}

#[derive(Clone, Copy)]
struct Constellation {
    start: u32,
    end: u32,
    queued: bool,
}

struct Refiner {
    incoming_start: Vec<u32>,
    incoming: Vec<Incoming>,
    counters: Vec<u32>,
    free_counters: Vec<u32>,
    /// All states, block by block, constellation by constellation.
    order: Vec<u32>,
    position: Vec<u32>,
    block_of: Vec<u32>,
    blocks: Vec<Block>,
    constellations: Vec<Constellation>,
    work: Vec<u32>,
    /// For each source, the counter of edges into the splitter; `NONE` between steps.
    fresh: Vec<u32>,
    splitter_edges: Vec<u64>,
    touched: Vec<(u32, u32)>,
    touched_blocks: Vec<u32>,
}

impl Refiner {
    fn new(graph: &Graph, rounds: Rounds) -> Refiner {
        let states = graph.states();
        let Rounds { before, now: block_of, blocks: block_count, .. } = rounds;
        let (order, blocks, mut constellations) = arrange(&before, &block_of, block_count);
        let mut position = vec![0; states];
        for (at, &state) in order.iter().enumerate() {
            position[state as usize] = at as u32;
        }
        let mut work = Vec::new();
        for (number, constellation) in constellations.iter_mut().enumerate() {
            let first = blocks[block_of[order[constellation.start as usize] as usize] as usize];
            constellation.queued = first.end < constellation.end;
            if constellation.queued {
                work.push(number as u32);
            }
        }
        let (incoming_start, incoming, counters) = turn_round(graph, &before);
        Refiner {
            incoming_start,
            incoming,
            counters,
            free_counters: Vec::new(),
            order,
            position,
            block_of,
            blocks,
            constellations,
            work,
            fresh: vec![NONE; states],
            splitter_edges: Vec::new(),
            touched: Vec::new(),
            touched_blocks: Vec::new(),
        }
    }

    /// One step: moves the smaller of the outermost two blocks out of its constellation and splits
    /// all others.
    fn take_block_out_of(&mut self, number: u32) {
        let constellation = self.constellations[number as usize];
        let first = self.blocks[self.block_of[self.order[constellation.start as usize] as usize] as usize];
        let last = self.blocks[self.block_of[self.order[constellation.end as usize - 1] as usize] as usize];
        let take_first = first.end - first.start <= last.end - last.start;
        let splitter = if take_first { first } else { last };
        let own = self.constellations.len() as u32;
        self.constellations.push(Constellation { start: splitter.start, end: splitter.end, queued: false });
        let splitter_block = self.block_of[self.order[splitter.start as usize] as usize];
        self.blocks[splitter_block as usize].constellation = own;

        let rest = &mut self.constellations[number as usize];
        if take_first {
            rest.start = splitter.end;
        } else {
            rest.end = splitter.start;
        }
        let next = self.blocks[self.block_of[self.order[rest.start as usize] as usize] as usize];
        rest.queued = next.end < rest.end;
        if rest.queued {
            self.work.push(number);
        }

        // Edges are processed label by label. The list is complete before the first split moves a
        // state.
        let mut edges = std::mem::take(&mut self.splitter_edges);
        edges.clear();
        for &target in &self.order[splitter.start as usize..splitter.end as usize] {
            let range = self.incoming_start[target as usize]..self.incoming_start[target as usize + 1];
            edges.extend(range.map(|edge| pair(self.incoming[edge as usize].label, edge)));
        }
        if edges.windows(2).any(|two| two[0] >> 32 != two[1] >> 32) {
            edges.sort_unstable();
        }
        for group in edges.chunk_by(|a, b| a >> 32 == b >> 32) {
            self.split_by(group);
        }
        self.splitter_edges = edges;
    }

    /// Splits all blocks by these edges: all edges with one label into the splitter.
    fn split_by(&mut self, edges: &[u64]) {
        let mut touched = std::mem::take(&mut self.touched);
        for &edge in edges {
            let Incoming { source, counter, .. } = self.incoming[edge as u32 as usize];
            let mut new = self.fresh[source as usize];
            if new == NONE {
                new = match self.free_counters.pop() {
                    Some(free) => free,
                    None => {
                        self.counters.push(0);
                        self.counters.len() as u32 - 1
                    }
                };
                self.fresh[source as usize] = new;
                touched.push((source, counter));
            }
            self.incoming[edge as u32 as usize].counter = new;
            self.counters[new as usize] += 1;
            self.counters[counter as usize] -= 1;
        }
        let mut touched_blocks = std::mem::take(&mut self.touched_blocks);
        for (state, old) in touched.drain(..) {
            self.fresh[state as usize] = NONE;
            let only = self.counters[old as usize] == 0;
            if only {
                self.free_counters.push(old);
            }
            let number = self.block_of[state as usize];
            let block = &mut self.blocks[number as usize];
            if block.both + block.only == 0 {
                touched_blocks.push(number);
            }
            let to = if only {
                block.only += 1;
                block.end - block.only
            } else {
                block.both += 1;
                block.start + block.both - 1
            };
            let from = self.position[state as usize];
            let other = self.order[to as usize];
            self.order.swap(from as usize, to as usize);
            self.position[other as usize] = from;
            self.position[state as usize] = to;
        }
        for number in touched_blocks.drain(..) {
            self.split_touched(number);
        }
        self.touched = touched;
        self.touched_blocks = touched_blocks;
    }

    /// Moves the swapped states to new blocks. The other states keep the number, because they were
    /// not paid for.
    fn split_touched(&mut self, number: u32) {
        let Block { start, end, both, only, constellation } = self.blocks[number as usize];
        let (middle, back) = (start + both, end - only);
        let block = &mut self.blocks[number as usize];
        (block.both, block.only) = (0, 0);
        match (both > 0, middle < back, only > 0) {
            (true, true, true) => {
                (block.start, block.end) = (middle, back);
                self.found(start, middle, constellation);
                self.found(back, end, constellation);
            }
            (true, true, false) => {
                block.start = middle;
                self.found(start, middle, constellation);
            }
            (false, true, true) => {
                block.end = back;
                self.found(back, end, constellation);
            }
            (true, false, true) if both >= only => {
                block.end = middle;
                self.found(middle, end, constellation);
            }
            (true, false, true) => {
                block.start = middle;
                self.found(start, middle, constellation);
            }
            _ => return,
        }
        let constellation_queued = &mut self.constellations[constellation as usize].queued;
        if !std::mem::replace(constellation_queued, true) {
            self.work.push(constellation);
        }
    }

    fn found(&mut self, start: u32, end: u32, constellation: u32) {
        let number = self.blocks.len() as u32;
        self.blocks.push(Block { start, end, constellation, both: 0, only: 0 });
        for &state in &self.order[start as usize..end as usize] {
            self.block_of[state as usize] = number;
        }
    }
}

/// Lays states out so that blocks are ranges and constellations are ranges of blocks.
fn arrange(before: &[u32], now: &[u32], block_count: u32) -> (Vec<u32>, Vec<Block>, Vec<Constellation>) {
    let mut size = vec![0u32; block_count as usize];
    let mut constellation_of = vec![0u32; block_count as usize];
    for (&outer, &block) in before.iter().zip(now) {
        size[block as usize] += 1;
        constellation_of[block as usize] = outer;
    }
    let mut by_constellation: Vec<u32> = (0..block_count).collect();
    by_constellation.sort_unstable_by_key(|&block| constellation_of[block as usize]);
    let empty = Block { start: 0, end: 0, constellation: 0, both: 0, only: 0 };
    let mut blocks = vec![empty; block_count as usize];
    let mut constellations: Vec<Constellation> = Vec::new();
    let mut at = 0;
    for group in
        by_constellation.chunk_by(|&a, &b| constellation_of[a as usize] == constellation_of[b as usize])
    {
        let start = at;
        for &block in group {
            let constellation = constellations.len() as u32;
            // `end` is the write cursor until all states are placed.
            blocks[block as usize] = Block { start: at, end: at, constellation, both: 0, only: 0 };
            at += size[block as usize];
        }
        constellations.push(Constellation { start, end: at, queued: false });
    }
    let mut order = vec![0; now.len()];
    for (state, &block) in now.iter().enumerate() {
        let cursor = &mut blocks[block as usize].end;
        order[*cursor as usize] = state as u32;
        *cursor += 1;
    }
    (order, blocks, constellations)
}

/// The incoming edges of every state, with one counter per source, label and target block of
/// `before`.
fn turn_round(graph: &Graph, before: &[u32]) -> (Vec<u32>, Vec<Incoming>, Vec<u32>) {
    let states = graph.states();
    let mut start = vec![0u32; states + 1];
    for edge in graph.all_edges() {
        start[edge.target as usize + 1] += 1;
    }
    for s in 0..states {
        start[s + 1] += start[s];
    }
    let mut cursor = start.clone();
    let mut incoming = vec![Incoming { source: 0, label: 0, counter: 0 }; graph.edge_count()];
    let mut counters: Vec<u32> = Vec::new();
    let mut keyed: Vec<(u64, u32)> = Vec::new();
    for source in 0..states as u32 {
        keyed.clear();
        let key = |edge: &crate::reduction::graph::Edge| pair(edge.label, before[edge.target as usize]);
        keyed.extend(graph.edges(source).iter().map(|edge| (key(edge), edge.target)));
        keyed.sort_unstable();
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            let counter = counters.len() as u32;
            counters.push(group.len() as u32);
            for &(key, target) in group {
                let at = &mut cursor[target as usize];
                incoming[*at as usize] = Incoming { source, label: (key >> 32) as u32, counter };
                *at += 1;
            }
        }
    }
    (start, incoming, counters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduction::graph::Edge;

    #[test]
    fn a_chain_has_one_block_per_state() {
        let chain = Graph::new(5000, (0..4999).map(|s| (s, Edge { label: 0, target: s + 1 })));
        assert_eq!(partition(&chain).1, 5000);
    }

    #[test]
    fn a_cycle_of_two_labels_folds_to_its_period() {
        let cycle = Graph::new(
            600,
            (0..600).map(|s| (s, Edge { label: u32::from(s % 3 == 0), target: (s + 1) % 600 })),
        );
        assert_eq!(partition(&cycle).1, 3);
    }

    /// The worklist has the same result as rounds alone, at whatever round it takes over.
    #[test]
    fn the_worklist_takes_over_after_any_round() {
        let mut seed = 7u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        for case in 0..2000 {
            let states = 1 + random(if case % 10 == 0 { 300 } else { 12 });
            let (labels, span) = (1 + random(4), 1 + random(states));
            let edges: Vec<(u32, Edge)> = (0..random(states * 3))
                .map(|_| {
                    let from = random(states);
                    (from, Edge { label: random(labels), target: (from + random(span)) % states })
                })
                .collect();
            let graph = Graph::new(states as usize, edges.iter().copied());
            let expected = signature::rounds_while(&graph, None, |_, _, _| true);
            for last in 1..4 {
                let (block_of, blocks) =
                    refine(&graph, signature::rounds_while(&graph, None, |round, _, _| round < last));
                assert_eq!(blocks, expected.blocks, "case {case}, after round {last}");
                let mut to = vec![NONE; blocks as usize];
                for (&one, &two) in block_of.iter().zip(&expected.now) {
                    let slot = &mut to[one as usize];
                    assert!(*slot == NONE || *slot == two, "case {case}, after round {last}");
                    *slot = two;
                }
            }
        }
    }
}
