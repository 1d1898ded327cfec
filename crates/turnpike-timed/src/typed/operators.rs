//! Binary operators: arithmetic, comparisons, and the short-circuiting logical ones.

use turnpike_model::Diagnostic;

use super::conditions::{Difference, INVARIANT};
use super::expressions::{Operand, numeric};
use super::fold::{self, Value, balanced};
use super::types::{Class, Type};
use super::{Checker, Lvalue, NOT_A_FIELD, NOT_DECLARED, Outcome, Purpose, reals};
use crate::network::{Binary, Expression, Place, Rate, Unary};
use crate::query::Condition;
use crate::syntax::uppaal::tree;

/// The corresponding operator of the network.
pub(crate) fn operator(operator: tree::Binary) -> Binary {
    match operator {
        tree::Binary::Multiply => Binary::Multiply,
        tree::Binary::Divide => Binary::Divide,
        tree::Binary::Remainder => Binary::Remainder,
        tree::Binary::Add => Binary::Add,
        tree::Binary::Subtract => Binary::Subtract,
        tree::Binary::ShiftLeft => Binary::ShiftLeft,
        tree::Binary::ShiftRight => Binary::ShiftRight,
        tree::Binary::Minimum => Binary::Minimum,
        tree::Binary::Maximum => Binary::Maximum,
        tree::Binary::Less => Binary::Less,
        tree::Binary::LessEqual => Binary::LessEqual,
        tree::Binary::GreaterEqual => Binary::GreaterEqual,
        tree::Binary::Greater => Binary::Greater,
        tree::Binary::Equal => Binary::Equal,
        tree::Binary::NotEqual => Binary::NotEqual,
        tree::Binary::BitAnd => Binary::BitAnd,
        tree::Binary::BitXor => Binary::BitXor,
        tree::Binary::BitOr => Binary::BitOr,
        tree::Binary::And => Binary::And,
        tree::Binary::Or | tree::Binary::Imply => Binary::Or,
    }
}

impl Checker<'_> {
    /// `a + b`
    pub(crate) fn binary(
        &mut self,
        symbol: tree::Binary,
        left: &tree::Expression,
        right: &tree::Expression,
        place: &Place,
    ) -> Outcome<Operand> {
        match symbol {
            tree::Binary::And | tree::Binary::Or | tree::Binary::Imply => {
                return self.logical(symbol, left, right, place);
            }
            tree::Binary::Equal => {
                if let Some(holds) = self.ignored_rate(left, right, place)? {
                    return Ok(holds);
                }
            }
            _ => {}
        }
        let (mut first, mut second) = (self.operand(left)?, self.operand(right)?);
        let operator = operator(symbol);
        if has_clocks(&first) || has_clocks(&second) {
            // An integer may be written as a real number.
            for side in [&mut first, &mut second] {
                if let Some(value) = reals::real(side).and_then(|(_, known)| reals::whole(known)) {
                    *side = Operand::Value(Value::int(value));
                }
            }
            let fraction = [(&first, left), (&second, right)]
                .into_iter()
                .find_map(|(side, text)| reals::real(side).map(|(kind, known)| (kind, known, &text.span)));
            if let Some((kind, known, place)) = fraction {
                if !operator.is_truth() {
                    return Ok(Operand::Real { known: None, effect: None });
                }
                let Some(known) = known else { return Err(reals::decides(kind, place)) };
                let number = Operand::Clocks(self.exact_number(known, reals::Use::Compared, place)?);
                // The other operand contains the clock.
                if reals::real(&first).is_some() { first = number } else { second = number }
            }
        }
        let sides = ((&first, &left.span), (&second, &right.span));
        if let Some(real) = self.real_binary(operator, sides.0, sides.1)? {
            return Ok(real);
        }
        if operator.is_truth() {
            return self.compare(operator, (first, &left.span), (second, &right.span), place);
        }
        if has_clocks(&first) || has_clocks(&second) {
            let first = self.difference(first, &left.span)?;
            let second = self.difference(second, &right.span)?;
            let sum = match operator {
                Binary::Add => first.plus(second, place),
                Binary::Subtract => first.plus(second.negated(place), place),
                _ => None,
            };
            return sum.map(Operand::Clocks).ok_or_else(|| {
                Diagnostic::error("clocks can only be subtracted from each other, and integers added to them")
                    .at(place.clone(), "this is neither of these")
            });
        }
        let first = self.value_of(first, &left.span)?;
        let second = self.value_of(second, &right.span)?;
        let (first, second) = (numeric(first, &left.span)?, numeric(second, &right.span)?);
        Ok(Operand::Value(fold::binary(operator, first, second, place)))
    }

    /// `&&`, `||`, `imply`: if the left operand decides, the right one is not resolved, since it
    /// may be meaningless.
    fn logical(
        &mut self,
        symbol: tree::Binary,
        left: &tree::Expression,
        right: &tree::Expression,
        place: &Place,
    ) -> Outcome<Operand> {
        let first = self.operand(left)?;
        let mut first = self.condition_of(first, &left.span)?;
        if symbol == tree::Binary::Imply {
            first = not(first);
        }
        if let Condition::Data(Expression::Constant(value)) = first {
            let decides = (symbol == tree::Binary::And) == (value == 0);
            if decides {
                self.check_names(right)?;
                return Ok(Operand::Value(Value::bool(value != 0)));
            }
            let second = self.operand(right)?;
            let second = self.condition_of(second, &right.span)?;
            return Ok(operand(second));
        }
        let second = self.operand(right)?;
        let second = self.condition_of(second, &right.span)?;
        Ok(operand(match symbol {
            tree::Binary::And => self.and(first, second, place),
            _ => self.or(first, second, place),
        }))
    }

    /// Refuses names that refer to nothing in a part of a question that does not matter. An index or a
    /// process that does not exist is allowed there: `i <= N imply P(i).done` avoids both.
    pub(crate) fn check_names(&mut self, part: &tree::Expression) -> Outcome<()> {
        if self.purpose != Purpose::Query || !self.checked.insert(part.span.start) {
            return Ok(());
        }
        let (reads, expanded, missing) = (self.reads, self.expanded, self.missing.clone());
        let checked = self.operand(part);
        (self.reads, self.expanded, self.missing) = (reads, expanded, missing);
        let is_name = |note: &str| [NOT_DECLARED, NOT_A_FIELD].contains(&note);
        match checked {
            Err(error) if error.span.as_ref().is_some_and(|span| is_name(&span.note)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Conjunction.
    pub(crate) fn and(&mut self, left: Condition, right: Condition, place: &Place) -> Condition {
        joined(Binary::And, left, right, place)
    }

    /// Disjunction.
    pub(crate) fn or(&mut self, left: Condition, right: Condition, place: &Place) -> Condition {
        joined(Binary::Or, left, right, place)
    }

    fn compare(
        &mut self,
        operator: Binary,
        (left, left_place): (Operand, &Place),
        (right, right_place): (Operand, &Place),
        place: &Place,
    ) -> Outcome<Operand> {
        if matches!(left, Operand::Rate(_)) || matches!(right, Operand::Rate(_)) {
            return self.rate(operator, (left, left_place), (right, right_place), place);
        }
        if has_clocks(&left) || has_clocks(&right) {
            let left = self.difference(left, left_place)?;
            let right = self.difference(right, right_place)?;
            return self.compare_clocks(operator, left, right, place).map(operand);
        }
        if let (Some(first), Some(second)) = (aggregate(&left), aggregate(&right)) {
            return self.compare_cells(operator, &first, &second, place);
        }
        let first = self.value_of(left, left_place)?;
        let second = self.value_of(right, right_place)?;
        match (&first.ty, &second.ty) {
            (Type::Scalar { set: a, .. }, Type::Scalar { set: b, .. })
                if a == b && matches!(operator, Binary::Equal | Binary::NotEqual) => {}
            (Type::Scalar { .. }, _) | (_, Type::Scalar { .. }) => {
                return Err(Diagnostic::error("scalars can only be compared with == and !=, within one set")
                    .at(place.clone(), format!("{} and {}", first.ty.describe(), second.ty.describe())));
            }
            _ => {}
        }
        if self.purpose == Purpose::Query {
            check_truth_value(&first, (&second, right_place))?;
            check_truth_value(&second, (&first, left_place))?;
        }
        Ok(Operand::Value(fold::binary(operator, first, second, place)))
    }

    /// Structs and arrays are equal if all their cells are.
    fn compare_cells(
        &mut self,
        operator: Binary,
        left: &Lvalue,
        right: &Lvalue,
        place: &Place,
    ) -> Outcome<Operand> {
        if !matches!(operator, Binary::Equal | Binary::NotEqual) {
            return Err(Diagnostic::error("structs and arrays can only be compared with == and !=")
                .at(place.clone(), ""));
        }
        if !left.ty.fits(&right.ty) || left.ty.class() != Class::Data {
            return Err(Diagnostic::error("values of different types cannot be compared")
                .at(place.clone(), format!("{} and {}", left.ty.describe(), right.ty.describe())));
        }
        if let Some(kind) = left.ty.real_part() {
            return Err(reals::decides(kind, place));
        }
        let mut parts = Vec::new();
        for (left, right) in left.each().iter().zip(&right.each()) {
            let (left, right) = (self.read(left), self.read(right));
            parts.push(fold::binary(Binary::Equal, left, right, place));
        }
        let all = balanced(parts, &mut |left, right| fold::binary(Binary::And, left, right, place))
            .unwrap_or(Value::bool(true));
        Ok(Operand::Value(if operator == Binary::Equal { all } else { fold::unary(Unary::Not, all) }))
    }

    /// `x' == e` in an invariant: the clock runs or is stopped.
    fn rate(
        &mut self,
        operator: Binary,
        (left, left_place): (Operand, &Place),
        (right, right_place): (Operand, &Place),
        place: &Place,
    ) -> Outcome<Operand> {
        let (clock, value) = match (left, right) {
            (Operand::Rate(_), Operand::Rate(_)) => {
                return Err(Diagnostic::error("two rates cannot be compared")
                    .at(place.clone(), "")
                    .help("write `x' == 0` where the clock stands still"));
            }
            (Operand::Rate(clock), other) => (clock, self.value_of(other, right_place)?),
            (other, Operand::Rate(clock)) => (clock, self.value_of(other, left_place)?),
            _ => return Err(Diagnostic::error("a rate is needed here").at(place.clone(), "")),
        };
        if operator != Binary::Equal {
            return Err(Diagnostic::error("the rate of a clock can only be set with ==")
                .at(place.clone(), "other comparisons leave it undetermined"));
        }
        if self.purpose != Purpose::Pure(INVARIANT) && value.known() == Some(1) {
            // Clocks run by default.
            return Ok(Operand::Value(Value::bool(true)));
        }
        if self.purpose != Purpose::Pure(INVARIANT) {
            return Err(Diagnostic::error("the rate of a clock is set in invariants")
                .at(place.clone(), "this is not one")
                .help("let the process be in a location whose invariant stops the clock"));
        }
        let value = numeric(value, place)?;
        if let Some(rate) = value.known().filter(|rate| !(0..=1).contains(rate)) {
            return Err(Diagnostic::unsupported(format!("clocks with rate {rate} are not supported"))
                .at(place.clone(), "a clock that runs faster or slower than others")
                .help("a clock stands still with rate 0 and runs with rate 1"));
        }
        Ok(Operand::Condition(Condition::Rate(Rate {
            when: None,
            clock: clock.clock(),
            value: value.expression,
            place: place.clone(),
        })))
    }

    /// Any expression with clocks, as a difference.
    pub(crate) fn difference(&mut self, operand: Operand, place: &Place) -> Outcome<Difference> {
        match operand {
            Operand::Clocks(difference) => Ok(difference),
            Operand::Lvalue(lvalue) if lvalue.ty == Type::Clock => {
                if self.purpose == Purpose::Query {
                    self.check_asked_clock(&lvalue.clock(), place)?;
                }
                Ok(Difference::of(&lvalue))
            }
            other => {
                let value = self.value_of(other, place)?;
                let value = numeric(value, place)?;
                Ok(Difference::constant(self.in_parts(value, place)))
            }
        }
    }
}

/// Negation.
pub(crate) fn not(condition: Condition) -> Condition {
    match condition {
        Condition::Data(expression) => {
            Condition::Data(fold::unary(Unary::Not, Value::truth(expression)).expression)
        }
        Condition::Not(inner) => *inner,
        other => Condition::Not(Box::new(other)),
    }
}

fn operand(condition: Condition) -> Operand {
    match condition {
        Condition::Data(expression) => Operand::Value(Value::truth(expression)),
        other => Operand::Condition(other),
    }
}

pub(crate) fn has_clocks(operand: &Operand) -> bool {
    matches!(operand, Operand::Clocks(_) | Operand::Lvalue(Lvalue { ty: Type::Clock, .. }))
}

fn aggregate(operand: &Operand) -> Option<Lvalue> {
    match operand {
        Operand::Lvalue(lvalue) if matches!(lvalue.ty, Type::Array(_) | Type::Struct(_)) => {
            Some(lvalue.clone())
        }
        _ => None,
    }
}

/// Two conditions joined by `And` or `Or`, flattened and folded.
fn joined(operator: Binary, left: Condition, right: Condition, place: &Place) -> Condition {
    let both = operator == Binary::And;
    let parts = |condition: Condition| match condition {
        Condition::And(parts) if both => parts,
        Condition::Or(parts) if !both => parts,
        other => vec![other],
    };
    match (left, right) {
        (Condition::Data(left), Condition::Data(right)) => {
            Condition::Data(fold::binary(operator, Value::truth(left), Value::truth(right), place).expression)
        }
        (Condition::Data(Expression::Constant(value)), other)
        | (other, Condition::Data(Expression::Constant(value))) => {
            // A constant that does not decide the result leaves the other operand.
            if (value != 0) == both { other } else { Condition::Data(Expression::Constant(i32::from(!both))) }
        }
        (left, right) => {
            let (mut all, more) = (parts(left), parts(right));
            all.extend(more);
            if both { Condition::And(all) } else { Condition::Or(all) }
        }
    }
}

/// Refuses to compare a truth value with a number that it never is: whoever asks that mistook it.
fn check_truth_value(one: &Value, (other, place): (&Value, &Place)) -> Outcome<()> {
    match (&one.ty, other.known()) {
        (Type::Bool, Some(number)) if !(0..=1).contains(&number) => {
            Err(Diagnostic::error(format!("a truth value is never {number}"))
                .at(place.clone(), "compared with true or false"))
        }
        _ => Ok(()),
    }
}
