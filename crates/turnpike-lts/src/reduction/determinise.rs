//! Deterministic systems with the same traces, by the subset construction.

use crate::reduction::closure::Closure;
use crate::reduction::graph::{Edge, Graph};
use crate::reduction::limit::Explosion;
use crate::reduction::lists::Lists;

/// The sets of states that traces lead to from some initial sets.
pub(crate) struct Subsets<'a> {
    graph: &'a Graph,
    hidden: Option<u32>,
    closure: Closure,
    sets: Lists<u32>,
    limit: usize,
    moves: Vec<Edge>,
    next: Vec<u32>,
}

impl<'a> Subsets<'a> {
    pub(crate) fn new(graph: &'a Graph, hidden: Option<u32>, limit: usize) -> Subsets<'a> {
        let closure = Closure::new(graph, hidden);
        let (moves, next) = (Vec::new(), Vec::new());
        Subsets { graph, hidden, closure, sets: Lists::default(), limit, moves, next }
    }

    /// The total number of members of all sets.
    pub(crate) fn members(&self) -> usize {
        self.sets.total()
    }

    /// The states of a set, sorted.
    #[inline]
    pub(crate) fn get(&self, set: u32) -> &[u32] {
        self.sets.get(set)
    }

    /// The set of these states and all states that hidden steps reach from them.
    pub(crate) fn add(&mut self, states: impl IntoIterator<Item = u32>) -> Result<u32, Explosion> {
        self.next.clear();
        self.next.extend(states);
        self.closure.close(self.graph, &mut self.next);
        let set = self.sets.intern(&self.next);
        Explosion::check(self.sets.total() + self.sets.len() as usize, self.limit, Explosion::Determinising)?;
        Ok(set)
    }

    /// The set that a label leads to from a set.
    pub(crate) fn after(&mut self, set: u32, label: u32) -> Result<u32, Explosion> {
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        for &state in self.sets.get(set) {
            moves.extend_from_slice(self.graph.edges_with(state, label));
        }
        let after = self.add(moves.iter().map(|edge| edge.target));
        self.moves = moves;
        after
    }

    /// Appends one edge for each visible label of a set.
    fn expand(&mut self, set: u32, edges: &mut Vec<Edge>) -> Result<(), Explosion> {
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        for &state in self.sets.get(set) {
            let visible = self.graph.edges(state).iter().filter(|edge| Some(edge.label) != self.hidden);
            moves.extend(visible);
        }
        moves.sort_unstable();
        for group in moves.chunk_by(|a, b| a.label == b.label) {
            let target = self.add(group.iter().map(|edge| edge.target))?;
            edges.push(Edge { label: group[0].label, target });
        }
        self.moves = moves;
        Ok(())
    }
}

/// A deterministic graph with the traces of each root, without hidden steps, and the states of the
/// roots.
pub(crate) fn determinise(
    graph: &Graph,
    hidden: Option<u32>,
    roots: impl Iterator<Item = u32>,
    limit: usize,
) -> Result<(Graph, Vec<u32>), Explosion> {
    let mut subsets = Subsets::new(graph, hidden, limit);
    let starts = roots.map(|root| subsets.add([root])).collect::<Result<Vec<u32>, Explosion>>()?;
    let mut rows: Vec<Edge> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    while ends.len() < subsets.sets.len() as usize {
        subsets.expand(ends.len() as u32, &mut rows)?;
        Explosion::check(rows.len(), limit, Explosion::Determinising)?;
        ends.push(rows.len());
    }
    drop(subsets);
    let row = |at: usize, edges: &mut Vec<Edge>| {
        let start = if at == 0 { 0 } else { ends[at - 1] };
        edges.extend_from_slice(&rows[start..ends[at]]);
    };
    Ok((Graph::from_rows(ends.len(), row), starts))
}
