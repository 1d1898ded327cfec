//! Conditions on clocks: comparisons become atoms, and conditions become the conjunctions that
//! guards and invariants consist of.

use turnpike_model::Diagnostic;

use super::expressions::Operand;
use super::fold::{self, Value};
use super::operators::{has_clocks, not};
use super::types::ANY_INT;
use super::{Checker, Lvalue, Outcome, Purpose};
use crate::network::{Binary, ClockAtom, ClockCell, Constraint, Expression, Place, Rate, Unary};
use crate::query::{Condition, Quantity};
use crate::syntax::uppaal::tree;

/// `left - right + data`, where an absent clock is zero.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    left: Option<ClockCell>,
    right: Option<ClockCell>,
    data: Value,
}

impl Difference {
    /// A clock.
    pub(crate) fn of(clock: &Lvalue) -> Difference {
        Difference { left: Some(clock.clock()), right: None, data: Value::int(0) }
    }

    /// A number without clocks.
    pub(crate) fn constant(data: Value) -> Difference {
        Difference { left: None, right: None, data }
    }

    /// The clock and the number added to it, if no clock is subtracted.
    pub(crate) fn without_right(self) -> Option<(Option<ClockCell>, Value)> {
        self.right.is_none().then_some((self.left, self.data))
    }

    /// With the opposite sign.
    pub(crate) fn negated(self, place: &Place) -> Difference {
        let data = fold::binary(Binary::Subtract, Value::int(0), self.data, place);
        Difference { left: self.right, right: self.left, data }
    }

    /// The sum, if it has at most one clock of each sign.
    pub(crate) fn plus(self, other: Difference, place: &Place) -> Option<Difference> {
        let only = |a: Option<ClockCell>, b: Option<ClockCell>| match (a, b) {
            (Some(_), Some(_)) => None,
            (one, None) | (None, one) => Some(one),
        };
        Some(Difference {
            left: only(self.left, other.left)?,
            right: only(self.right, other.right)?,
            data: fold::binary(Binary::Add, self.data, other.data, place),
        })
    }
}

/// The quantity that a query measures.
pub(crate) fn quantity(checker: &mut Checker<'_>, expression: &tree::Expression) -> Outcome<Quantity> {
    let operand = checker.operand(expression)?;
    if !has_clocks(&operand) {
        let value = checker.value_of(operand, &expression.span)?;
        return Ok(Quantity::Data(super::expressions::numeric(value, &expression.span)?.expression));
    }
    let Difference { left, right, data } = checker.difference(operand, &expression.span)?;
    Ok(Quantity::Clock { left, right, offset: data.expression })
}

/// The word for invariants in messages.
pub(crate) const INVARIANT: &str = "an invariant";

/// The purpose of a conjunction, which decides what it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The guard of an edge.
    Guard,
    /// The invariant of a location.
    Invariant,
}

impl Checker<'_> {
    /// A condition, with or without clocks.
    pub(crate) fn condition_of(&mut self, operand: Operand, place: &Place) -> Outcome<Condition> {
        match operand {
            Operand::Condition(condition) => Ok(condition),
            other => {
                let value = self.value_of(other, place)?;
                let value = super::expressions::numeric(value, place)?;
                Ok(Condition::Data(value.normalised(place)))
            }
        }
    }

    /// A condition of a query.
    pub(crate) fn condition(&mut self, expression: &tree::Expression) -> Outcome<Condition> {
        let operand = self.operand(expression)?;
        self.condition_of(operand, &expression.span)
    }

    /// A comparison with clocks.
    pub(crate) fn compare_clocks(
        &mut self,
        operator: Binary,
        left: Difference,
        right: Difference,
        place: &Place,
    ) -> Outcome<Condition> {
        let Some(difference) = left.plus(right.negated(place), place) else {
            return Err(Diagnostic::error("only the difference of two clocks can be compared")
                .at(place.clone(), "this has more clocks"));
        };
        let Difference { left, right, data } = difference;
        // left - right + data ~ 0
        let bound = fold::binary(Binary::Subtract, Value::int(0), data.clone(), place);
        if left.is_none() && right.is_none() {
            return Ok(Condition::Data(fold::binary(operator, data, Value::int(0), place).expression));
        }
        let below = |strict| {
            Condition::Clock(ClockAtom {
                when: None,
                left: left.clone(),
                right: right.clone(),
                strict,
                bound: bound.expression.clone(),
                place: place.clone(),
            })
        };
        let above = |strict| {
            Condition::Clock(ClockAtom {
                when: None,
                left: right.clone(),
                right: left.clone(),
                strict,
                bound: data.expression.clone(),
                place: place.clone(),
            })
        };
        Ok(match operator {
            Binary::Less => below(true),
            Binary::LessEqual => below(false),
            Binary::Greater => above(true),
            Binary::GreaterEqual => above(false),
            Binary::Equal => Condition::And(vec![below(false), above(false)]),
            _ => {
                if self.purpose != Purpose::Query {
                    return Err(Diagnostic::error(
                        "clocks cannot be compared with != in guards and invariants",
                    )
                    .at(place.clone(), "this is a disjunction: less or greater")
                    .help("use two edges"));
                }
                Condition::Or(vec![below(true), above(true)])
            }
        })
    }

    /// A guard or an invariant as a conjunction; `None` if it never holds.
    pub(crate) fn constraint(
        &mut self,
        expression: &tree::Expression,
        role: Role,
    ) -> Outcome<Option<Constraint>> {
        self.expanded = 0;
        let word = if role == Role::Guard { "a guard" } else { INVARIANT };
        let condition = self.with_purpose(Purpose::Pure(word), |this| this.condition(expression))?;
        let mut constraint = Constraint::default();
        self.rates.clear();
        conjunct(condition, None, role, &expression.span, (&mut constraint, &mut self.rates))?;
        if constraint.data.contains(&Expression::Constant(0)) {
            return Ok(None);
        }
        Ok(Some(constraint))
    }
}

/// Adds a condition to a conjunction, guarded by `when`.
fn conjunct(
    condition: Condition,
    when: Option<&Value>,
    role: Role,
    place: &Place,
    (constraint, rates): (&mut Constraint, &mut Vec<Rate>),
) -> Outcome<()> {
    match condition {
        Condition::Rate(mut rate) => {
            rate.when = when.map(|when| when.expression.clone());
            rates.push(rate);
        }
        Condition::Data(expression) => {
            let mut rest = vec![expression];
            while let Some(expression) = rest.pop() {
                match expression {
                    Expression::Binary(Binary::And, left, right, _) => {
                        rest.push(*right);
                        rest.push(*left);
                    }
                    Expression::Constant(value) if value != 0 => {}
                    expression => constraint.data.push(match when {
                        None => expression,
                        Some(when) => {
                            let never = fold::unary(Unary::Not, when.clone());
                            fold::binary(Binary::Or, never, Value::truth(expression), place).expression
                        }
                    }),
                }
            }
        }
        Condition::Clock(mut atom) => {
            if atom.left.is_none() && is_trivial(&atom) {
                return Ok(());
            }
            if role == Role::Invariant && atom.left.is_none() {
                return Err(Diagnostic::error("an invariant cannot be a lower bound on a clock")
                    .at(atom.place, "time cannot have passed on entry")
                    .help("put lower bounds into the guards of the edges that lead here"));
            }
            atom.when = when.map(|when| when.expression.clone());
            constraint.clocks.push(atom);
        }
        Condition::And(parts) => {
            for part in parts {
                conjunct(part, when, role, place, (constraint, rates))?;
            }
        }
        Condition::Or(parts) => return disjuncts(parts, when, role, place, (constraint, rates)),
        Condition::Not(inner) => {
            let pushed = match *inner {
                Condition::Data(expression) => not(Condition::Data(expression)),
                Condition::Clock(atom) => Condition::Clock(opposite(atom)),
                Condition::Not(inner) => *inner,
                Condition::And(parts) => Condition::Or(parts.into_iter().map(not).collect()),
                Condition::Or(parts) => Condition::And(parts.into_iter().map(not).collect()),
                Condition::Deadlock => Condition::Deadlock,
                Condition::Rate(rate) => return Err(denied_rate(&rate.place)),
            };
            // Terminates: only conjunctions under the negation become lists that can contain
            // negations again, so the height shrinks each time.
            return conjunct(flattened(pushed), when, role, place, (constraint, rates));
        }
        Condition::Deadlock => {
            return Err(Diagnostic::error("`deadlock` can only be used in queries").at(place.clone(), ""));
        }
    }
    Ok(())
}

/// Adds a disjunction in which at most one part contains clocks: that part applies only if no other
/// part holds.
fn disjuncts(
    parts: Vec<Condition>,
    when: Option<&Value>,
    role: Role,
    place: &Place,
    (constraint, rates): (&mut Constraint, &mut Vec<Rate>),
) -> Outcome<()> {
    let mut data: Option<Value> = None;
    let mut clocks = Vec::new();
    for part in parts {
        match part {
            Condition::Data(expression) => {
                let value = Value::truth(expression);
                data = Some(match data {
                    None => value,
                    Some(before) => fold::binary(Binary::Or, before, value, place),
                });
            }
            other => clocks.push(other),
        }
    }
    if clocks.len() > 1 {
        let word = if role == Role::Guard { "a guard" } else { "an invariant" };
        let help = if role == Role::Guard { "use two edges" } else { "use two locations" };
        return Err(Diagnostic::error(format!("{word} cannot be a disjunction over clocks"))
            .at(place.clone(), "only integer conditions may be alternatives")
            .help(help));
    }
    let needed = data.map(|data| fold::unary(Unary::Not, data));
    let when = match (when, needed) {
        (Some(when), Some(needed)) => Some(fold::binary(Binary::And, when.clone(), needed, place)),
        (when, needed) => needed.or(when.cloned()),
    };
    clocks.into_iter().try_for_each(|part| conjunct(part, when.as_ref(), role, place, (constraint, rates)))
}

fn denied_rate(place: &Place) -> Diagnostic {
    Diagnostic::error("the rate of a clock cannot be negated")
        .at(place.clone(), "this leaves the rate undetermined")
        .help("write `x' == 0` or `x' == 1`")
}

/// Flattens nested alternatives into one list.
fn flattened(condition: Condition) -> Condition {
    match condition {
        Condition::Or(parts) => {
            let mut list = Vec::new();
            for part in parts {
                match pushed_in(part) {
                    Condition::Or(inner) => list.extend(inner),
                    other => list.push(other),
                }
            }
            Condition::Or(list)
        }
        other => other,
    }
}

/// Moves a negation inwards by one step.
fn pushed_in(condition: Condition) -> Condition {
    match condition {
        Condition::Not(inner) => match *inner {
            Condition::Data(expression) => not(Condition::Data(expression)),
            Condition::Clock(atom) => Condition::Clock(opposite(atom)),
            Condition::Not(inner) => *inner,
            Condition::And(parts) => flattened(Condition::Or(parts.into_iter().map(not).collect())),
            Condition::Or(parts) => Condition::And(parts.into_iter().map(not).collect()),
            other @ (Condition::Deadlock | Condition::Rate(_)) => Condition::Not(Box::new(other)),
        },
        other => other,
    }
}

/// `!(a - b < c)` is `b - a <= -c`.
fn opposite(atom: ClockAtom) -> ClockAtom {
    let bound = Value { ty: ANY_INT, expression: atom.bound };
    let bound = fold::binary(Binary::Subtract, Value::int(0), bound, &atom.place).expression;
    ClockAtom {
        when: atom.when,
        left: atom.right,
        right: atom.left,
        strict: !atom.strict,
        bound,
        place: atom.place,
    }
}

/// `x >= 0` always holds.
fn is_trivial(atom: &ClockAtom) -> bool {
    matches!(atom.bound, Expression::Constant(bound) if bound > 0 || (bound == 0 && !atom.strict))
}
