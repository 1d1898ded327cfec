//! A bound on a difference of clocks, packed into an integer.

use std::fmt;
use std::ops::Add;

/// `< c`, `<= c` or no bound. Encoded as twice the number, plus one if weak, so that integers
/// compare like bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound(pub i32);

impl Bound {
    /// No bound.
    pub const INFINITY: Bound = Bound(1 << 29);
    /// `<= 0`
    pub const ZERO: Bound = Bound(1);
    /// Constants in a model must be smaller than this in absolute value, so that no sum of three
    /// bounds reaches [`INFINITY`](Self::INFINITY).
    pub const LIMIT: i32 = 1 << 26;

    /// `<= value`
    pub const fn weak(value: i32) -> Bound {
        Bound(2 * value + 1)
    }

    /// `< value`
    pub const fn strict(value: i32) -> Bound {
        Bound(2 * value)
    }

    /// `< value` or `<= value`, unless the number is out of range.
    pub fn new(value: i64, strict: bool) -> Option<Bound> {
        let limit = i64::from(Self::LIMIT);
        (-limit < value && value < limit).then_some(Bound(2 * value as i32 + i32::from(!strict)))
    }

    /// The number; meaningless for [`INFINITY`](Self::INFINITY).
    pub const fn value(self) -> i32 {
        self.0 >> 1
    }

    /// Whether the number itself is excluded; infinity counts as strict.
    pub const fn is_strict(self) -> bool {
        self.0 & 1 == 0
    }

    /// Whether there is no bound.
    pub const fn is_infinite(self) -> bool {
        self.0 == Self::INFINITY.0
    }

    /// The negation, as a bound on the opposite difference: not `x - y <= c` is `y - x < -c`.
    /// `None` for infinity, whose negation is unsatisfiable.
    pub const fn negated(self) -> Option<Bound> {
        if self.is_infinite() { None } else { Some(Bound(1 - self.0)) }
    }
}

/// The bound on `x - z` implied by bounds on `x - y` and `y - z`: infinite if one of them is,
/// strict if one of them is.
///
/// Exact while numbers are within three times [`LIMIT`](Bound::LIMIT); beyond that, the sum is
/// still sound or the zone reports an overflow.
impl Add for Bound {
    type Output = Bound;

    fn add(self, other: Bound) -> Bound {
        let finite = self.0 + other.0 - ((self.0 | other.0) & 1);
        if self.is_infinite() | other.is_infinite() { Bound::INFINITY } else { Bound(finite) }
    }
}

/// The comparison as text: `<3`, `<=3`, `<inf`.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_infinite(), self.is_strict()) {
            (true, _) => write!(f, "<inf"),
            (false, true) => write!(f, "<{}", self.value()),
            (false, false) => write!(f, "<={}", self.value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_sum_and_negation() {
        assert!(Bound::strict(3) < Bound::weak(3) && Bound::weak(3) < Bound::strict(4));
        assert_eq!(Bound::weak(3) + Bound::weak(-5), Bound::weak(-2));
        assert_eq!(Bound::weak(3) + Bound::strict(-5), Bound::strict(-2));
        assert_eq!(Bound::strict(3) + Bound::strict(4), Bound::strict(7));
        assert_eq!(Bound::INFINITY + Bound::weak(-7), Bound::INFINITY);
        assert_eq!(Bound::strict(-7) + Bound::INFINITY, Bound::INFINITY);
        assert_eq!(Bound::weak(3).negated(), Some(Bound::strict(-3)));
        assert_eq!(Bound::strict(-3).negated(), Some(Bound::weak(3)));
        assert_eq!(Bound::INFINITY.negated(), None);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let limit = i64::from(Bound::LIMIT);
        assert_eq!(Bound::new(limit, false), None);
        assert_eq!(Bound::new(-limit, true), None);
        assert_eq!(Bound::new(i64::MIN, true), None);
        assert_eq!(Bound::new(limit - 1, false), Some(Bound::weak(Bound::LIMIT - 1)));
        assert_eq!(Bound::new(1 - limit, true), Some(Bound::strict(1 - Bound::LIMIT)));
        let largest = Bound::weak(Bound::LIMIT - 1);
        assert!(largest + largest + largest < Bound::INFINITY);
    }

    #[test]
    fn text() {
        let texts = [Bound::weak(-3), Bound::strict(4), Bound::INFINITY].map(|bound| bound.to_string());
        assert_eq!(texts, ["<=-3", "<4", "<inf"]);
    }
}
