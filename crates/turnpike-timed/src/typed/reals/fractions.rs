//! Fractions that clocks are compared with or set to.
//!
//! Zones contain integers. If a model has clock constants with fractions, the unit of time is
//! divided by their common denominator, and all clock constants count these parts, which is exact.

use std::num::NonZeroU32;

use turnpike_model::Diagnostic;

use crate::network::{Binary, Place};
use crate::syntax::uppaal as syntax;
use crate::syntax::uppaal::tree::{self, ExpressionKind, Formula};
use crate::typed::conditions::Difference;
use crate::typed::fold::{self, Value};
use crate::typed::{Checker, Outcome, Purpose};

/// Limit on the parts of a unit. With more, hardly any constant would be small enough for zones.
const MOST_PARTS: u64 = 1_000_000;

/// Denominators to try: all small ones, and those of decimal fractions.
const SMALL: u32 = 1000;
const DECIMAL: [u32; 3] = [10_000, 100_000, 1_000_000];

/// Limit on numerators.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// Fractions that require the unit of time to be divided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fractions {
    /// Common denominator of those that clocks are compared with, and the place of the first one.
    compared: Option<(u64, Place)>,
    /// The same for those that clocks are set to.
    assigned: Option<(u64, Place)>,
}

/// What a fraction is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Compared,
    Assigned,
}

impl Fractions {
    fn need(&mut self, purpose: Use, below: u32, place: &Place) {
        if below == 1 {
            return;
        }
        let before = match purpose {
            Use::Compared => &mut self.compared,
            Use::Assigned => &mut self.assigned,
        };
        let (so_far, place) = before.take().unwrap_or_else(|| (1, place.clone()));
        *before = Some((common_multiple(so_far, u64::from(below)), place));
    }
}

/// Numerator and denominator of a real number. A number that differs from a fraction by at most a
/// rounding error is taken as that fraction: `1.0 / 3` is a third.
fn fraction(value: f64) -> Option<(i64, u32)> {
    (1..=SMALL).chain(DECIMAL).find_map(|below| {
        let scaled = value * f64::from(below);
        let near = (scaled - scaled.round()).abs() <= scaled.abs() * 4.0 * f64::EPSILON;
        // Larger numbers are too far apart to identify fractions.
        (near && scaled.abs() < LARGEST).then(|| (scaled.round() as i64, below))
    })
}

impl Checker<'_> {
    /// A constant real number that clocks are compared with or set to, in parts of a unit.
    pub(crate) fn exact_number(&mut self, value: f64, purpose: Use, place: &Place) -> Outcome<Difference> {
        let Some((above, below)) = fraction(value) else {
            return Err(Diagnostic::error(format!("clocks cannot be compared with or set to {value}"))
                .at(place.clone(), "not a fraction with a small denominator")
                .help(format!("decimal fractions have up to 6 digits, others a denominator up to {SMALL}")));
        };
        let parts = self.state.parts.map_or(1, NonZeroU32::get);
        if !parts.is_multiple_of(below) {
            if self.purpose == Purpose::Query {
                let known = match parts {
                    1 => "no clock constant of the model has a fraction".to_owned(),
                    parts => format!("the clock constants of the model are multiples of 1/{parts}"),
                };
                return Err(Diagnostic::error(format!("this query is finer than the model: {known}"))
                    .at(place.clone(), format!("a multiple of 1/{below}"))
                    .help(
                        "write the query into the model file, or use such a fraction in a guard of the model",
                    ));
            }
            self.missing.need(purpose, below, place);
        }
        let scaled = above * i64::from(parts) / i64::from(below);
        match i32::try_from(scaled) {
            Ok(scaled) => Ok(Difference::constant(Value::int(scaled))),
            Err(_) => Err(Diagnostic::error(format!("{value} is too large"))
                .at(place.clone(), format!("time is counted in multiples of 1/{parts}"))),
        }
    }

    /// An integer that clocks are compared with or set to, in parts of a unit.
    pub(crate) fn in_parts(&self, value: Value, place: &Place) -> Value {
        match self.state.parts {
            // The limit on parts fits into an integer.
            Some(parts) => fold::binary(Binary::Multiply, value, Value::int(parts.get() as i32), place),
            None => value,
        }
    }

    /// Divides the unit for the fractions in the model's own queries.
    pub(crate) fn divide_for_queries(&mut self) {
        let model = self.tree;
        for formula in model.queries.iter().filter_map(|query| syntax::parse_query(&query.text).ok()) {
            for expression in expressions(&formula) {
                numbers(expression, &mut |value, place| {
                    let so_far = self.missing.compared.as_ref().map_or(1, |(parts, _)| *parts);
                    if let Some((_, below)) = fraction(value)
                        && common_multiple(so_far, u64::from(below)) <= MOST_PARTS
                    {
                        self.missing.need(Use::Compared, below, place);
                    }
                });
            }
        }
    }

    /// The number of parts that the unit must be divided into instead, if the current ones do not
    /// suffice. Clocks that nothing depends on may be set to any number.
    pub(crate) fn finer_parts(&mut self) -> Option<NonZeroU32> {
        let refused = std::mem::take(&mut self.errors);
        let assigned = self.missing.assigned.as_ref().filter(|_| !refused.is_empty());
        let (parts, place) = match (&self.missing.compared, assigned) {
            (None, None) => {
                self.errors = refused;
                return None;
            }
            (Some((parts, place)), None) | (None, Some((parts, place))) => (*parts, place),
            (Some((one, place)), Some((other, _))) => (common_multiple(*one, *other), place),
        };
        // Clocks that are set to fractions are tracked if other fractions are.
        let also = self.missing.assigned.as_ref().map_or(1, |(parts, _)| *parts);
        let all = common_multiple(parts, also);
        let found = u32::try_from(all).ok().filter(|_| all <= MOST_PARTS).and_then(NonZeroU32::new);
        if found.is_none() {
            let error = Diagnostic::error("the fractions that clocks are compared with differ too much")
                .at(place.clone(), "one of them")
                .help(format!("their common denominator must be at most {MOST_PARTS}"));
            self.note(error);
        }
        found
    }
}

/// Whether conditions or queries contain fractions that the current parts do not express, but a
/// finer division can.
pub(crate) fn are_finer(parts: Option<NonZeroU32>, questions: &[&str]) -> bool {
    let before = u64::from(parts.map_or(1, NonZeroU32::get));
    let mut all = before;
    let mut need = |value: f64, _: &Place| {
        if let Some((_, below)) = fraction(value) {
            all = common_multiple(all, u64::from(below));
        }
    };
    for text in questions {
        match (syntax::parse_query(text), syntax::parse_condition(text)) {
            (Ok(formula), _) => expressions(&formula).into_iter().for_each(|one| numbers(one, &mut need)),
            (_, Ok(condition)) => numbers(&condition, &mut need),
            // Errors in it are reported when it is evaluated.
            _ => {}
        }
    }
    all != before && all <= MOST_PARTS
}

/// The expressions of a query.
fn expressions(formula: &Formula) -> Vec<&tree::Expression> {
    match formula {
        Formula::Possibly(one)
        | Formula::Invariantly(one)
        | Formula::PotentiallyAlways(one)
        | Formula::Eventually(one) => vec![one],
        Formula::LeadsTo(one, other) => vec![one, other],
        Formula::Extremum { condition, .. } => condition.iter().collect(),
    }
}

/// Visits the real literals of an expression.
fn numbers(expression: &tree::Expression, visit: &mut impl FnMut(f64, &Place)) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match &expression.kind {
        ExpressionKind::Real(value) => visit(*value, &expression.span),
        ExpressionKind::Integer(_)
        | ExpressionKind::Bool(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Deadlock => {}
        ExpressionKind::Index(left, right)
        | ExpressionKind::Binary(_, left, right)
        | ExpressionKind::Assign(_, left, right) => {
            numbers(left, visit);
            numbers(right, visit);
        }
        ExpressionKind::Field(inner, _)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Step(_, inner)
        | ExpressionKind::Quantified(_, _, _, inner)
        | ExpressionKind::Rate(inner) => numbers(inner, visit),
        ExpressionKind::Call(callee, arguments) => {
            numbers(callee, visit);
            arguments.iter().for_each(|argument| numbers(argument, visit));
        }
        ExpressionKind::Conditional(test, yes, no) => {
            [test, yes, no].into_iter().for_each(|part| numbers(part, visit));
        }
    })
}

/// The least common multiple, or a number that is far too large.
fn common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one / a.max(1)).saturating_mul(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_fractions_they_were_written_as() {
        let cases = [
            (2.5, Some((5, 2))),
            (0.1, Some((1, 10))),
            (0.1 + 0.2, Some((3, 10))),
            (1.0 / 3.0, Some((1, 3))),
            (-0.75, Some((-3, 4))),
            (7.0, Some((7, 1))),
            (0.001, Some((1, 1000))),
            (0.000_001, Some((1, 1_000_000))),
            (2.7194, Some((13597, 5000))),
            (2.0_f64.sqrt(), None),
            (1e-9, None),
            (1e13, None),
        ];
        for (value, expected) in cases {
            // Other denominators are found, too: 13597/5000 is found with 10000 parts.
            let found = fraction(value);
            let reduced = found.map(|(above, below)| {
                let common = u64::from(below) * above.unsigned_abs().max(1)
                    / common_multiple(u64::from(below), above.unsigned_abs().max(1));
                (above / common as i64, below / common as u32)
            });
            assert_eq!(reduced, expected, "{value}");
        }
    }

    #[test]
    fn common_multiples() {
        assert_eq!(common_multiple(4, 6), 12);
        assert_eq!(common_multiple(1, 10), 10);
        assert_eq!(common_multiple(u64::MAX, 2), u64::MAX);
    }
}
