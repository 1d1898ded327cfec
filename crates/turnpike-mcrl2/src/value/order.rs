//! A total order on values that depends on their content only. Where `<` of the language is a total order (truth values, numbers, and lists
//! and structured sorts of such) it is this one.

use std::cmp::Ordering;

use super::{Head, Heap, Value};

/// The order of kinds: only values that are not of the same sort, or stuck, differ in it, except that `[]` comes before all other lists.
fn rank(head: Head) -> u8 {
    match head {
        Head::Big | Head::Rational => 0,
        Head::Bool(_) => 1,
        Head::Nil => 2,
        Head::Cons => 3,
        Head::Set => 4,
        Head::CoSet => 5,
        Head::SetBy => 6,
        Head::Bag => 7,
        Head::BagBy => 8,
        Head::Symbol(_) => 9,
        Head::Lambda(_) => 10,
        Head::Quantifier(_) => 11,
        Head::Update => 12,
        Head::Apply => 13,
    }
}

impl Heap {
    /// Which of two values comes first: numbers by size, `false` before `true`, lists lexicographically, constructors as declared and
    /// then by their fields from left to right, sets and bags lexicographically as sequences of their elements; everything else by kind,
    /// then by its parts. Equal only for the same term.
    #[inline]
    pub fn compare(&self, left: Value, right: Value) -> Ordering {
        match (left.as_small(), right.as_small()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.compare_nodes(left, right),
        }
    }

    fn compare_nodes(&self, mut left: Value, mut right: Value) -> Ordering {
        // Different terms are never equal here, so the first difference decides and nothing has to be remembered.
        while !self.same(left, right) {
            let (heads, ranks) = {
                let heads = (self.head(left), self.head(right));
                (heads, (heads.0.map_or(0, rank), heads.1.map_or(0, rank)))
            };
            if ranks == (0, 0) {
                return self.compare_numbers(left, right).unwrap_or(Ordering::Equal);
            }
            if ranks.0 != ranks.1 {
                return ranks.0.cmp(&ranks.1);
            }
            if heads.0 != heads.1 {
                return self.code(left).cmp(&self.code(right));
            }
            let difference =
                self.arguments(left).zip(self.arguments(right)).find(|&(one, other)| !self.same(one, other));
            match difference {
                Some(next) => (left, right) = next,
                None => return self.arity(left).cmp(&self.arity(right)),
            }
        }
        Ordering::Equal
    }
}
