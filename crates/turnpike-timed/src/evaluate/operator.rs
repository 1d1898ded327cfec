//! Error messages of operators.

use super::{Fault, Outcome};
use crate::network::{Binary, Place, Undefined};

/// Applies an operator that needs both operands.
#[inline]
pub(super) fn apply(operator: Binary, left: i32, right: i32, place: &Place) -> Outcome<i32> {
    operator.apply(left, right).map_err(|undefined| explain(undefined, left, right, place))
}

/// Checks that a number fits into 32 bits.
#[inline]
pub(super) fn fit(value: i64, place: &Place) -> Outcome<i32> {
    i32::try_from(value).map_err(|_| explain(Undefined::Overflow(value), 0, 0, place))
}

#[cold]
fn explain(undefined: Undefined, left: i32, right: i32, place: &Place) -> Box<Fault> {
    match undefined {
        Undefined::DivisionByZero => Fault::new(format!("{left} is divided by zero"), place),
        Undefined::Shift => Fault::new(format!("a number of 32 bits cannot be shifted by {right}"), place),
        Undefined::Overflow(value) => Fault::range(format!("{value} does not fit into 32 bits"), place),
    }
}
