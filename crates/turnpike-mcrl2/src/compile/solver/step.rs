//! The steps of a plan.

use std::sync::Arc;

use crate::compile::evaluator::Code;
use crate::typed::{ExpressionId, SymbolId, VariableId};
use crate::value::Value;

use super::narrow::Narrowing;
use super::pattern::Pattern;

/// A pattern over slots.
pub(super) type SlotPattern = Pattern<Code, u32>;

/// One step: a test, or a generator that fills slots in several ways, one after the other.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A truth value that must be `holds`.
    Test(Test),
    /// Excludes the case that all of these hold, which another branch covers.
    Unless(Box<[(Code, bool)]>),
    /// A number that must not be 0. Its product with the earlier factors goes into the slot.
    Factor { before: Option<u32>, code: Code, slot: u32, origin: ExpressionId },
    /// Solves a pattern for its open variables.
    Solve { value: Code, pattern: SlotPattern, test: Test },
    /// Solves `factor * x + constant + … == 0`. The pattern is a `Sum`, matched with 0.
    Root { pattern: SlotPattern, test: Test },
    /// The elements of a list, a set or a bag.
    Member { collection: Code, pattern: SlotPattern, test: Test, otherwise: Option<Box<[Step]>> },
    /// The integers between bounds.
    Interval { slot: u32, lower: Vec<Bound>, upper: Vec<Bound>, least: Option<i64> },
    /// A list of values.
    Values { slot: u32, values: Arc<[Value]> },
    /// A constructor applied to its fields.
    Build { slot: u32, symbol: SymbolId, fields: Box<[u32]> },
    /// Values built constructor by constructor, with impossible ones pruned.
    Narrow(Arc<Narrowing>),
    /// A test that is skipped if the search is known to have settled it for all candidates.
    Unsettled(Arc<Narrowing>, Test),
    /// The values of this variable cannot be enumerated.
    Endless { variable: VariableId, reason: String },
    /// Alternative plans for the rest. Always the last step.
    Branches(Vec<Box<[Step]>>),
}

/// A truth value that a solution must have.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) code: Code,
    pub(super) holds: bool,
    /// The part of the caller's condition.
    pub(super) origin: ExpressionId,
    /// The complete part and the truth value that it must have, if this is only one side of it.
    pub(super) whole: Option<(Code, bool)>,
}

/// `factor * x + constant + … <= 0`, or `<`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) factor: i64,
    pub(super) constant: i64,
    pub(super) known: Vec<(i64, Code)>,
    pub(super) strict: bool,
    pub(super) origin: ExpressionId,
}
