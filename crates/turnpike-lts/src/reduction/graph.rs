//! The representation for all algorithms: labels merged by text, edges grouped by source, no
//! duplicates.

use std::ops::Range;

use crate::Lts;
use crate::reduction::limit::Explosion;
use turnpike_model::label::TAU;

/// Marks the absence of a state, edge or block. All indices are smaller.
pub(crate) const NONE: u32 = u32::MAX;

/// One outgoing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) label: u32,
    pub(crate) target: u32,
}

/// Labels in the order of their texts. Merging by text gives two systems a common alphabet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alphabet {
    pub(crate) texts: Vec<String>,
    pub(crate) tau: Option<u32>,
}

impl Alphabet {
    /// The texts of all systems, sorted, without duplicates.
    pub(crate) fn of(systems: &[&Lts]) -> Alphabet {
        let mut texts: Vec<String> = systems.iter().flat_map(|lts| lts.labels.iter().cloned()).collect();
        texts.sort_unstable();
        texts.dedup();
        let tau = texts.binary_search_by(|text| text.as_str().cmp(TAU)).ok().map(|at| at as u32);
        Alphabet { texts, tau }
    }

    /// The number of a text.
    pub(crate) fn number(&self, text: &str) -> Option<u32> {
        self.texts.iter().position(|label| label == text).map(|at| at as u32)
    }

    /// The number of each label of `lts` in this alphabet.
    fn numbers_of(&self, lts: &Lts) -> Vec<u32> {
        let number = |text: &String| self.texts.binary_search(text).expect("built from these texts") as u32;
        lts.labels.iter().map(number).collect()
    }
}

/// Edges in compressed rows. Those of state `s` are `edges[offsets[s]..offsets[s + 1]]`, sorted and
/// without duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph {
    /// Groups edges by source. Iterates twice: once to count, once to fill.
    ///
    /// # Panics
    /// If there are 2^32 - 1 edges or more, or if an edge leaves `0..states`.
    pub(crate) fn new(states: usize, edges: impl Iterator<Item = (u32, Edge)> + Clone) -> Graph {
        let mut offsets = vec![0u32; states + 1];
        let mut total = 0u64;
        for (from, edge) in edges.clone() {
            assert!((edge.target as usize) < states, "transition to state {} of {states}", edge.target);
            offsets[from as usize + 1] += 1;
            total += 1;
        }
        assert!(total < u64::from(NONE), "too many transitions: {total}");
        for s in 0..states {
            offsets[s + 1] += offsets[s];
        }
        let mut placed = vec![Edge { label: 0, target: 0 }; total as usize];
        // `offsets[s]` is the write cursor of `s`, and afterwards equals the start of `s + 1`.
        for (from, edge) in edges {
            let cursor = &mut offsets[from as usize];
            placed[*cursor as usize] = edge;
            *cursor += 1;
        }
        let (mut read, mut write) = (0, 0);
        for offset in offsets.iter_mut().take(states) {
            let end = *offset as usize;
            placed[read..end].sort_unstable();
            let first = write;
            *offset = first as u32;
            for at in read..end {
                if write == first || placed[write - 1] != placed[at] {
                    placed[write] = placed[at];
                    write += 1;
                }
            }
            read = end;
        }
        offsets[states] = write as u32;
        placed.truncate(write);
        Graph { offsets, edges: placed }
    }

    /// Builds state after state: `row` appends the edges of one state, in any order. Cheaper than
    /// [`Graph::new`] if the sources are in order.
    pub(crate) fn from_rows(states: usize, row: impl FnMut(usize, &mut Vec<Edge>)) -> Graph {
        Graph::try_from_rows(states, usize::MAX, row).expect("there is no limit")
    }

    /// As [`Graph::from_rows`], for a graph that may have too many edges.
    pub(crate) fn try_from_rows(
        states: usize,
        limit: usize,
        mut row: impl FnMut(usize, &mut Vec<Edge>),
    ) -> Result<Graph, Explosion> {
        let mut offsets = Vec::with_capacity(states + 1);
        offsets.push(0);
        let (mut edges, mut buffer) = (Vec::new(), Vec::new());
        for state in 0..states {
            row(state, &mut buffer);
            buffer.sort_unstable();
            buffer.dedup();
            edges.append(&mut buffer);
            if edges.len() > limit {
                return Err(Explosion::Saturating(limit));
            }
            offsets.push(edges.len() as u32);
        }
        Ok(Graph { offsets, edges })
    }

    /// The graph of one system.
    pub(crate) fn of(lts: &Lts, alphabet: &Alphabet) -> Graph {
        let labels = alphabet.numbers_of(lts);
        Graph::new(lts.states as usize, edges_of(lts, &labels, 0))
    }

    /// Two systems side by side. The states of `right` follow those of `left`.
    pub(crate) fn union(left: &Lts, right: &Lts, alphabet: &Alphabet) -> Graph {
        let (left_labels, right_labels) = (alphabet.numbers_of(left), alphabet.numbers_of(right));
        let states = left.states.checked_add(right.states).filter(|&n| n < NONE).expect("too many states");
        let edges = edges_of(left, &left_labels, 0).chain(edges_of(right, &right_labels, left.states));
        Graph::new(states as usize, edges)
    }

    pub(crate) fn states(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// All edges by source.
    pub(crate) fn all_edges(&self) -> &[Edge] {
        &self.edges
    }

    fn range(&self, state: u32) -> Range<usize> {
        self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize
    }

    /// The edges of a state, sorted by label, then target.
    #[inline]
    pub(crate) fn edges(&self, state: u32) -> &[Edge] {
        &self.edges[self.range(state)]
    }

    /// The edges of a state with this label.
    pub(crate) fn edges_with(&self, state: u32, label: u32) -> &[Edge] {
        let edges = self.edges(state);
        let first = edges.partition_point(|edge| edge.label < label);
        let count = edges[first..].partition_point(|edge| edge.label == label);
        &edges[first..first + count]
    }

    /// All edges with their sources.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Edge)> + Clone + '_ {
        (0..self.states() as u32).flat_map(move |s| self.edges(s).iter().map(move |&edge| (s, edge)))
    }

    /// The part reachable from `initial`, renumbered breadth-first (so `initial` becomes 0):
    /// neighbours in the graph become neighbours in memory, which speeds up the refinement.
    pub(crate) fn reachable(&self, initial: u32) -> Graph {
        let mut number = vec![NONE; self.states()];
        let mut order = vec![initial];
        number[initial as usize] = 0;
        let mut next = 0;
        while next < order.len() {
            for edge in self.edges(order[next]) {
                let slot = &mut number[edge.target as usize];
                if *slot == NONE {
                    *slot = order.len() as u32;
                    order.push(edge.target);
                }
            }
            next += 1;
        }
        Graph::from_rows(order.len(), |row, edges| {
            let old = self.edges(order[row]).iter();
            edges.extend(old.map(|edge| Edge { label: edge.label, target: number[edge.target as usize] }));
        })
    }
}

fn edges_of<'a>(
    lts: &'a Lts,
    labels: &'a [u32],
    shift: u32,
) -> impl Iterator<Item = (u32, Edge)> + Clone + 'a {
    lts.transitions
        .iter()
        .map(move |t| (t.from + shift, Edge { label: labels[t.label.index()], target: t.to + shift }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn e(label: u32, target: u32) -> Edge {
        Edge { label, target }
    }

    #[test]
    fn groups_sorts_and_drops_duplicates() {
        let edges = [(2, e(1, 0)), (0, e(1, 2)), (2, e(0, 1)), (0, e(0, 2)), (2, e(1, 0)), (0, e(0, 1))];
        let graph = Graph::new(4, edges.iter().copied());
        assert_eq!(graph.edges(0), [e(0, 1), e(0, 2), e(1, 2)]);
        assert_eq!(graph.edges(1), []);
        assert_eq!(graph.edges(2), [e(0, 1), e(1, 0)]);
        assert_eq!(graph.edges(3), []);
        assert_eq!(graph.edges_with(0, 0), [e(0, 1), e(0, 2)]);
        assert_eq!(graph.edges_with(0, 7), []);
    }

    #[test]
    fn keeps_only_what_can_be_reached() {
        let graph = Graph::new(4, [(3, e(0, 1)), (1, e(0, 3)), (0, e(0, 3))].into_iter());
        let part = graph.reachable(3);
        assert_eq!(part.states(), 2);
        assert_eq!(part.edges(0), [e(0, 1)]);
        assert_eq!(part.edges(1), [e(0, 0)]);
    }
}
