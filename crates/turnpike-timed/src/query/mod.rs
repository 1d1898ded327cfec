//! Conditions on states, and queries over them. All input languages use UPPAAL's syntax.

mod names;
mod printed;
mod search;

pub use self::names::Names;
pub use self::search::{Asked, measured};
use crate::network::{ClockAtom, ClockCell, Expression, Rate};

/// Offset of places in conditions and queries, so that they differ from places in the model.
pub(crate) const QUESTIONS: usize = 1 << 40;

/// A condition on a state with its clocks: any boolean combination.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Integers and locations only.
    Data(Expression),
    /// A bound on clocks.
    Clock(ClockAtom),
    /// The condition does not hold.
    Not(Box<Condition>),
    /// All conditions hold.
    And(Vec<Condition>),
    /// Some condition holds.
    Or(Vec<Condition>),
    /// No transition is possible, now or after any delay.
    Deadlock,
    /// `x' == e`: the rate of a clock. Only in invariants, where it concerns the location; it does
    /// not restrict states.
    Rate(Rate),
}

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The form of the formula.
    pub kind: QueryKind,
    /// The text as written.
    pub text: String,
}

/// The forms of formulas.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum QueryKind {
    /// `E<> p`: some reachable state.
    Possibly(Condition),
    /// `A[] p`: all reachable states.
    Invariantly(Condition),
    /// `E[] p`: some path stays in `p`.
    PotentiallyAlways(Condition),
    /// `A<> p`: every path meets `p`.
    Eventually(Condition),
    /// `p --> q`: after `p`, every path meets `q`.
    LeadsTo(Condition, Condition),
    /// `sup{p}: e, f`: extreme values of expressions in reachable states.
    Extremum {
        /// Which extremum.
        extremum: Extremum,
        /// Only states that meet this are measured.
        condition: Option<Condition>,
        /// What is measured; never empty.
        quantities: Vec<Quantity>,
    },
}

/// A requested extremum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// `sup`
    Supremum,
    /// `inf`
    Infimum,
    /// `bounds`: both.
    Bounds,
}

/// A quantity that can be measured in a state.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// An integer.
    Data(Expression),
    /// `left - right + offset`, where an absent clock is the constant zero; never both absent.
    Clock {
        /// Minuend.
        left: Option<ClockCell>,
        /// Subtrahend.
        right: Option<ClockCell>,
        /// An integer expression.
        offset: Expression,
    },
}
