//! Closures under hidden steps.

use crate::reduction::graph::Graph;

/// Computes closures under hidden steps. Without a hidden label, sets do not change.
pub(crate) struct Closure {
    seen: Vec<bool>,
    hidden: Option<u32>,
}

impl Closure {
    pub(crate) fn new(graph: &Graph, hidden: Option<u32>) -> Closure {
        Closure { seen: vec![false; graph.states()], hidden }
    }

    /// Adds all states reachable by hidden steps, then sorts and removes duplicates.
    pub(crate) fn close(&mut self, graph: &Graph, states: &mut Vec<u32>) {
        if let Some(hidden) = self.hidden {
            states.iter().for_each(|&state| self.seen[state as usize] = true);
            let mut next = 0;
            while next < states.len() {
                for edge in graph.edges_with(states[next], hidden) {
                    if !std::mem::replace(&mut self.seen[edge.target as usize], true) {
                        states.push(edge.target);
                    }
                }
                next += 1;
            }
            states.iter().for_each(|&state| self.seen[state as usize] = false);
        }
        states.sort_unstable();
        states.dedup();
    }
}
