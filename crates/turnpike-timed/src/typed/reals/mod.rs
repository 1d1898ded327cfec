//! Numbers that are not tracked: `double`, hybrid clocks and the cost of priced automata.
//!
//! They are accepted where nothing depends on them. A real variable has no cells, so it cannot
//! influence a state; its assignments are kept only for their other effects. Any use that would
//! turn a real number into an integer, a truth value or a bound on a clock is rejected, unless its
//! value is a constant.

mod fractions;
mod functions;
mod harmless;
mod ignored;
mod rates;

pub(crate) use fractions::{Fractions, Use, are_finer};
pub(crate) use ignored::in_sequence;
use turnpike_model::Diagnostic;

use super::expressions::Operand;
use super::fold::Value;
use super::types::{Real, Type};
use super::{Checker, Lvalue, Outcome};
use crate::network::{Binary, Place};

/// The common part of this module's error messages.
const WHERE: &str = "only supported where nothing depends on";

/// The error for a real value that something depends on.
pub(crate) fn decides(kind: Real, place: &Place) -> Diagnostic {
    let (message, note) = match kind {
        Real::Double => (format!("`double` is {WHERE} it"), "this is a `double`"),
        Real::Hybrid => (format!("hybrid clocks are {WHERE} them"), "this is a hybrid clock"),
        Real::Cost => (format!("`cost` is {WHERE} it"), "this is the cost"),
    };
    Diagnostic::unsupported(message).at(place.clone(), note).help(
        "such values are not computed: they can be assigned, be rates and weights, and be compared when they are constants",
    )
}

/// Whether an error is about a real value that something depends on: no other construct is parsed
/// but unsupported.
pub(crate) fn is_about_reals(error: &Diagnostic) -> bool {
    error.unsupported
}

/// The kind of real value of an operand, and its value if constant.
pub(crate) fn real(operand: &Operand) -> Option<(Real, Option<f64>)> {
    match operand {
        Operand::Real { known, .. } => Some((Real::Double, *known)),
        Operand::Lvalue(Lvalue { ty: Type::Real(kind), .. })
        | Operand::Result(_, Lvalue { ty: Type::Real(kind), .. }) => Some((*kind, None)),
        _ => None,
    }
}

/// A constant number, real or not.
pub(crate) fn known(operand: &Operand) -> Option<f64> {
    match operand {
        Operand::Value(value) => value.known().map(f64::from),
        Operand::Lvalue(Lvalue { ty: Type::Int { .. } | Type::Bool, memory, base, offset: None, .. }) => {
            match memory {
                super::Memory::Constant(values) => values.get(*base as usize).copied().map(f64::from),
                _ => None,
            }
        }
        other => real(other).and_then(|(_, known)| known),
    }
}

/// An integer that is written as a real number.
pub(crate) fn whole(known: Option<f64>) -> Option<i32> {
    known
        .filter(|value| value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(value))
        .map(|value| value as i32)
}

impl Checker<'_> {
    /// An operator with a real operand, if there is one.
    pub(crate) fn real_binary(
        &mut self,
        operator: Binary,
        (left, left_place): (&Operand, &Place),
        (right, right_place): (&Operand, &Place),
    ) -> Outcome<Option<Operand>> {
        let Some((kind, place)) = real(left)
            .map(|(kind, _)| (kind, left_place))
            .or_else(|| real(right).map(|(kind, _)| (kind, right_place)))
        else {
            return Ok(None);
        };
        let both = known(left).zip(known(right));
        if operator.is_truth() {
            let Some((left, right)) = both else { return Err(decides(kind, place)) };
            let holds = match operator {
                Binary::Less => left < right,
                Binary::LessEqual => left <= right,
                Binary::Equal => left == right,
                Binary::NotEqual => left != right,
                Binary::GreaterEqual => left >= right,
                Binary::Greater => left > right,
                _ => return Err(decides(kind, place)),
            };
            return Ok(Some(Operand::Value(Value::bool(holds))));
        }
        let value = both.and_then(|(left, right)| {
            Some(match operator {
                Binary::Add => left + right,
                Binary::Subtract => left - right,
                Binary::Multiply => left * right,
                Binary::Divide => left / right,
                Binary::Minimum => left.min(right),
                Binary::Maximum => left.max(right),
                _ => return None,
            })
        });
        Ok(Some(Operand::Real { known: value.filter(|value| value.is_finite()), effect: None }))
    }

    pub(crate) fn warn_about_cost(&mut self, place: &Place) {
        self.warn_once(
            Diagnostic::warning("costs are ignored")
                .at(place.clone(), "a cost")
                .help("reachability does not depend on them; the cheapest path is not computed"),
        );
    }

    /// Reports a warning only once, wherever it occurs.
    pub(crate) fn warn_once(&mut self, warning: Diagnostic) {
        if !self.warnings.iter().any(|known| known.message == warning.message) {
            self.warnings.push(warning);
        }
    }

    /// Warns that variables are accepted but not tracked.
    pub(crate) fn warn_about(&mut self, kind: Real, place: &Place) {
        let (what, note) = match kind {
            Real::Double => ("`double` values are ignored", "not computed"),
            Real::Hybrid => ("hybrid clocks are ignored", "does not run"),
            Real::Cost => return self.warn_about_cost(place),
        };
        self.warn_once(
            Diagnostic::warning(what)
                .at(place.clone(), note)
                .help("reachability does not depend on them; models in which it would are rejected"),
        );
    }
}
