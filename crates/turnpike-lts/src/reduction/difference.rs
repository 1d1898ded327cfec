//! The results of comparisons, as values and as text.

use std::fmt;

use crate::reduction::formula::Formula;

/// One of the two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first argument of [`compare`](crate::compare).
    Left,
    /// The second argument.
    Right,
}

impl Side {
    /// The other side.
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

/// The result of [`compare`](crate::compare) or [`refines`](crate::refines).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The initial states are related.
    Related,
    /// They are not related, for this reason.
    Different(Difference),
}

impl Comparison {
    /// Whether the systems are related.
    pub fn is_related(&self) -> bool {
        *self == Comparison::Related
    }
}

/// An exchange in an experiment: a side moves, and the other one gives the best possible answer
/// with the same label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The side that moves.
    pub side: Side,
    /// The label of the move, and of the answer. For the branching equivalences the move and the
    /// answer may each follow inert `tau` steps, and a move `tau` may be answered by not moving.
    /// For weak bisimilarity both may have `tau` steps before and after them.
    pub label: String,
    /// The number of answers that lead to different classes. All of them fail. The experiment
    /// follows the one that survives longest.
    pub answers: usize,
}

/// Why two systems are not related. [`Display`](fmt::Display) explains it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// A trace, a refusal or an experiment.
    pub reason: Reason,
    /// A formula that holds for only one of the systems; `None` if it is too large.
    pub formula: Option<Distinction>,
}

/// A formula that distinguishes two systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinction {
    /// The formula.
    pub formula: Formula,
    /// The system for which it holds.
    pub holds_for: Side,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

/// The observable reason why two systems are not related.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Both can do `trace`, but only one of them can do `label` after it. No shorter trace shows a
    /// difference. For relations that hide `tau`, traces omit it.
    Trace {
        /// Labels that both systems can do one after another.
        trace: Vec<String>,
        /// The label after the trace.
        label: String,
        /// The side that can do the label.
        offered_by: Side,
    },
    /// Both can do `trace`, but only the left can then be in a state that refuses all of `labels`.
    Refusal {
        /// Labels that both systems can do one after another.
        trace: Vec<String>,
        /// The labels that the left can refuse. Empty if the right never stabilises and so refuses
        /// nothing.
        labels: Vec<String>,
    },
    /// The traces are equal (or too many to compare), but the moments of choice differ. After these
    /// moves, one side can do `label` and the other cannot.
    Experiment {
        /// The moves and answers, from the initial states.
        moves: Vec<Move>,
        /// The deciding label; [`DIVERGENCE`](crate::DIVERGENCE) for an endless run of inert steps.
        label: String,
        /// The side that can do the label.
        offered_by: Side,
    },
    /// The moments of choice differ, but an experiment that shows it is too large to compute.
    Structure,
}

/// Writes "after `a`, `b`, which both can do" or "at the start".
fn write_trace(f: &mut fmt::Formatter<'_>, trace: &[String]) -> fmt::Result {
    match trace {
        [] => f.write_str("at the start"),
        [one] => write!(f, "after `{one}`, which both can do"),
        many => write!(f, "after `{}`, which both can do", many.join("`, `")),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Trace { trace, label, offered_by } => {
                write_trace(f, trace)?;
                write!(f, ", {offered_by} can do `{label}` and {} cannot", offered_by.other())
            }
            Reason::Refusal { trace, labels } => {
                write_trace(f, trace)?;
                match labels.as_slice() {
                    [] => f.write_str(", left can come to rest and right cannot"),
                    [one] => write!(f, ", left can refuse `{one}` and right cannot"),
                    many => {
                        let all = many.join("`, `");
                        write!(f, ", left can refuse all of `{all}` and right cannot")
                    }
                }
            }
            Reason::Experiment { moves, label, offered_by } => {
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
            Reason::Structure => f.write_str(
                "the systems choose at different moments; the difference is too deep to spell out",
            ),
        }
    }
}
