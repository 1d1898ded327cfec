//! Looks for a strongly connected set of edges that assigns no clock it tests.

use turnpike_model::components::components;

use super::clocks::Effect;
use crate::network::{LocationId, Process};

/// Edges that are visited before giving up: the search is exponential in the number of clocks that
/// are both assigned and tested.
const BUDGET: usize = 2_000_000;

/// The result of the search.
pub(super) enum Outcome {
    /// Every loop spends time.
    None,
    /// This one need not, given as edges in order.
    Loop(Vec<usize>),
    /// The budget was exhausted.
    Undecided,
}

/// The edges of a process with their effects on clocks.
pub(super) struct Graph<'a> {
    pub(super) process: &'a Process,
    pub(super) effects: &'a [Effect],
    pub(super) accepting: &'a dyn Fn(LocationId) -> bool,
}

impl Graph<'_> {
    fn source(&self, edge: usize) -> usize {
        self.process.edges[edge].source.0 as usize
    }

    fn target(&self, edge: usize) -> usize {
        self.process.edges[edge].target.0 as usize
    }

    /// Searches these edges for a harmful loop.
    pub(super) fn harmful_loop(&self, edges: Vec<usize>) -> Outcome {
        let mut budget = BUDGET;
        let mut work = vec![edges];
        while let Some(edges) = work.pop() {
            for component in self.components(&edges) {
                let Some(left) = budget.checked_sub(component.len()) else { return Outcome::Undecided };
                budget = left;
                if !component.iter().any(|&edge| (self.accepting)(self.process.edges[edge].source)) {
                    continue;
                }
                // A harmful subset must avoid either assigning the clock or testing it.
                let Some(clock) = self.spent_clock(&component) else {
                    return Outcome::Loop(self.cycle(&component));
                };
                let without = |set: fn(&Effect) -> &Vec<u32>| -> Vec<usize> {
                    let keeps = |edge: &usize| set(&self.effects[*edge]).binary_search(&clock).is_err();
                    component.iter().copied().filter(keeps).collect()
                };
                let unassigned = without(|effect| &effect.assigned);
                let untested = without(|effect| &effect.tested);
                if unassigned != untested {
                    work.push(unassigned);
                }
                work.push(untested);
            }
        }
        Outcome::None
    }

    /// A clock that these edges both assign and test.
    fn spent_clock(&self, edges: &[usize]) -> Option<u32> {
        let mut assigned: Vec<u32> =
            edges.iter().flat_map(|&edge| &self.effects[edge].assigned).copied().collect();
        assigned.sort_unstable();
        edges
            .iter()
            .flat_map(|&edge| &self.effects[edge].tested)
            .copied()
            .find(|clock| assigned.binary_search(clock).is_ok())
    }

    /// The strongly connected components that contain edges, as lists of edges.
    fn components(&self, edges: &[usize]) -> Vec<Vec<usize>> {
        let mut outgoing = vec![Vec::new(); self.process.locations.len()];
        for &edge in edges {
            outgoing[self.source(edge)].push(self.target(edge) as u32);
        }
        let (component, count) =
            components(outgoing.len(), |location, k| outgoing[location as usize].get(k).copied());
        let mut sets = vec![Vec::new(); count as usize];
        for &edge in edges {
            if component[self.source(edge)] == component[self.target(edge)] {
                sets[component[self.source(edge)] as usize].push(edge);
            }
        }
        sets.retain(|set| !set.is_empty());
        // Components are numbered from the leaves; report the first in source order.
        sets.sort_by_key(|set| set[0]);
        sets
    }

    /// A shortest loop through an accepting location of a component.
    fn cycle(&self, edges: &[usize]) -> Vec<usize> {
        let mut starts: Vec<usize> = edges.iter().map(|&edge| self.source(edge)).collect();
        starts.sort_unstable();
        starts.dedup();
        let accepting =
            |start: &usize| (self.accepting)(LocationId(u32::try_from(*start).unwrap_or(u32::MAX)));
        // A few starts suffice to find a short loop.
        let loops = starts.into_iter().filter(accepting).take(16);
        loops.map(|start| self.cycle_from(edges, start)).min_by_key(Vec::len).unwrap_or_default()
    }

    fn cycle_from(&self, edges: &[usize], start: usize) -> Vec<usize> {
        let mut outgoing = vec![Vec::new(); self.process.locations.len()];
        for &edge in edges {
            outgoing[self.source(edge)].push(edge);
        }
        let mut reached_by = vec![None; outgoing.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for &edge in &outgoing[at] {
                let to = self.target(edge);
                if to == start {
                    let mut path = vec![edge];
                    let mut location = at;
                    while location != start {
                        let Some(edge) = reached_by[location] else { break };
                        path.push(edge);
                        location = self.source(edge);
                    }
                    path.reverse();
                    return path;
                }
                if reached_by[to].is_none() {
                    reached_by[to] = Some(edge);
                    queue.push_back(to);
                }
            }
        }
        Vec::new()
    }
}
