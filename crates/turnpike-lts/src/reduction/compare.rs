//! Decides whether two systems are related, and explains differences.

use crate::Lts;

use crate::reduction::DIVERGENCE;
use crate::reduction::difference::{Comparison, Difference, Distinction, Reason, Side};
use crate::reduction::distinguish::{Classes, Distinguisher, Steps, Workbench};
use crate::reduction::equivalence::{Equivalence, refine};
use crate::reduction::experiment::{self, Rounds};
use crate::reduction::formula::{Builder, Node};
use crate::reduction::graph::{Alphabet, Edge, Graph};
use crate::reduction::inclusion::{Counterexample, Offence, Question, find_counterexample};
use crate::reduction::limit::Explosion;
use crate::reduction::preorder::Preorder;
use crate::reduction::quotient::quotient;
use crate::reduction::satisfy::Satisfaction;
use crate::reduction::saturate::saturate;
use crate::reduction::simulation::Simulation;

/// The largest total size of the sets of states computed to explain a difference between classes.
const EXPLANATION: usize = 4_000_000;

/// Two systems, as classes of a bisimilarity of their union.
struct Both {
    alphabet: Alphabet,
    classes: Graph,
    /// The classes of the initial states.
    start: [u32; 2],
    has_divergence: bool,
}

impl Both {
    fn new(left: &Lts, right: &Lts, equivalence: Equivalence, limit: usize) -> Result<Both, Explosion> {
        let alphabet = Alphabet::of(&[left, right]);
        let graph = Graph::union(left, right, &alphabet);
        let refined = refine(&graph, &alphabet, equivalence, limit)?;
        let class = |state: u32| refined.partition.block_of[state as usize];
        let start = [class(left.initial), class(left.states + right.initial)];
        // The classes are only needed to explain a difference, or for further comparison.
        let classes = if start[0] == start[1] {
            Graph::from_rows(0, |_, _| {})
        } else {
            quotient(&graph, &alphabet, equivalence, &refined)
        };
        Ok(Both { alphabet, classes, start, has_divergence: !refined.divergent.is_empty() })
    }

    fn texts(&self, labels: &[u32]) -> Vec<String> {
        labels.iter().map(|&label| self.alphabet.texts[label as usize].clone()).collect()
    }

    /// A shortest trace of one side that the other lacks.
    fn trace_difference(
        &self,
        hidden: Option<u32>,
        limit: usize,
    ) -> Result<Option<(Side, Counterexample)>, Explosion> {
        let [left, right] = self.start;
        let question = Question { hidden, failures: false, limit, longest: usize::MAX };
        let forth = find_counterexample(&self.classes, left, right, question)?;
        // The other direction is only better if its trace is shorter.
        let longest = forth.as_ref().map_or(usize::MAX, |found| found.trace.len());
        let back = find_counterexample(&self.classes, right, left, Question { longest, ..question });
        match (forth, back) {
            (_, Ok(Some(back))) => Ok(Some((Side::Right, back))),
            (Some(forth), _) => Ok(Some((Side::Left, forth))),
            (None, back) => back.map(|none| none.map(|back| (Side::Right, back))),
        }
    }

    /// The difference that a trace of this side shows.
    fn explain_trace(&self, side: Side, found: &Counterexample, weak: bool) -> Difference {
        let trace = self.texts(&found.trace);
        let mut path = trace.clone();
        let mut builder = Builder::default();
        let mut then = builder.truth();
        let reason = match &found.offence {
            Offence::Label(label) => {
                let label = self.alphabet.texts[*label as usize].clone();
                path.push(label.clone());
                Reason::Trace { trace, label, offered_by: side }
            }
            Offence::Refusal(labels) => {
                let labels = self.texts(labels);
                let rest = weak.then_some(turnpike_model::label::TAU);
                let refused = rest.into_iter().chain(labels.iter().map(String::as_str));
                let parts = refused.map(|label| {
                    let offer = builder.can(label, false, then);
                    builder.not(offer)
                });
                let parts = parts.collect();
                then = builder.and(parts);
                Reason::Refusal { trace, labels }
            }
        };
        let root =
            if path.is_empty() && !weak { then } else { builder.add(Node::Can { labels: path, weak, then }) };
        let formula = builder.finish(root).map(|formula| Distinction { formula, holds_for: side });
        Difference { reason, formula }
    }
}

/// Compares the initial states of two systems. Labels are matched by text.
///
/// For bisimilarities, deciding takes as long as reducing both systems together. The explanation
/// uses the smallest equivalent systems and is bounded: it is a shortest trace that one side lacks,
/// or else a shortest experiment.
///
/// # Errors
/// Weak bisimilarity and the trace equivalences may need more than `limit` permits.
///
/// # Panics
/// As [`partition`](crate::partition), for both systems together.
pub fn compare(
    left: &Lts,
    right: &Lts,
    equivalence: Equivalence,
    limit: usize,
) -> Result<Comparison, Explosion> {
    let comparison = decide_equivalence(left, right, equivalence, limit)?;
    confirm(left, right, &comparison);
    Ok(comparison)
}

fn decide_equivalence(
    left: &Lts,
    right: &Lts,
    equivalence: Equivalence,
    limit: usize,
) -> Result<Comparison, Explosion> {
    let of_traces = matches!(equivalence, Equivalence::Trace | Equivalence::WeakTrace);
    let bisimilarity = if of_traces { equivalence.finer() } else { equivalence };
    let both = Both::new(left, right, bisimilarity, limit)?;
    if both.start[0] == both.start[1] {
        return Ok(Comparison::Related);
    }
    let hidden = both.alphabet.tau.filter(|_| equivalence.hides_tau());
    let found = match both.trace_difference(hidden, if of_traces { limit } else { EXPLANATION }) {
        Ok(found) => found,
        Err(explosion) if of_traces => return Err(explosion),
        // There are too many traces to compare. The moments of choice may still show the
        // difference.
        Err(_) => None,
    };
    match found {
        Some((side, found)) => Ok(Comparison::Different(both.explain_trace(side, &found, hidden.is_some()))),
        None if of_traces => Ok(Comparison::Related),
        None => Ok(Comparison::Different(explain_choices(both, equivalence, limit)?)),
    }
}

/// An experiment and a formula for classes that may have the same traces.
fn explain_choices(mut both: Both, equivalence: Equivalence, limit: usize) -> Result<Difference, Explosion> {
    let hidden = both.alphabet.tau.filter(|_| equivalence.hides_tau());
    let (steps, changed) = match (equivalence, hidden) {
        (Equivalence::Weak, Some(tau)) => (Steps::Weak, Some(saturate(&both.classes, tau, limit)?)),
        (_, Some(tau)) if both.has_divergence => {
            // The loop that represents divergence in a quotient is a visible event in an
            // experiment.
            let divergence = both.alphabet.texts.len() as u32;
            both.alphabet.texts.push(DIVERGENCE.to_owned());
            let edges = both.classes.iter().map(|(from, mut edge): (u32, Edge)| {
                if edge.label == tau && edge.target == from {
                    edge.label = divergence;
                }
                (from, edge)
            });
            let changed = Graph::new(both.classes.states(), edges);
            (Steps::Branching { tau, divergence: Some(divergence) }, Some(changed))
        }
        (_, Some(tau)) => (Steps::Branching { tau, divergence: None }, None),
        (_, None) => (Steps::Plain, None),
    };
    let graph = changed.as_ref().unwrap_or(&both.classes);
    let inert = hidden.filter(|_| steps != Steps::Weak);
    let Some(rounds) = Rounds::until_separated(graph, inert, both.start) else {
        return Ok(Difference { reason: Reason::Structure, formula: None });
    };
    let reason = experiment::follow(&rounds, graph, &both.alphabet, both.start, inert);
    let known = Classes { graph, alphabet: &both.alphabet, rounds: &rounds, steps };
    Ok(Difference { reason, formula: distinguish(known, &both) })
}

fn distinguish(known: Classes<'_>, both: &Both) -> Option<Distinction> {
    let [left, right] = both.start;
    let mut bench = Workbench::new(&both.classes, &both.alphabet);
    let root = Distinguisher::new(known).separate(&mut bench, left, right)?;
    // A formula that begins with a negation is easier to read for the other side.
    if let Some(positive) = bench.builder.negated(root) {
        let formula = bench.finish(positive, right, left)?;
        return Some(Distinction { formula, holds_for: Side::Right });
    }
    Some(Distinction { formula: bench.finish(root, left, right)?, holds_for: Side::Left })
}

/// Decides whether the left system is included in the right one. Labels are matched by text.
///
/// # Errors
/// If this needs more than `limit` permits.
///
/// # Panics
/// As [`partition`](crate::partition), for both systems together.
pub fn refines(left: &Lts, right: &Lts, preorder: Preorder, limit: usize) -> Result<Comparison, Explosion> {
    let comparison = decide_preorder(left, right, preorder, limit)?;
    confirm(left, right, &comparison);
    Ok(comparison)
}

fn decide_preorder(
    left: &Lts,
    right: &Lts,
    preorder: Preorder,
    limit: usize,
) -> Result<Comparison, Explosion> {
    // Equivalent states may be merged first. Divergence matters for refusals.
    let finer = match preorder {
        Preorder::WeakTrace => Equivalence::Branching,
        Preorder::WeakFailures => Equivalence::DivergencePreservingBranching,
        _ => Equivalence::Strong,
    };
    let both = Both::new(left, right, finer, limit)?;
    let [left, right] = both.start;
    if left == right {
        return Ok(Comparison::Related);
    }
    if let Preorder::Simulation | Preorder::ReadySimulation = preorder {
        let ready = preorder == Preorder::ReadySimulation;
        let simulation = Simulation::decide(&both.classes, both.start, ready, limit)?;
        if simulation.is_related() {
            return Ok(Comparison::Related);
        }
        let reason = simulation.experiment(&both.alphabet);
        let formula = simulation.formula(&both.alphabet);
        let formula = formula.map(|formula| Distinction { formula, holds_for: Side::Left });
        return Ok(Comparison::Different(Difference { reason, formula }));
    }
    let hidden = both.alphabet.tau.filter(|_| preorder.hides_tau());
    let failures = matches!(preorder, Preorder::Failures | Preorder::WeakFailures);
    let question = Question { hidden, failures, limit, longest: usize::MAX };
    Ok(match find_counterexample(&both.classes, left, right, question)? {
        None => Comparison::Related,
        Some(found) => Comparison::Different(both.explain_trace(Side::Left, &found, hidden.is_some())),
    })
}

/// Evaluates the formula on the original systems, not on their classes.
fn confirm(left: &Lts, right: &Lts, comparison: &Comparison) {
    let Comparison::Different(Difference { formula: Some(Distinction { formula, holds_for }), .. }) =
        comparison
    else {
        return;
    };
    let alphabet = Alphabet::of(&[left, right]);
    let graph = Graph::union(left, right, &alphabet);
    let initial = [left.initial, left.states + right.initial];
    let found = Satisfaction::new(&graph, &alphabet).judge(formula, initial);
    let expected = [Side::Left, Side::Right].map(|side| side == *holds_for);
    assert_eq!(found, expected, "the formula does not tell the systems apart: {formula}");
}
