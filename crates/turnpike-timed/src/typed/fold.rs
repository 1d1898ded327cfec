//! Builds expressions, folding constants and tracking ranges.

use super::types::{ANY_INT, Type};
use crate::network::{Binary, Expression, Place, Unary, Visitor, visit_parts};

/// An expression with the type of its value: integer, truth value or scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// For integers, the range of possible values.
    pub ty: Type,
    /// The expression.
    pub expression: Expression,
}

impl Value {
    /// A number.
    pub(crate) fn int(value: i32) -> Value {
        Value { ty: Type::Int { low: value, high: value }, expression: Expression::Constant(value) }
    }

    /// A truth value.
    pub(crate) fn bool(value: bool) -> Value {
        Value { ty: Type::Bool, expression: Expression::Constant(i32::from(value)) }
    }

    /// A truth value to be computed.
    pub(crate) fn truth(expression: Expression) -> Value {
        Value { ty: Type::Bool, expression }
    }

    /// The number, if it is constant.
    pub(crate) fn known(&self) -> Option<i32> {
        match self.expression {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn range(&self) -> (i64, i64) {
        let (low, high) = self.ty.range().unwrap_or((i32::MIN, i32::MAX));
        (low.into(), high.into())
    }

    /// As 0 or 1, as a `bool` is stored.
    pub(crate) fn normalised(self, place: &Place) -> Expression {
        let (low, high) = self.range();
        if self.ty == Type::Bool || (0 <= low && high <= 1) {
            return self.expression;
        }
        binary(Binary::NotEqual, self, Value::int(0), place).expression
    }
}

/// Whether evaluating it can change anything.
pub(crate) fn has_effects(expression: &Expression) -> bool {
    struct Search(bool);
    impl Visitor for Search {
        fn expression(&mut self, expression: &Expression) {
            use Expression::{Assign, Call, Sequence};
            self.0 |= matches!(expression, Call { .. } | Assign { .. } | Sequence(_));
            if !self.0 {
                visit_parts(self, expression);
            }
        }
    }
    let mut search = Search(false);
    search.expression(expression);
    search.0
}

/// `-e`, `!e`
pub(crate) fn unary(operator: Unary, operand: Value) -> Value {
    match (operator, operand.expression) {
        (Unary::Minus, Expression::Constant(value)) if value != i32::MIN => Value::int(-value),
        (Unary::Not, Expression::Constant(value)) => Value::bool(value == 0),
        (Unary::Not, expression) => Value::truth(Expression::Unary(Unary::Not, Box::new(expression))),
        (Unary::Minus, expression) => {
            let (low, high) = operand.ty.range().unwrap_or((i32::MIN, i32::MAX));
            let ty = interval(-i64::from(high), -i64::from(low));
            Value { ty, expression: Expression::Unary(Unary::Minus, Box::new(expression)) }
        }
    }
}

fn interval(low: i64, high: i64) -> Type {
    match (i32::try_from(low), i32::try_from(high)) {
        (Ok(low), Ok(high)) => Type::Int { low, high },
        _ => ANY_INT,
    }
}

/// An operator on two integers.
pub(crate) fn binary(operator: Binary, left: Value, right: Value, place: &Place) -> Value {
    if let (Some(a), Some(b)) = (left.known(), right.known())
        && let Ok(value) = operator.apply(a, b)
    {
        return if operator.is_truth() { Value::bool(value != 0) } else { Value::int(value) };
    }
    if let Some(known) = decided(operator, &left, &right) {
        return Value::bool(known);
    }
    let ty = if operator.is_truth() { Type::Bool } else { result(operator, left.range(), right.range()) };
    match (operator, left.known(), right.known()) {
        (Binary::Add | Binary::Subtract, _, Some(0))
        | (Binary::Multiply | Binary::Divide, _, Some(1))
        | (Binary::And, _, Some(1))
            if !operator.is_truth() || left.ty == Type::Bool =>
        {
            return Value { ty, expression: left.expression };
        }
        // A constant left operand that does not decide them leaves the right operand.
        (Binary::And | Binary::Or, Some(_), _) if right.ty == Type::Bool => {
            return Value { ty, expression: right.expression };
        }
        (Binary::Or, _, Some(0)) if left.ty == Type::Bool => {
            return Value { ty, expression: left.expression };
        }
        (Binary::Add, Some(0), _) | (Binary::Multiply, Some(1), _) => {
            return Value { ty, expression: right.expression };
        }
        _ => {}
    }
    let (left, right) = (Box::new(left.expression), Box::new(right.expression));
    Value { ty, expression: Expression::Binary(operator, left, right, place.clone()) }
}

/// Comparisons that the ranges decide, and `e && false`.
fn decided(operator: Binary, left: &Value, right: &Value) -> Option<bool> {
    let ((a, b), (c, d)) = (left.range(), right.range());
    let known = match operator {
        Binary::Less if b < c => true,
        Binary::Less if a >= d => false,
        Binary::LessEqual if b <= c => true,
        Binary::LessEqual if a > d => false,
        Binary::Greater if a > d => true,
        Binary::Greater if b <= c => false,
        Binary::GreaterEqual if a >= d => true,
        Binary::GreaterEqual if b < c => false,
        Binary::Equal if b < c || d < a => false,
        Binary::NotEqual if b < c || d < a => true,
        // The right side is not evaluated.
        Binary::And if left.known() == Some(0) => return Some(false),
        Binary::Or if left.known().is_some_and(|value| value != 0) => return Some(true),
        Binary::And if right.known() == Some(0) => false,
        Binary::Or if right.known().is_some_and(|value| value != 0) => true,
        _ => return None,
    };
    (!has_effects(&left.expression) && !has_effects(&right.expression)).then_some(known)
}

/// The range of possible results.
fn result(operator: Binary, (a, b): (i64, i64), (c, d): (i64, i64)) -> Type {
    match operator {
        Binary::Add => interval(a + c, b + d),
        Binary::Subtract => interval(a - d, b - c),
        Binary::Multiply => {
            let corners = [a * c, a * d, b * c, b * d];
            interval(*corners.iter().min().unwrap_or(&0), *corners.iter().max().unwrap_or(&0))
        }
        Binary::Divide if a >= 0 && c >= 1 => interval(a / d, b / c),
        Binary::Remainder if c >= 1 => {
            let most = d - 1;
            interval(if a >= 0 { 0 } else { (-most).max(a) }, if b <= 0 { 0 } else { most.min(b) })
        }
        Binary::Minimum => interval(a.min(c), b.min(d)),
        Binary::Maximum => interval(a.max(c), b.max(d)),
        Binary::BitAnd if a >= 0 && c >= 0 => interval(0, b.min(d)),
        Binary::BitOr | Binary::BitXor if a >= 0 && c >= 0 => {
            let most = (b | d) as u64;
            interval(0, (u64::MAX >> most.leading_zeros().min(63)) as i64)
        }
        Binary::ShiftRight if a >= 0 => interval(0, b),
        _ => ANY_INT,
    }
}

/// Joins values pairwise, so that the tree is balanced; `None` for no values.
pub(crate) fn balanced<T>(mut items: Vec<T>, join: &mut impl FnMut(T, T) -> T) -> Option<T> {
    while items.len() > 1 {
        let mut next = Vec::with_capacity(items.len().div_ceil(2));
        let mut rest = items.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        items = next;
    }
    items.pop()
}
