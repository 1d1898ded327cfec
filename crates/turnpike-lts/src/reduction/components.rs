//! Cycles of internal steps: states on one are branching bisimilar, so each such component becomes one state.

use crate::reduction::graph::{Edge, Graph, NONE};

/// The graph with its internal cycles contracted.
pub(crate) struct Contracted {
    /// For each original state, its state in `graph`.
    pub(crate) component_of: Vec<u32>,
    /// Without internal cycles: internal edges lead to states with smaller numbers. When asked for, a divergent state has a self-loop with the divergence label.
    pub(crate) graph: Graph,
}

/// Contracts the components of `tau`. With `divergence`, states that were on a cycle get a self-loop with that label.
pub(crate) fn contract(graph: &Graph, tau: u32, divergence: Option<u32>) -> Contracted {
    let (component_of, components) = components(graph, tau);
    let component = |state: u32| component_of[state as usize];
    let edges = graph.iter().filter_map(|(from, edge)| {
        let (source, target) = (component(from), component(edge.target));
        if edge.label != tau || source != target {
            Some((source, Edge { label: edge.label, target }))
        } else {
            // An internal edge within a component lies on a cycle.
            divergence.map(|label| (source, Edge { label, target }))
        }
    });
    let contracted = Graph::new(components as usize, edges);
    Contracted { component_of, graph: contracted }
}

/// Tarjan's algorithm on the internal edges, with an explicit stack: chains of millions of steps are common. A
/// component is numbered after all that it reaches.
fn components(graph: &Graph, tau: u32) -> (Vec<u32>, u32) {
    let states = graph.states();
    let mut component = vec![NONE; states];
    let mut components = 0;
    // Order of discovery, and the earliest open state reachable.
    let mut found = vec![NONE; states];
    let mut low = vec![NONE; states];
    let mut discovered = 0;
    let mut path: Vec<(u32, u32)> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for root in 0..states as u32 {
        if found[root as usize] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some(&mut (state, ref mut next)) = path.last_mut() {
            let s = state as usize;
            if *next == 0 {
                found[s] = discovered;
                low[s] = discovered;
                discovered += 1;
                open.push(state);
            }
            if let Some(edge) = graph.edges_with(state, tau).get(*next as usize) {
                *next += 1;
                let target = edge.target as usize;
                if found[target] == NONE {
                    path.push((edge.target, 0));
                } else if component[target] == NONE {
                    low[s] = low[s].min(found[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[s]);
            }
            if low[s] == found[s] {
                while component[s] == NONE {
                    let member = open.pop().expect("the root of a component is open");
                    component[member as usize] = components;
                }
                components += 1;
            }
        }
    }
    (component, components)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn e(label: u32, target: u32) -> Edge {
        Edge { label, target }
    }

    #[test]
    fn cycles_become_states_and_divergence_a_loop() {
        // 0 <-> 1 -> 2 (tau), 2 -a-> 0, 3 -tau-> 3
        let edges = [(0, e(0, 1)), (1, e(0, 0)), (1, e(0, 2)), (2, e(1, 0)), (3, e(0, 3))];
        let graph = Graph::new(4, edges.into_iter());
        let plain = contract(&graph, 0, None);
        let c = &plain.component_of;
        assert_eq!(c[0], c[1]);
        assert!(c[0] != c[2] && c[2] != c[3] && c[0] != c[3]);
        assert_eq!(plain.graph.states(), 3);
        assert_eq!(plain.graph.edges(c[0]), [e(0, c[2])]);
        assert_eq!(plain.graph.edges(c[3]), []);
        let diverging = contract(&graph, 0, Some(2));
        assert_eq!(diverging.graph.edges(c[3]), [e(2, c[3])]);
        assert_eq!(diverging.graph.edges(c[2]), [e(1, c[0])]);
    }

    #[test]
    fn deep_chains_need_no_call_stack() {
        let n = 300_000;
        let ring = Graph::new(n as usize, (0..n).map(|s| (s, e(0, (s + 1) % n))));
        assert_eq!(components(&ring, 0).1, 1);
    }
}
