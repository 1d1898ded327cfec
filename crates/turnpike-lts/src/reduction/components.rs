//! Contracts cycles of internal steps, since all states on a cycle are branching bisimilar.

use turnpike_model::components::components;

use crate::reduction::graph::{Edge, Graph};

/// The graph with its internal cycles contracted.
pub(crate) struct Contracted {
    /// For each original state, its state in `graph`.
    pub(crate) component_of: Vec<u32>,
    /// The graph without internal cycles: internal edges lead to smaller states. If requested, a
    /// divergent state has a self-loop with the divergence label.
    pub(crate) graph: Graph,
}

/// Contracts the components of `tau`. With `divergence`, states that were on a cycle get a
/// self-loop with that label.
pub(crate) fn contract(graph: &Graph, tau: u32, divergence: Option<u32>) -> Contracted {
    let (component_of, count) =
        components(graph.states(), |state, k| Some(graph.edges_with(state, tau).get(k)?.target));
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
    let contracted = Graph::new(count as usize, edges);
    Contracted { component_of, graph: contracted }
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
}
