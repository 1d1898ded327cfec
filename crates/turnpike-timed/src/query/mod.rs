//! What is asked about a network: conditions on states, and queries over them. One syntax,
//! UPPAAL's, for every input language.

mod asked;
mod names;

pub use self::asked::{Asked, measured};
pub use self::names::Names;
use crate::network::{ClockAtom, ClockCell, Expression, Rate};

/// Places in conditions and queries count bytes from here on: they are not places of the model.
pub(crate) const QUESTIONS: usize = 1 << 40;

/// A condition on a state with its clocks: any boolean combination.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Integers and locations only.
    Data(Expression),
    /// A bound on clocks.
    Clock(ClockAtom),
    /// Not.
    Not(Box<Condition>),
    /// All of them.
    And(Vec<Condition>),
    /// Some of them.
    Or(Vec<Condition>),
    /// No transition is possible, now or after any delay.
    Deadlock,
    /// `x' == e`: how fast a clock runs. Only in invariants, which say it of their location; it
    /// says nothing of a state.
    Rate(Rate),
}

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The form of the formula.
    pub kind: QueryKind,
    /// As written.
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
    /// `sup{p}: e, f`: how large or small expressions get in reachable states.
    Extremum {
        /// Which is asked for.
        extremum: Extremum,
        /// Only states in which this holds count.
        condition: Option<Condition>,
        /// Of these; never empty.
        quantities: Vec<Quantity>,
    },
}

/// Which extremum is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// `sup`
    Supremum,
    /// `inf`
    Infimum,
    /// `bounds`: both.
    Bounds,
}

/// What can be measured in a state.
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
