//! Evaluates formulas on graphs.

use turnpike_model::label::TAU;

use crate::reduction::closure::Closure;
use crate::reduction::formula::{Formula, Node};
use crate::reduction::graph::{Alphabet, Graph};

/// For each part of a formula, the states where it holds.
pub(crate) struct Satisfaction<'a> {
    graph: &'a Graph,
    alphabet: &'a Alphabet,
    holds: Vec<Vec<bool>>,
    /// For each state, its predecessors by internal steps; computed on demand.
    before: Option<Vec<Vec<u32>>>,
}

impl<'a> Satisfaction<'a> {
    pub(crate) fn new(graph: &'a Graph, alphabet: &'a Alphabet) -> Satisfaction<'a> {
        Satisfaction { graph, alphabet, holds: Vec::new(), before: None }
    }

    /// Evaluates the parts that are new.
    pub(crate) fn extend<'n>(&mut self, nodes: impl Iterator<Item = &'n Node>) {
        for node in nodes.skip(self.holds.len()) {
            let set = self.evaluate(node);
            self.holds.push(set);
        }
    }

    pub(crate) fn holds(&self, part: u32, state: u32) -> bool {
        self.holds[part as usize][state as usize]
    }

    /// Whether a formula holds in each of some states. Long traces are followed forwards, so that
    /// only the states that they reach are visited.
    pub(crate) fn judge<const N: usize>(mut self, formula: &Formula, states: [u32; N]) -> [bool; N] {
        let (root, parts) = formula.nodes().split_last().expect("a formula has a part");
        self.extend(parts.iter());
        let Node::Can { labels, weak, then } = root else {
            self.extend(formula.nodes().iter());
            return states.map(|state| self.holds(parts.len() as u32, state));
        };
        let mut closure = Closure::new(self.graph, self.alphabet.tau.filter(|_| *weak));
        states.map(|state| {
            let mut reached = vec![state];
            closure.close(self.graph, &mut reached);
            for label in labels.iter().filter(|label| !weak || *label != TAU) {
                let label = self.alphabet.number(label);
                let steps = |&state: &u32| label.map_or(&[][..], |label| self.graph.edges_with(state, label));
                reached = reached.iter().flat_map(steps).map(|edge| edge.target).collect();
                closure.close(self.graph, &mut reached);
            }
            reached.iter().any(|&state| self.holds(*then, state))
        })
    }

    fn evaluate(&mut self, node: &Node) -> Vec<bool> {
        let states = self.graph.states();
        match node {
            Node::True => vec![true; states],
            Node::Not(part) => self.holds[*part as usize].iter().map(|holds| !holds).collect(),
            Node::And(parts) => {
                (0..states).map(|s| parts.iter().all(|&part| self.holds(part, s as u32))).collect()
            }
            Node::Can { labels, weak, then } => {
                let mut set = self.holds[*then as usize].clone();
                let everywhere = vec![true; states];
                if *weak {
                    self.reach_back(&mut set, &everywhere);
                }
                for label in labels.iter().rev() {
                    if *weak && label == TAU {
                        continue;
                    }
                    set = self.before_label(label, &set);
                    if *weak {
                        self.reach_back(&mut set, &everywhere);
                    }
                }
                set
            }
            Node::Until { stay, label, then } => {
                let stay = self.holds[*stay as usize].clone();
                let mut set = self.holds[*then as usize].clone();
                if let Some(label) = label {
                    set = self.before_label(label, &set);
                    set.iter_mut().zip(&stay).for_each(|(holds, &stays)| *holds &= stays);
                }
                self.reach_back(&mut set, &stay);
                set
            }
            Node::Diverges { stay } => self.endless(self.holds[*stay as usize].clone()),
        }
    }

    /// The states with a step of this label into the set.
    fn before_label(&self, label: &str, set: &[bool]) -> Vec<bool> {
        let Some(label) = self.alphabet.number(label) else { return vec![false; self.graph.states()] };
        let steps = |state: u32| self.graph.edges_with(state, label).iter();
        let into = |state| steps(state).any(|edge| set[edge.target as usize]);
        (0..self.graph.states() as u32).map(into).collect()
    }

    /// Adds the states with internal steps into the set through states where `stay` holds.
    fn reach_back(&mut self, set: &mut [bool], stay: &[bool]) {
        let before = self.before_internal();
        let mut queue: Vec<u32> = (0..set.len() as u32).filter(|&state| set[state as usize]).collect();
        while let Some(state) = queue.pop() {
            for &earlier in &before[state as usize] {
                if stay[earlier as usize] && !std::mem::replace(&mut set[earlier as usize], true) {
                    queue.push(earlier);
                }
            }
        }
    }

    /// The states with an endless run of internal steps within the set.
    fn endless(&mut self, mut set: Vec<bool>) -> Vec<bool> {
        let Some(tau) = self.alphabet.tau else { return vec![false; set.len()] };
        let graph = self.graph;
        let before = self.before_internal();
        let inside = |set: &[bool], state: u32| {
            graph.edges_with(state, tau).iter().filter(|edge| set[edge.target as usize]).count() as u32
        };
        let mut left: Vec<u32> = (0..set.len() as u32).map(|state| inside(&set, state)).collect();
        let ends = |&state: &u32| set[state as usize] && left[state as usize] == 0;
        let mut queue: Vec<u32> = (0..set.len() as u32).filter(ends).collect();
        while let Some(state) = queue.pop() {
            set[state as usize] = false;
            for &earlier in &before[state as usize] {
                left[earlier as usize] -= 1;
                if set[earlier as usize] && left[earlier as usize] == 0 {
                    queue.push(earlier);
                }
            }
        }
        set
    }

    fn before_internal(&mut self) -> &[Vec<u32>] {
        self.before.get_or_insert_with(|| {
            let mut before = vec![Vec::new(); self.graph.states()];
            for (from, edge) in self.graph.iter().filter(|(_, edge)| Some(edge.label) == self.alphabet.tau) {
                before[edge.target as usize].push(from);
            }
            before
        })
    }
}
