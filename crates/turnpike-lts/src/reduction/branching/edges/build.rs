//! Builds the initial groups of the edges of a graph.

use super::Edges;
use crate::reduction::branching::blocks::Blocks;
use crate::reduction::branching::counters::Counters;
use crate::reduction::branching::lists::Links;
use crate::reduction::graph::{Graph, NONE};

impl Edges {
    /// `tau` edges within a block are inert. The others form one bunch for each label and target
    /// block.
    pub(in crate::reduction::branching) fn new(
        graph: &Graph,
        tau: u32,
        blocks: &Blocks,
        counters: &mut Counters,
    ) -> Edges {
        let (block_of, order) = blocks.assignment();
        let (states, count) = (graph.states(), graph.edge_count());
        let mut source = Vec::with_capacity(count);
        let mut target = Vec::with_capacity(count);
        let mut labels = Vec::with_capacity(count);
        let mut out_start = Vec::with_capacity(states + 1);
        let mut internal_end = Vec::with_capacity(states);
        out_start.push(0);
        for state in 0..states as u32 {
            let internal = graph.edges(state).iter().filter(|edge| edge.label == tau);
            let visible = graph.edges(state).iter().filter(|edge| edge.label != tau);
            for edge in internal.clone().chain(visible) {
                source.push(state);
                target.push(edge.target);
                labels.push(edge.label);
            }
            internal_end.push(out_start[state as usize] + internal.count() as u32);
            out_start.push(source.len() as u32);
        }
        let (incoming, in_start, in_internal_end) =
            incoming(states, &target, |edge| labels[edge as usize] == tau);
        let mut edges = Edges {
            source,
            target,
            out_start,
            internal_end,
            incoming,
            in_start,
            in_internal_end,
            slice_of: vec![NONE; count],
            action_of: vec![NONE; count],
            counter_of: vec![NONE; count],
            marked: vec![false; count],
            slice_links: Links::new(count),
            action_links: Links::new(count),
            slices: Vec::new(),
            slice_is_doubtful: Vec::new(),
            free_slices: Vec::new(),
            first_slice: vec![NONE; blocks.count()],
            actions: Vec::new(),
            free_actions: Vec::new(),
            first_action: Vec::new(),
            bunch_is_queued: Vec::new(),
            composite: Vec::new(),
            changed_actions: Vec::new(),
        };
        edges.group(&labels, tau, block_of, order, counters);
        edges
    }

    /// Adds all edges that are not inert to their groups. `order` lists the states block by block,
    /// so that "same block as before" replaces a table of pairs, which would take more memory than
    /// everything else here.
    fn group(&mut self, labels: &[u32], tau: u32, block_of: &[u32], order: &[u32], counters: &mut Counters) {
        // For each label, the last target block and the bunch created for them.
        let mut last = vec![(NONE, NONE); labels.iter().max().map_or(0, |&max| max as usize + 1)];
        for &state in order {
            let block = block_of[state as usize];
            for at in self.in_start[state as usize]..self.in_start[state as usize + 1] {
                let edge = self.incoming[at as usize];
                let label = labels[edge as usize];
                if label == tau && block_of[self.source(edge) as usize] == block {
                    continue;
                }
                if last[label as usize].0 != block {
                    let (_, action) = self.new_bunch();
                    last[label as usize] = (block, action);
                }
                self.insert_in_action(edge, last[label as usize].1);
            }
        }
        // For each bunch, the last block with an edge in it, and their slice.
        let mut last = vec![(NONE, NONE); self.first_action.len()];
        let mut row: Vec<(u32, u32)> = Vec::new();
        for &state in order {
            let block = block_of[state as usize];
            row.clear();
            let grouped = self.out(state).filter(|&edge| self.action_of[edge as usize] != NONE);
            row.extend(
                grouped.map(|edge| (self.actions[self.action_of[edge as usize] as usize].bunch, edge)),
            );
            row.sort_unstable();
            for same_bunch in row.chunk_by(|a, b| a.0 == b.0) {
                let bunch = same_bunch[0].0;
                if last[bunch as usize].0 != block {
                    last[bunch as usize] = (block, self.new_slice(block, bunch));
                }
                for &(_, edge) in same_bunch {
                    counters.count_fresh(state);
                    self.insert_in_slice(edge, last[bunch as usize].1, counters.fresh(state));
                }
                counters.settle(state);
            }
        }
    }
}

/// The edge numbers by target, internal ones first, with the start of each row and the end of its
/// internal edges.
fn incoming(states: usize, target: &[u32], internal: impl Fn(u32) -> bool) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; states + 1];
    for &t in target {
        start[t as usize + 1] += 1;
    }
    for s in 0..states {
        start[s + 1] += start[s];
    }
    let mut cursor = start[..states].to_vec();
    let mut numbers = vec![0; target.len()];
    let mut internal_end = Vec::new();
    for pass in [true, false] {
        for edge in (0..target.len() as u32).filter(|&edge| internal(edge) == pass) {
            let at = &mut cursor[target[edge as usize] as usize];
            numbers[*at as usize] = edge;
            *at += 1;
        }
        if pass {
            internal_end = cursor.clone();
        }
    }
    (numbers, start, internal_end)
}
