//! Exact arithmetic: the definitions of the built-in functions on numbers.

use dashu_int::ops::{Abs, BitTest, SquareRoot};
use dashu_int::{IBig, Sign, UBig};
use dashu_ratio::RBig;

use crate::typed::{Builtin, SortId};

/// Powers with more bits than this are undefined.
const MAX_BITS: usize = 1_000_000;

/// A function on one number. `None` if it is undefined there, and for other functions.
pub(crate) fn unary(builtin: Builtin, operand: RBig) -> Option<RBig> {
    Some(match builtin {
        Builtin::Negate => -operand,
        Builtin::Succ => operand + RBig::ONE,
        Builtin::Pred => operand - RBig::ONE,
        Builtin::Abs => operand.abs(),
        Builtin::Convert => operand,
        Builtin::Floor => RBig::from(operand.floor()),
        Builtin::Ceil => RBig::from(operand.ceil()),
        Builtin::Round => {
            let half = RBig::from_parts(IBig::ONE, UBig::from(2_u8));
            RBig::from((operand + half).floor())
        }
        Builtin::Sqrt => {
            let (sign, size) = whole(operand)?.into_parts();
            (sign == Sign::Positive).then(|| RBig::from(size.sqrt()))?
        }
        _ => return None,
    })
}

/// A function on two numbers. `None` if it is undefined there, and for other functions.
pub(crate) fn binary(builtin: Builtin, left: RBig, right: RBig) -> Option<RBig> {
    Some(match builtin {
        Builtin::Add => left + right,
        Builtin::Subtract => left - right,
        Builtin::Multiply => left * right,
        Builtin::Max => left.max(right),
        Builtin::Min => left.min(right),
        Builtin::Divide => (!right.is_zero()).then(|| left / right)?,
        Builtin::Div | Builtin::Mod => {
            let (left, right) = (whole(left)?, whole(right)?);
            if right <= IBig::ZERO {
                return None;
            }
            let quotient = (RBig::from(left.clone()) / RBig::from(right.clone())).floor();
            RBig::from(if builtin == Builtin::Div { quotient } else { left - quotient * right })
        }
        Builtin::Exp => power(left, whole(right)?)?,
        _ => return None,
    })
}

fn whole(number: RBig) -> Option<IBig> {
    number.is_int().then(|| number.into_parts().0)
}

/// Undefined for negative powers of 0, and for very large results.
fn power(base: RBig, exponent: IBig) -> Option<RBig> {
    let even = !exponent.bit(0);
    let (sign, size) = exponent.into_parts();
    let (numerator, denominator) = base.into_parts();
    let unit = denominator.is_one() && (numerator.is_zero() || numerator.clone().abs() == IBig::ONE);
    let size = match usize::try_from(size) {
        // Powers of 0, 1 and -1 repeat with period 2.
        Ok(size) if unit && size > 2 => 2 - usize::from(!even),
        Ok(size) => size,
        Err(_) if unit => 2 - usize::from(!even),
        Err(_) => return None,
    };
    let bits = numerator.bit_len().max(denominator.bit_len());
    if !unit && bits.saturating_mul(size) > MAX_BITS {
        return None;
    }
    let (numerator, denominator) = (numerator.pow(size), denominator.pow(size));
    if sign == Sign::Positive {
        return Some(RBig::from_parts(numerator, denominator));
    }
    (!numerator.is_zero()).then(|| RBig::from_parts_signed(IBig::from(denominator), numerator))
}

/// Whether a number belongs to a number sort.
pub(crate) fn fits(sort: SortId, number: &RBig) -> bool {
    match sort {
        SortId::POS => number.is_int() && *number > RBig::ZERO,
        SortId::NAT => number.is_int() && *number >= RBig::ZERO,
        SortId::INT => number.is_int(),
        _ => true,
    }
}
