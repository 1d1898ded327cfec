//! Formulas of the modal mu-calculus, in negation normal form, as a graph.
//!
//! A front-end reads its language of requirements and makes a [`Property`] of it: the graph of the
//! formula, and a [`Judge`] that decides everything about data. What solves formulas sees values as
//! words and never looks inside.
//!
//! A place in the graph means a set of pairs (state, values). The values stand in *slots*, one for
//! each variable of the formula. Regular formulas are not part of the graph: they are unfolded into
//! fixed points before.

use std::ops::Range;

use crate::label::LabelId;
use crate::system::{Explorer, StepError};

/// An index into [`Formula::nodes`].
pub type NodeId = u32;

/// A formula without negations.
#[derive(Clone, Debug)]
pub struct Formula {
    /// All nodes. The parts of a node come before it, but for calls.
    pub nodes: Vec<Node>,
    /// The fixed points. Those inside come before those around them.
    pub points: Vec<FixedPoint>,
    /// The slots that each quantifier binds.
    pub quantifiers: Vec<Box<[u32]>>,
    /// What must hold in the initial state, for slots that hold nothing.
    pub root: NodeId,
    /// How many slots there are.
    pub slots: usize,
    /// The slots that the meaning of a node depends on, ascending.
    pub live: Vec<Box<[u32]>>,
}

/// A node of a formula. Numbers of conditions, actions, quantifiers and calls mean something to the
/// [`Judge`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// `true` or `false`.
    Constant(bool),
    /// A condition on data has this truth value.
    Condition {
        /// Which condition.
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
        /// Which quantifier.
        quantifier: u32,
        /// What it binds variables in.
        body: NodeId,
    },
    /// `[A]F` if all, else `<A>F`.
    Modality {
        /// Whether it must hold after all matching steps.
        all: bool,
        /// Which action formula; [`ANY_ACTION`] matches everything.
        action: u32,
        /// What holds after the step.
        body: NodeId,
    },
    /// A fixed point, entered from outside or called again.
    Call {
        /// Which fixed point.
        point: u32,
        /// Which list of arguments.
        arguments: u32,
    },
}

/// The action formula `true`.
pub const ANY_ACTION: u32 = u32::MAX;

/// A least or greatest fixed point.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    /// As the user calls it; empty for those that a regular formula became.
    pub name: String,
    /// Whether it is `mu`.
    pub least: bool,
    /// The slots of its parameters.
    pub parameters: Box<[u32]>,
    /// What it stands for.
    pub body: NodeId,
    /// Its rank: odd for `mu`, even for `nu`, higher further out. On an endless path through fixed
    /// points, the highest one that occurs again and again decides.
    pub rank: u32,
}

/// A formula with what decides its data.
pub trait Property: Send + Sync {
    /// The formula.
    fn formula(&self) -> &Formula;

    /// One thread's way to decide data.
    fn judge(&self) -> Box<dyn Judge + '_>;
}

/// Decides everything about the data of a formula.
///
/// `values` has a word for each slot. Words that a judge gave mean the same to all judges of a
/// [`Property`], and equal words are equal values.
pub trait Judge: Send {
    /// Makes labels known that [`Judge::matches`] and [`Judge::candidates`] will be asked about. A
    /// front-end that knows the labels of its own model has nothing to do.
    fn learn(&mut self, labels: &[LabelId], explorer: &mut dyn Explorer) -> Result<(), DataError> {
        let _ = (labels, explorer);
        Ok(())
    }

    /// Whether a condition is true.
    fn truth(&mut self, condition: u32, values: &[u32]) -> Result<bool, DataError>;

    /// Whether an action formula matches a label.
    fn matches(&mut self, action: u32, label: LabelId, values: &[u32]) -> Result<bool, DataError>;

    /// Appends values for the variables of a quantifier, one group after the other, each group once:
    /// all those for which its body may differ from what it is for any other value. `labels` are
    /// those of the steps that the state can take.
    fn candidates(
        &mut self,
        quantifier: u32,
        labels: &[LabelId],
        values: &[u32],
        out: &mut Vec<u32>,
    ) -> Result<(), DataError>;

    /// Appends the values of arguments.
    fn arguments(&mut self, arguments: u32, values: &[u32], out: &mut Vec<u32>) -> Result<(), DataError>;

    /// A hash of what a value means.
    fn content_hash(&mut self, value: u32) -> u64;

    /// A value as text.
    fn text(&mut self, value: u32) -> String;
}

/// The data of a formula cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DataError {
    /// What is wrong, for the user.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
    /// Where in the text of the formula.
    pub place: Option<Range<usize>>,
}

impl DataError {
    /// An error without a place.
    pub fn new(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), help: None, place: None }
    }
}

impl From<DataError> for StepError {
    fn from(error: DataError) -> StepError {
        StepError::new(error.message)
    }
}
