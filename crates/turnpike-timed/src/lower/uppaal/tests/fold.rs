//! Constant folding, compared with evaluation on all values of small ranges.

use crate::network::{Binary, Cells, Expression, Space, Unary};
use crate::typed::fold::{Value, binary, unary};
use crate::typed::types::Type;

const OPERATORS: [Binary; 20] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::Minimum,
    Binary::Maximum,
    Binary::Less,
    Binary::LessEqual,
    Binary::Equal,
    Binary::NotEqual,
    Binary::GreaterEqual,
    Binary::Greater,
    Binary::And,
    Binary::Or,
];

/// A variable with this range, or a number.
fn value(low: i32, high: i32, cell: u32) -> Value {
    if low == high {
        return Value::int(low);
    }
    Value { ty: Type::Int { low, high }, expression: Expression::Read(Cells::fixed(Space::Global, cell)) }
}

fn ranges() -> Vec<(i32, i32)> {
    (-5..=5).flat_map(|low| (low..=5).map(move |high| (low, high))).collect()
}

/// The value of a folded operator on these operands.
fn evaluate(expression: &Expression, cells: [i32; 2]) -> Option<i32> {
    match expression {
        Expression::Constant(value) => Some(*value),
        Expression::Read(read) => Some(cells[read.base as usize]),
        Expression::Unary(Unary::Not, inner) => Some(i32::from(evaluate(inner, cells)? == 0)),
        Expression::Unary(Unary::Minus, inner) => evaluate(inner, cells)?.checked_neg(),
        Expression::Binary(operator, left, right, _) => {
            operator.apply(evaluate(left, cells)?, evaluate(right, cells)?).ok()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn folded_operators_have_the_values_and_ranges_they_should() {
    let ranges = ranges();
    for operator in OPERATORS {
        for &(a, b) in &ranges {
            for &(c, d) in &ranges {
                let folded = binary(operator, value(a, b, 0), value(c, d, 1), &(0..0));
                let (low, high) = folded.ty.range().expect("a number");
                for left in a..=b {
                    for right in c..=d {
                        let Ok(expected) = operator.apply(left, right) else { continue };
                        let found = evaluate(&folded.expression, [left, right]);
                        assert_eq!(found, Some(expected), "{left} {operator:?} {right}");
                        assert!(
                            low <= expected && expected <= high,
                            "{left} {operator:?} {right}: {low}..{high}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn folded_signs_and_negations_too() {
    for (a, b) in ranges() {
        for operator in [Unary::Minus, Unary::Not] {
            let folded = unary(operator, value(a, b, 0));
            let (low, high) = folded.ty.range().expect("a number");
            for operand in a..=b {
                let expected = if operator == Unary::Minus { -operand } else { i32::from(operand == 0) };
                assert_eq!(evaluate(&folded.expression, [operand, 0]), Some(expected));
                assert!(low <= expected && expected <= high);
            }
        }
    }
}

#[test]
fn what_leaves_32_bits_is_not_folded() {
    for (operator, left, right) in [
        (Binary::Add, i32::MAX, 1),
        (Binary::Subtract, i32::MIN, 1),
        (Binary::Multiply, 65536, 65536),
        (Binary::Divide, 1, 0),
        (Binary::Divide, i32::MIN, -1),
        (Binary::Remainder, 1, 0),
        (Binary::ShiftLeft, 1, 31),
        (Binary::ShiftLeft, 1, -1),
        (Binary::ShiftRight, 1, 32),
    ] {
        let folded = binary(operator, Value::int(left), Value::int(right), &(0..0));
        assert!(matches!(folded.expression, Expression::Binary(..)), "{left} {operator:?} {right}");
    }
}
