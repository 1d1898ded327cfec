//! The steps of a plan.

use std::sync::Arc;

use crate::compile::evaluator::Code;
use crate::typed::{ExpressionId, SymbolId, VariableId};
use crate::value::Value;

use super::narrow::Narrowing;
use super::pattern::Pattern;

/// A pattern over slots.
pub(super) type SlotPattern = Pattern<Code, u32>;

/// One step: a test, or something that fills slots in several ways one after the other.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Something that must be `holds`.
    Test(Test),
    /// Not all of these may hold: another branch covers that case.
    Unless(Box<[(Code, bool)]>),
    /// A number that must not be 0; it and all factors before it multiplied go into the slot.
    Factor { before: Option<u32>, code: Code, slot: u32, origin: ExpressionId },
    /// The values of the open variables of a pattern.
    Solve { value: Code, pattern: SlotPattern, test: Test },
    /// The `x` for which `factor * x + constant + …` is 0, if it is of the right kind: a pattern of
    /// the form `Sum` for the value 0.
    Root { pattern: SlotPattern, test: Test },
    /// The elements of a list, a set or a bag.
    Member { collection: Code, pattern: SlotPattern, test: Test, otherwise: Option<Box<[Step]>> },
    /// The integers between bounds.
    Interval { slot: u32, lower: Vec<Bound>, upper: Vec<Bound>, least: Option<i64> },
    /// Listed values.
    Values { slot: u32, values: Arc<[Value]> },
    /// A constructor applied to its fields.
    Build { slot: u32, symbol: SymbolId, fields: Box<[u32]> },
    /// Whatever is not ruled out, constructor by constructor.
    Narrow(Arc<Narrowing>),
    /// A test that is needed only when the search before it has not settled it for all its
    /// candidates.
    Unsettled(Arc<Narrowing>, Test),
    /// The values of this variable cannot be enumerated.
    Endless { variable: VariableId, reason: String },
    /// Several plans for the rest. Always last.
    Branches(Vec<Box<[Step]>>),
}

/// A truth value that a solution must have.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) code: Code,
    pub(super) holds: bool,
    /// The part of the caller's condition.
    pub(super) origin: ExpressionId,
    /// The whole of that part and whether it must be true, when this is only one side of it.
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
