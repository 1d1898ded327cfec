//! Operators on 32-bit integers, checked: nothing wraps around.

use super::{Fault, Outcome};
use crate::network::{Binary, Place};

/// Applies an operator that needs both operands; `And` and `Or` are done before their right side is known.
#[inline]
pub(super) fn apply(operator: Binary, left: i32, right: i32, place: &Place) -> Outcome<i32> {
    let value = match operator {
        Binary::Add => i64::from(left) + i64::from(right),
        Binary::Subtract => i64::from(left) - i64::from(right),
        Binary::Multiply => i64::from(left) * i64::from(right),
        Binary::Divide | Binary::Remainder if right == 0 => {
            return Err(Fault::new(format!("{left} is divided by zero"), place));
        }
        Binary::Divide => i64::from(left) / i64::from(right),
        Binary::Remainder => i64::from(left) % i64::from(right),
        Binary::ShiftLeft | Binary::ShiftRight if !(0..32).contains(&right) => {
            return Err(Fault::new(format!("a number of 32 bits cannot be shifted by {right}"), place));
        }
        Binary::ShiftLeft => i64::from(left) << right,
        Binary::ShiftRight => i64::from(left >> right),
        Binary::BitAnd => i64::from(left & right),
        Binary::BitOr => i64::from(left | right),
        Binary::BitXor => i64::from(left ^ right),
        Binary::Minimum => i64::from(left.min(right)),
        Binary::Maximum => i64::from(left.max(right)),
        Binary::Less => i64::from(left < right),
        Binary::LessEqual => i64::from(left <= right),
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::GreaterEqual => i64::from(left >= right),
        Binary::Greater => i64::from(left > right),
        Binary::And => i64::from(left != 0 && right != 0),
        Binary::Or => i64::from(left != 0 || right != 0),
    };
    fit(value, place)
}

/// The number, if it has 32 bits.
#[inline]
pub(super) fn fit(value: i64, place: &Place) -> Outcome<i32> {
    i32::try_from(value).map_err(|_| Fault::range(format!("{value} does not fit into 32 bits"), place))
}
