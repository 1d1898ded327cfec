//! Are two systems equivalent, and if not, how can one see it?

use std::fmt;

use crate::Lts;

use crate::reduction::equivalence::{Equivalence, refine};
use crate::reduction::graph::{Alphabet, Graph};
use crate::reduction::{DIVERGENCE, experiment, quotient, traces};

/// One of the two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first argument of [`compare`].
    Left,
    /// The second argument.
    Right,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Left => "left",
            Side::Right => "right",
        })
    }
}

/// What [`compare`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The initial states are equivalent.
    Equal,
    /// They are not, for this reason.
    Different(Difference),
}

impl Comparison {
    /// Whether the systems are equivalent.
    pub fn is_equal(&self) -> bool {
        *self == Comparison::Equal
    }
}

/// One exchange of an experiment: a side moves, the other answers with the same label as well as it
/// can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Who moves.
    pub side: Side,
    /// The label of the move, and of the answer. For the branching equivalences the move and the
    /// answer may each be preceded by inert `tau` steps, and a move `tau` may be answered by doing
    /// nothing.
    pub label: String,
    /// Number of answers that lead to different classes. All of them fail; the experiment follows
    /// the one that survives longest.
    pub answers: usize,
}

/// Why two systems are not equivalent. [`Display`](fmt::Display) tells it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Both can do `trace`, but only one of them can do `label` after it: a shortest such trace.
    /// For the branching equivalences, traces leave out `tau`.
    Trace {
        /// Labels both systems can do one after another.
        trace: Vec<String>,
        /// The label after the trace.
        label: String,
        /// Who can do the label.
        offered_by: Side,
    },
    /// The traces do not tell them apart (or are too many to compare); the moments of choice do.
    /// After these moves, one side can do `label` and the other cannot.
    Experiment {
        /// The moves and answers, from the initial states.
        moves: Vec<Move>,
        /// The label that decides; [`DIVERGENCE`] for an endless run of inert steps.
        label: String,
        /// Who can do the label.
        offered_by: Side,
    },
    /// They differ in the moments of choice, and an experiment that shows it is too large to
    /// compute.
    Structure,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Trace { trace, label, offered_by } => {
                match trace.as_slice() {
                    [] => f.write_str("at the start")?,
                    [one] => write!(f, "after `{one}`, which both can do")?,
                    many => write!(f, "after `{}`, which both can do", many.join("`, `"))?,
                }
                write!(f, ", {offered_by} can do `{label}` and {} cannot", offered_by.other())
            }
            Difference::Experiment { moves, label, offered_by } => {
                f.write_str("the systems choose at different moments: ")?;
                for Move { side, label, answers } in moves {
                    write!(f, "{side} does `{label}`, {} has ", side.other())?;
                    match answers {
                        1 => f.write_str("one answer; ")?,
                        n => write!(f, "{n} answers, take the best; ")?,
                    }
                }
                let then = if moves.is_empty() { "" } else { "then " };
                write!(f, "{then}{offered_by} can do `{label}` and {} cannot", offered_by.other())
            }
            Difference::Structure => f.write_str(
                "the systems choose at different moments; the difference is too deep to spell out",
            ),
        }
    }
}

/// Compares the initial states of two systems. Labels are matched by text.
///
/// Deciding takes the time of a reduction of both systems together. The explanation works on the
/// smallest equivalent systems and within fixed bounds: first a shortest trace that one side lacks,
/// else a shortest experiment.
///
/// # Panics
/// As [`partition`](crate::partition), for both systems together.
pub fn compare(left: &Lts, right: &Lts, equivalence: Equivalence) -> Comparison {
    let mut alphabet = Alphabet::of(&[left, right]);
    let graph = Graph::union(left, right, &alphabet);
    let refined = refine(&graph, &alphabet, equivalence);
    let class = |state: u32| refined.partition.block_of[state as usize];
    let start = [class(left.initial), class(left.states + right.initial)];
    if start[0] == start[1] {
        return Comparison::Equal;
    }
    let mut classes = quotient::quotient(&graph, &alphabet, equivalence, &refined);
    drop(graph);
    let hidden = alphabet.tau.filter(|_| equivalence != Equivalence::Strong);
    if let Some(difference) = traces::difference(&classes, &alphabet, start, hidden) {
        return Comparison::Different(difference);
    }
    if let Some(tau) = hidden
        && !refined.divergent.is_empty()
    {
        // The loop that keeps divergence in a quotient is a visible event for the experiment.
        let divergence = alphabet.texts.len() as u32;
        alphabet.texts.push(DIVERGENCE.to_owned());
        let edges = classes.iter().map(|(from, mut edge)| {
            if edge.label == tau && edge.target == from {
                edge.label = divergence;
            }
            (from, edge)
        });
        classes = Graph::new(classes.states(), edges);
    }
    let found = experiment::difference(&classes, &alphabet, start, hidden);
    Comparison::Different(found.unwrap_or(Difference::Structure))
}
