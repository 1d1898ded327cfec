//! Saturation for weak bisimilarity: `tau* a tau*` steps, and `tau*` for `tau`.

use crate::reduction::closure::Closure;
use crate::reduction::graph::{Edge, Graph};
use crate::reduction::limit::Explosion;

/// All steps up to internal steps. Every state has an internal step to itself.
pub(crate) fn saturate(graph: &Graph, tau: u32, limit: usize) -> Result<Graph, Explosion> {
    let mut closure = Closure::new(graph, Some(tau));
    let mut reached = Vec::new();
    // First, internal steps only after the visible one.
    let after = Graph::try_from_rows(graph.states(), limit, |state, edges| {
        let state = state as u32;
        reached.clear();
        reached.push(state);
        closure.close(graph, &mut reached);
        edges.extend(reached.iter().map(|&target| Edge { label: tau, target }));
        for group in graph.edges(state).chunk_by(|a, b| a.label == b.label) {
            let label = group[0].label;
            if label != tau {
                reached.clear();
                reached.extend(group.iter().map(|edge| edge.target));
                closure.close(graph, &mut reached);
                edges.extend(reached.iter().map(|&target| Edge { label, target }));
            }
        }
    })?;
    Graph::try_from_rows(graph.states(), limit, |state, edges| {
        let internal = after.edges_with(state as u32, tau);
        edges.extend_from_slice(internal);
        for via in internal {
            edges.extend(after.edges(via.target).iter().filter(|edge| edge.label != tau));
        }
    })
}

/// Removes the steps that follow from others: the smallest graph with the same saturation. Internal
/// steps must not form cycles between different states.
pub(crate) fn desaturate(saturated: &Graph, tau: u32) -> Graph {
    let steps = |state, label| saturated.edges_with(state, label).iter().map(|edge| edge.target);
    let can = |state, label, target| saturated.edges(state).binary_search(&Edge { label, target }).is_ok();
    Graph::from_rows(saturated.states(), |state, edges| {
        let state = state as u32;
        let needed = |&&Edge { label, target }: &&Edge| {
            // A detour through another state, with an internal step first or last.
            let first = |via: u32| via != state && (label, via) != (tau, target) && can(via, label, target);
            let last = |via: u32| via != target && (label, via) != (tau, state) && can(via, tau, target);
            (label, target) != (tau, state) && !steps(state, tau).any(first) && !steps(state, label).any(last)
        };
        edges.extend(saturated.edges(state).iter().filter(needed));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAU: u32 = 0;

    fn graph(edges: &[(u32, u32, u32)]) -> Graph {
        let states = edges.iter().map(|&(from, _, to)| from.max(to) as usize + 1).max().unwrap_or(0);
        Graph::new(states, edges.iter().map(|&(from, label, target)| (from, Edge { label, target })))
    }

    #[test]
    fn a_step_may_have_internal_steps_around_it() {
        let saturated = saturate(&graph(&[(0, TAU, 1), (1, 1, 2), (2, TAU, 3)]), TAU, 100).expect("small");
        let edges: Vec<(u32, u32, u32)> =
            saturated.iter().map(|(from, e)| (from, e.label, e.target)).collect();
        let internal = [(0, TAU, 0), (0, TAU, 1), (1, TAU, 1), (2, TAU, 2), (2, TAU, 3), (3, TAU, 3)];
        let visible = [(0, 1, 2), (0, 1, 3), (1, 1, 2), (1, 1, 3)];
        let mut expected = [&internal[..], &visible].concat();
        expected.sort_unstable();
        assert_eq!(edges, expected);
        assert_eq!(saturate(&saturated, TAU, 9).unwrap_err(), Explosion::Saturating(9));
    }

    #[test]
    fn implied_transitions_are_omitted() {
        let least = graph(&[(0, TAU, 1), (1, TAU, 2), (1, 1, 2), (2, 1, 2)]);
        let saturated = saturate(&least, TAU, 100).expect("small");
        let found: Vec<_> = desaturate(&saturated, TAU).iter().collect();
        // From 1, the step follows from that of 2.
        assert_eq!(found, graph(&[(0, TAU, 1), (1, TAU, 2), (2, 1, 2)]).iter().collect::<Vec<_>>());
    }
}
