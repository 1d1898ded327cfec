//! Numbers during a run of a plan: machine integers where they fit, exact fractions otherwise.

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::value::{Heap, Value};

use super::pattern::Kind;

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Small(i64),
    Exact(RBig),
}

impl Number {
    /// Reads a number from a value; `None` if it is not a number.
    pub(super) fn read(heap: &Heap, value: Value) -> Option<Number> {
        match value.as_small() {
            Some(small) => Some(Number::Small(small.into())),
            None => heap.to_fraction(value).map(Number::Exact),
        }
    }

    /// The value of this number.
    pub(super) fn write(&self, heap: &mut Heap) -> Value {
        match self {
            Number::Small(number) => heap.whole(*number),
            Number::Exact(number) => heap.fraction(number.clone()),
        }
    }

    fn exact(&self) -> RBig {
        match self {
            Number::Small(number) => RBig::from(IBig::from(*number)),
            Number::Exact(number) => number.clone(),
        }
    }

    /// This and `factor` times another.
    pub(super) fn plus(self, factor: i64, other: &Number) -> Number {
        if let (Number::Small(left), Number::Small(right)) = (&self, other)
            && let Some(product) = right.checked_mul(factor)
            && let Some(sum) = left.checked_add(product)
        {
            return Number::Small(sum);
        }
        Number::Exact(self.exact() + other.exact() * RBig::from(IBig::from(factor)))
    }

    /// This divided by `factor`, which is not 0.
    pub(super) fn over(self, factor: i64) -> Number {
        if let Number::Small(number) = self
            && let Some(0) = number.checked_rem(factor)
        {
            return Number::Small(number / factor);
        }
        Number::Exact(self.exact() / RBig::from(IBig::from(factor)))
    }

    /// The largest integer that is at most this number.
    pub(super) fn floor(&self) -> IBig {
        match self {
            Number::Small(number) => IBig::from(*number),
            Number::Exact(number) => number.floor(),
        }
    }

    /// The smallest integer that is at least this number.
    pub(super) fn ceil(&self) -> IBig {
        match self {
            Number::Small(number) => IBig::from(*number),
            Number::Exact(number) => number.ceil(),
        }
    }

    /// Whether the number is of this kind.
    pub(super) fn is(&self, kind: Kind) -> bool {
        let whole = || match self {
            Number::Small(_) => true,
            Number::Exact(number) => number.is_int(),
        };
        match kind {
            Kind::Any => true,
            Kind::Whole => whole(),
            Kind::From(least) => whole() && self.floor() >= IBig::from(least),
            Kind::Set | Kind::Bag => false,
        }
    }
}
