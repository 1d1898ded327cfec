//! Formulas of the modal mu-calculus, in negation normal form, as a graph.
//!
//! A front-end parses its requirement language into a [`Property`]: the graph of the formula, and a
//! [`Judge`] that decides everything about data. Solvers treat values as opaque words.
//!
//! A node of the graph stands for a set of pairs (state, values). The values are stored in *slots*,
//! one for each variable of the formula. Regular formulas are not part of the graph: they are
//! unfolded into fixed points first.

use std::ops::Range;

use crate::label::LabelId;
use crate::system::{Explorer, StepError};

/// An index into [`Formula::nodes`].
pub type NodeId = u32;

/// A formula without negations.
#[derive(Clone, Debug)]
pub struct Formula {
    /// All nodes. The parts of a node precede it, except for calls.
    pub nodes: Vec<Node>,
    /// The fixed points. Inner ones precede those around them.
    pub points: Vec<FixedPoint>,
    /// The slots that each quantifier binds.
    pub quantifiers: Vec<Box<[u32]>>,
    /// The formula for the initial state. All slots are empty there.
    pub root: NodeId,
    /// The number of slots.
    pub slots: usize,
    /// The slots that the meaning of a node depends on, ascending.
    pub live: Vec<Box<[u32]>>,
}

/// A node of a formula. The numbers of conditions, actions, quantifiers and calls have a meaning
/// only for the [`Judge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// `true` or `false`.
    Constant(bool),
    /// A condition on data has this truth value.
    Condition {
        /// The number of the condition.
        condition: u32,
        /// The truth value that it must have.
        expected: bool,
    },
    /// `F && G` if all must hold, else `F || G`.
    Junction {
        /// Whether all parts must hold.
        all: bool,
        /// The parts.
        parts: Box<[NodeId]>,
    },
    /// `forall` if all, else `exists`.
    Quantifier {
        /// Whether it must hold for all values.
        all: bool,
        /// The number of the quantifier.
        quantifier: u32,
        /// The scope of its variables.
        body: NodeId,
    },
    /// `[A]F` if all, else `<A>F`.
    Modality {
        /// Whether it must hold after all matching steps.
        all: bool,
        /// The number of the action formula; [`ANY_ACTION`] matches everything.
        action: u32,
        /// The formula that holds after the step.
        body: NodeId,
    },
    /// A fixed point, entered from outside or called again.
    Call {
        /// The number of the fixed point.
        point: u32,
        /// The number of the list of arguments.
        arguments: u32,
    },
}

/// The action formula `true`.
pub const ANY_ACTION: u32 = u32::MAX;

/// A least or greatest fixed point.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    /// The user's name for it; empty if it comes from a regular formula.
    pub name: String,
    /// Whether it is `mu`.
    pub least: bool,
    /// The slots of its parameters.
    pub parameters: Box<[u32]>,
    /// Its body.
    pub body: NodeId,
    /// Its rank: odd for `mu`, even for `nu`, higher for outer ones. On an infinite path through
    /// fixed points, the highest rank that occurs infinitely often decides.
    pub rank: u32,
}

/// A formula, with a judge for its data.
pub trait Property: Send + Sync {
    /// The formula.
    fn formula(&self) -> &Formula;

    /// A judge for one thread.
    fn judge(&self) -> Box<dyn Judge + '_>;
}

/// Decides everything about the data of a formula.
///
/// `values` has a word for each slot. Words from a judge have the same meaning for all judges of a
/// [`Property`], and equal words are equal values.
pub trait Judge: Send {
    /// Announces labels for later calls of [`Judge::matches`] and [`Judge::candidates`]. Front-ends
    /// that know the labels of their own model need not do anything.
    fn learn(&mut self, labels: &[LabelId], explorer: &mut dyn Explorer) -> Result<(), DataError> {
        let _ = (labels, explorer);
        Ok(())
    }

    /// Whether a condition is true.
    fn truth(&mut self, condition: u32, values: &[u32]) -> Result<bool, DataError>;

    /// Whether an action formula matches a label.
    fn matches(&mut self, action: u32, label: LabelId, values: &[u32]) -> Result<bool, DataError>;

    /// Appends values for the variables of a quantifier, one group after the other without
    /// duplicates: all those for which its body may differ from its value for any other group.
    /// `labels` are those of the steps from the state.
    fn candidates(
        &mut self,
        quantifier: u32,
        labels: &[LabelId],
        values: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), DataError>;

    /// Appends the values of arguments.
    fn arguments(&mut self, arguments: u32, values: &[u32], out: &mut Vec<u32>) -> Result<(), DataError>;

    /// A hash of the meaning of a value.
    fn content_hash(&mut self, value: u32) -> u64;

    /// The text of a value.
    fn text(&mut self, value: u32) -> String;
}

/// An error in deciding the data of a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DataError {
    /// The message for the user.
    pub message: String,
    /// Advice for fixing it.
    pub help: Option<String>,
    /// The position in the text of the formula.
    pub place: Option<Range<usize>>,
}

impl DataError {
    /// An error without a position.
    pub fn new(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), help: None, place: None }
    }
}

impl From<DataError> for StepError {
    fn from(error: DataError) -> StepError {
        StepError::new(error.message)
    }
}
