//! Partial values: completely known, a known constructor, a range of numbers, or unknown.

use std::rc::Rc;

use dashu_int::IBig;

use crate::compile::solver::number::Number;
use crate::typed::{Builtin, SortId};
use crate::value::{Head, Heap, Value};

/// A value as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum Partial {
    /// A complete value.
    Known(Value),
    /// A number in a range.
    Number(Range),
    /// A constructor of a structured sort or `|>`, with partial arguments.
    Node(Head, Rc<[Partial]>),
    /// The content of a place of the candidate.
    Place(usize),
    /// Nothing is known.
    Unknown,
}

/// An interval of numbers. Bounds are inclusive; `None` means unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: Option<i128>,
    pub(super) to: Option<i128>,
}

impl Partial {
    /// An arbitrary value of a sort.
    pub(super) fn of(sort: SortId) -> Partial {
        match sort {
            SortId::POS => Partial::Number(Range::from(1)),
            SortId::NAT => Partial::Number(Range::from(0)),
            SortId::INT | SortId::REAL => Partial::Number(Range::ALL),
            _ => Partial::Unknown,
        }
    }

    /// A truth value, if it is known.
    pub(super) fn bool(value: Option<bool>) -> Partial {
        value.map_or(Partial::Unknown, |value| Partial::Known(Value::bool(value)))
    }
}

fn both(left: Option<i128>, right: Option<i128>, with: impl Fn(i128, i128) -> Option<i128>) -> Option<i128> {
    with(left?, right?)
}

impl Range {
    pub(super) const ALL: Range = Range { from: None, to: None };

    pub(super) fn from(from: i128) -> Range {
        Range { from: Some(from), to: None }
    }

    pub(super) fn at(number: i128) -> Range {
        Range { from: Some(number), to: Some(number) }
    }

    /// The range of a value: a single number unless the value is a fraction or very large.
    pub(super) fn of(heap: &Heap, value: Value) -> Range {
        if let Some(small) = value.as_small() {
            return Range::at(small.into());
        }
        let Some(number) = Number::read(heap, value) else { return Range::ALL };
        let (floor, ceil) = (number.floor(), number.ceil());
        let most = IBig::from(i128::MAX);
        let from = i128::try_from(&floor).ok().or((floor > most).then_some(i128::MAX));
        let to = i128::try_from(&ceil).ok().or((ceil < -most).then_some(-i128::MAX));
        Range { from, to }
    }

    /// The smallest range that contains both.
    pub(super) fn hull(self, other: Range) -> Range {
        Range {
            from: both(self.from, other.from, |left, right| Some(left.min(right))),
            to: both(self.to, other.to, |left, right| Some(left.max(right))),
        }
    }

    /// Whether all numbers here are less than all in the other range; `None` if it depends.
    pub(super) fn less(self, other: Range) -> Option<bool> {
        match (self.to, other.from) {
            (Some(left), Some(right)) if left < right => return Some(true),
            _ => {}
        }
        match (self.from, other.to) {
            (Some(left), Some(right)) if left >= right => Some(false),
            _ => None,
        }
    }

    /// Whether all numbers here are at most those in the other range; `None` if it depends.
    pub(super) fn less_equal(self, other: Range) -> Option<bool> {
        other.less(self).map(|greater| !greater)
    }

    /// Whether the numbers are equal; `None` if it depends. A range of one number may be a rounded
    /// fraction, so it can only prove a difference.
    pub(super) fn equal(self, other: Range) -> Option<bool> {
        let apart = self.less(other) == Some(true) || other.less(self) == Some(true);
        apart.then_some(false)
    }

    /// The range of the results of a function on numbers.
    pub(super) fn apply(builtin: Builtin, operands: &[Range]) -> Range {
        let one = Range::at(1);
        match (builtin, operands) {
            (Builtin::Negate, [of]) => of.negate(),
            (Builtin::Succ, [of]) => of.plus(one),
            (Builtin::Pred, [of]) => of.plus(one.negate()),
            (Builtin::Abs, [of]) => of.abs(),
            // Bounds are integers, so rounding stays within them.
            (Builtin::Floor | Builtin::Ceil | Builtin::Round | Builtin::Convert, [of]) => *of,
            (Builtin::Add, [left, right]) => left.plus(*right),
            (Builtin::Subtract, [left, right]) => left.plus(right.negate()),
            (Builtin::Multiply, [left, right]) => left.times(*right),
            (Builtin::Divide, [left, right]) => left.over(*right, true),
            (Builtin::Div, [left, right]) => left.over(*right, false),
            (Builtin::Mod, [left, right]) => left.modulo(*right),
            (Builtin::Exp, [left, right]) => left.power(*right),
            (Builtin::Max, [left, right]) => left.max(*right),
            (Builtin::Min, [left, right]) => left.min(*right),
            _ => Range::ALL,
        }
    }

    fn negate(self) -> Range {
        let turn = |bound: Option<i128>| bound.and_then(i128::checked_neg);
        Range { from: turn(self.to), to: turn(self.from) }
    }

    fn plus(self, other: Range) -> Range {
        // A bound that overflows is dropped.
        Range {
            from: both(self.from, other.from, i128::checked_add),
            to: both(self.to, other.to, i128::checked_add),
        }
    }

    fn times(self, other: Range) -> Range {
        let (left, right) = (self.sign(), other.sign());
        match (left, right) {
            (Some(true), Some(true)) => Range {
                from: both(self.from, other.from, |left, right| Some(left.saturating_mul(right))),
                to: both(self.to, other.to, i128::checked_mul),
            },
            (Some(false), _) => self.negate().times(other).negate(),
            (_, Some(false)) => self.times(other.negate()).negate(),
            _ => {
                let corners = [self.from, self.to]
                    .into_iter()
                    .flat_map(|left| [other.from, other.to].map(|right| both(left, right, i128::checked_mul)))
                    .collect::<Option<Vec<i128>>>();
                match corners {
                    Some(corners) => {
                        Range { from: corners.iter().copied().min(), to: corners.iter().copied().max() }
                    }
                    None => Range::ALL,
                }
            }
        }
    }

    /// Whether all numbers are at least 0, or all at most 0.
    fn sign(self) -> Option<bool> {
        match (self.from, self.to) {
            (Some(from), _) if from >= 0 => Some(true),
            (_, Some(to)) if to <= 0 => Some(false),
            _ => None,
        }
    }

    fn abs(self) -> Range {
        match self.sign() {
            Some(true) => self,
            Some(false) => self.negate(),
            None => {
                let to = both(self.from, self.to, |from, to| Some(from.checked_neg()?.max(to)));
                Range { from: Some(0), to }
            }
        }
    }

    pub(super) fn max(self, other: Range) -> Range {
        let from = match (self.from, other.from) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (left, right) => left.or(right),
        };
        Range { from, to: both(self.to, other.to, |left, right| Some(left.max(right))) }
    }

    fn min(self, other: Range) -> Range {
        self.negate().max(other.negate()).negate()
    }

    /// Division by a positive number. Bounds are rounded outwards unless the result itself is
    /// rounded.
    fn over(self, by: Range, exact: bool) -> Range {
        if by.from.is_none_or(|from| from < 1) {
            return Range::ALL;
        }
        // The smallest divisor gives the result farthest from 0, the largest the nearest.
        let divide = |number: i128, near: bool| match if near { by.to } else { by.from } {
            Some(by) => Some(number.div_euclid(by)),
            None if number >= 0 => Some(0),
            None => Some(-1),
        };
        let from = self.from.and_then(|from| divide(from, from >= 0));
        let to = self.to.and_then(|to| divide(to, to < 0));
        Range { from, to: if exact { to.map(|to| to.saturating_add(1)) } else { to } }
    }

    fn modulo(self, by: Range) -> Range {
        match (self.from, self.to, by.from) {
            (Some(from), Some(to), Some(by)) if from >= 0 && to < by => self,
            _ => Range { from: Some(0), to: by.to.map(|to| to.saturating_sub(1)) },
        }
    }

    /// To the power of.
    fn power(self, exponent: Range) -> Range {
        let (Some(base), Some(least)) = (self.from, exponent.from) else { return Range::ALL };
        if base < 0 || least < 0 {
            return Range::ALL;
        }
        let raise =
            |base: i128, exponent: i128| u32::try_from(exponent).ok().map(|up| base.saturating_pow(up));
        let from = if base == 0 {
            0
        } else if base == 1 {
            1
        } else {
            raise(base, least).unwrap_or(i128::MAX)
        };
        let to = match (self.to, exponent.to) {
            (Some(base), Some(most)) => {
                // `0 ^ 0` is 1, although 0 to any other power is 0.
                raise(base, most).filter(|&top| top < i128::MAX).map(|top| top.max(1))
            }
            _ => None,
        };
        Range { from: Some(from), to }
    }
}

#[cfg(test)]
mod tests {
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    use super::*;
    use crate::builtin::number;

    fn range() -> impl Strategy<Value = (Range, i128)> {
        (-6i128..7, 0i128..5, 0i128..5, any::<bool>(), any::<bool>()).prop_map(
            |(number, below, above, low, high)| {
                let range = Range { from: low.then_some(number - below), to: high.then_some(number + above) };
                (range, number)
            },
        )
    }

    fn contains(range: Range, number: i128) -> bool {
        range.from.is_none_or(|from| from <= number) && range.to.is_none_or(|to| number <= to)
    }

    proptest! {
        /// The results of every function on numbers are in the range computed for them.
        #[test]
        fn ranges_contain_the_results_of_their_members((a, x) in range(), (b, y) in range()) {
            prop_assert!(contains(a, x) && contains(b, y));
            let (left, right) = (RBig::from(IBig::from(x)), RBig::from(IBig::from(y)));
            for builtin in Builtin::ARITHMETIC {
                let results = [
                    (number::unary(builtin, left.clone()), Range::apply(builtin, &[a])),
                    (number::binary(builtin, left.clone(), right.clone()), Range::apply(builtin, &[a, b])),
                ];
                for (result, range) in results {
                    let Some(result) = result else { continue };
                    let floor = i128::try_from(result.floor()).expect("a small number");
                    let ceil = i128::try_from(result.ceil()).expect("a small number");
                    prop_assert!(
                        contains(range, floor) && contains(range, ceil),
                        "{builtin:?} of {x} in {a:?} and {y} in {b:?} is {result}, not in {range:?}"
                    );
                }
            }
            prop_assert!(contains(a.hull(b), x) && contains(a.hull(b), y));
            prop_assert!(a.less(b).is_none_or(|less| less == (x < y)));
            prop_assert!(a.less_equal(b).is_none_or(|less| less == (x <= y)));
            prop_assert!(a.equal(b).is_none_or(|equal| equal == (x == y)));
        }
    }
}
