//! Formulas that hold for one class and not for another, derived from the rounds that separate
//! them.
//!
//! A pair of classes is separated in round `k` because one side has a step that the other cannot
//! answer. The formula states that this step is possible, and that its target differs from those of
//! all answers, which were separated before round `k`. For the branching equivalences, it also
//! states that the internal steps before it stay in states that differ from those where the other
//! side can go.

use rustc_hash::FxHashMap;

use crate::reduction::difference::Side;
use crate::reduction::experiment::{Rounds, best_attack, offers};
use crate::reduction::formula::{Builder, Formula, Node};
use crate::reduction::graph::{Alphabet, Edge, Graph};
use crate::reduction::satisfy::Satisfaction;

/// Formulas are not nested deeper than this.
const MAX_DEPTH: usize = 150;
const EVALUATIONS: usize = 50_000_000;

/// The treatment of steps in formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Steps as they are.
    Plain,
    /// Steps with any number of internal steps around them.
    Weak,
    /// Steps after inert internal steps, given the labels of internal steps and of divergence.
    Branching { tau: u32, divergence: Option<u32> },
}

/// Parts of formulas, and the states in which they hold.
pub(crate) struct Workbench<'a> {
    pub(crate) builder: Builder,
    satisfaction: Satisfaction<'a>,
    states: usize,
}

impl<'a> Workbench<'a> {
    pub(crate) fn new(graph: &'a Graph, alphabet: &'a Alphabet) -> Workbench<'a> {
        let satisfaction = Satisfaction::new(graph, alphabet);
        Workbench { builder: Builder::default(), satisfaction, states: graph.states() }
    }

    /// Whether a part holds in a state; `None` if there are too many parts.
    pub(crate) fn holds(&mut self, part: u32, state: u32) -> Option<bool> {
        if self.builder.len() * self.states > EVALUATIONS {
            return None;
        }
        self.satisfaction.extend(self.builder.nodes());
        Some(self.satisfaction.holds(part, state))
    }

    /// A conjunction that holds for none of `others`. `separate` returns parts that exclude one of
    /// them.
    pub(crate) fn exclude(
        &mut self,
        others: impl IntoIterator<Item = u32>,
        mut separate: impl FnMut(&mut Self, u32) -> Option<u32>,
    ) -> Option<u32> {
        let mut parts: Vec<u32> = Vec::new();
        for other in others {
            let mut excluded = false;
            for &part in &parts {
                excluded = excluded || !self.holds(part, other)?;
            }
            if !excluded {
                parts.push(separate(self, other)?);
            }
        }
        Some(self.builder.and(parts))
    }

    /// The formula, if it holds in one state and not in the other.
    pub(crate) fn finish(mut self, root: u32, holds: u32, fails: u32) -> Option<Formula> {
        (self.holds(root, holds)? && !self.holds(root, fails)?).then_some(())?;
        self.builder.finish(root)
    }
}

/// The information about the classes.
pub(crate) struct Classes<'a> {
    /// One state per class, in which divergence is a loop with its own label.
    pub(crate) graph: &'a Graph,
    pub(crate) alphabet: &'a Alphabet,
    pub(crate) rounds: &'a Rounds,
    pub(crate) steps: Steps,
}

impl Classes<'_> {
    fn hidden(&self) -> Option<u32> {
        match self.steps {
            Steps::Branching { tau, .. } => Some(tau),
            _ => None,
        }
    }

    fn text(&self, label: u32) -> &str {
        &self.alphabet.texts[label as usize]
    }
}

/// Distinguishes pairs of classes.
pub(crate) struct Distinguisher<'a> {
    classes: Classes<'a>,
    known: FxHashMap<(u32, u32), u32>,
}

impl<'a> Distinguisher<'a> {
    pub(crate) fn new(classes: Classes<'a>) -> Distinguisher<'a> {
        Distinguisher { classes, known: FxHashMap::default() }
    }

    /// A part that holds in `one` and not in `other`.
    pub(crate) fn separate(&mut self, bench: &mut Workbench<'_>, one: u32, other: u32) -> Option<u32> {
        if let Some(&part) = self.known.get(&(one, other)) {
            return Some(part);
        }
        let rounds = self.classes.rounds;
        let depth = rounds.depth(one, other)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let block_of = rounds.before(depth);
        let hidden = self.classes.hidden();
        let offered = [one, other].map(|state| offers(self.classes.graph, hidden, state, block_of));
        let attack = best_attack(rounds, [one, other], &offered, block_of, hidden);
        let part = match attack.side {
            Side::Left => self.attack(bench, one, other, attack.edge, block_of)?,
            Side::Right => {
                let part = self.attack(bench, other, one, attack.edge, block_of)?;
                bench.builder.not(part)
            }
        };
        self.known.insert((one, other), part);
        Some(part)
    }

    /// A part that states that `own` has this step, which `other` cannot answer.
    fn attack(
        &mut self,
        bench: &mut Workbench<'_>,
        own: u32,
        other: u32,
        step: Edge,
        block_of: &[u32],
    ) -> Option<u32> {
        let graph = self.classes.graph;
        let text = self.classes.text(step.label).to_owned();
        let Steps::Branching { tau, divergence } = self.classes.steps else {
            let answers = graph.edges_with(other, step.label).iter().map(|edge| edge.target);
            let then = bench.exclude(answers, |bench, answer| self.separate(bench, step.target, answer))?;
            return Some(bench.builder.can(&text, self.classes.steps == Steps::Weak, then));
        };
        let InternalTargets { inert, exits } = internal_targets(graph, tau, other, block_of);
        let label = (step.label != tau).then_some(text);
        let then = if Some(step.label) == divergence {
            bench.builder.truth()
        } else {
            let after = |&state: &u32| graph.edges_with(state, step.label).iter().map(|edge| edge.target);
            let mut answers: Vec<u32> = inert.iter().flat_map(after).collect();
            if label.is_none() {
                answers.extend_from_slice(&inert);
            }
            bench.exclude(answers, |bench, answer| self.separate(bench, step.target, answer))?
        };
        let build = |bench: &mut Workbench<'_>, stay| {
            bench.builder.add(if Some(step.label) == divergence {
                Node::Diverges { stay }
            } else {
                Node::Until { stay, label: label.clone(), then }
            })
        };
        // The intermediate states matter only if the answer is possible through other states.
        let anywhere = bench.builder.truth();
        let simple = build(bench, anywhere);
        if !bench.holds(simple, other)? {
            return Some(simple);
        }
        let stay = bench.exclude(exits, |bench, exit| self.separate(bench, own, exit))?;
        Some(build(bench, stay))
    }
}

/// The targets of internal steps.
struct InternalTargets {
    /// States of the same block that are reached within it.
    inert: Vec<u32>,
    /// The first states of other blocks.
    exits: Vec<u32>,
}

fn internal_targets(graph: &Graph, tau: u32, state: u32, block_of: &[u32]) -> InternalTargets {
    let mut seen = rustc_hash::FxHashSet::from_iter([state]);
    let (mut inert, mut exits) = (vec![state], Vec::new());
    let mut next = 0;
    while next < inert.len() {
        for edge in graph.edges_with(inert[next], tau) {
            if seen.insert(edge.target) {
                let same = block_of[edge.target as usize] == block_of[state as usize];
                if same { inert.push(edge.target) } else { exits.push(edge.target) }
            }
        }
        next += 1;
    }
    InternalTargets { inert, exits }
}
