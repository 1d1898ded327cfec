//! Finite sets and their complements, as increasing sequences of elements.
//!
//! Elements are compared as terms. For plain elements ([`Heap::is_plain`]) this is equality of
//! data; other terms may differ and still be equal. An operation returns `None` if its result
//! depends on that, or if an operand is neither a finite set nor a complement.

use std::cmp::Ordering;

use super::{Head, Heap, Value};

/// Which elements of two sequences a merge takes.
#[derive(Clone, Copy)]
struct Take {
    left: bool,
    both: bool,
    right: bool,
}

const UNION: Take = Take { left: true, both: true, right: true };
const INTERSECTION: Take = Take { left: false, both: true, right: false };
const DIFFERENCE: Take = Take { left: true, both: false, right: false };

impl Heap {
    /// The finite set of these elements, in any order and possibly with duplicates.
    pub fn set_of(&mut self, elements: &[Value]) -> Value {
        let mut sorted = elements.to_vec();
        self.sort(&mut sorted);
        self.make(Head::Set, &sorted)
    }

    /// Sorts elements and removes duplicates.
    fn sort(&self, elements: &mut Vec<Value>) {
        elements.sort_by(|&one, &other| self.compare(one, other));
        elements.dedup_by(|one, other| self.same(*one, *other));
    }

    /// The set of all elements for which a predicate differs from membership in a finite set. If
    /// the predicate is known to be `constant`, the result is finite or the complement of a finite
    /// set.
    pub fn set_by(&mut self, constant: Option<bool>, function: Value, exceptions: Value) -> Value {
        match constant {
            Some(false) => exceptions,
            Some(true) => self.set_complement(exceptions).unwrap_or(exceptions),
            None => self.make(Head::SetBy, &[function, exceptions]),
        }
    }

    /// Whether a set is the complement of a finite one; `None` if it is neither that nor finite.
    #[inline]
    fn is_complement(&self, set: Value) -> Option<bool> {
        match self.head(set) {
            Some(Head::Set) => Some(false),
            Some(Head::CoSet) => Some(true),
            _ => None,
        }
    }

    /// Searches the elements of a node, which are every `step`th argument. Returns the position of
    /// the element, or the position where it belongs.
    #[inline]
    pub(super) fn search(
        &self,
        node: Value,
        first: usize,
        step: usize,
        element: Value,
    ) -> Result<usize, usize> {
        let (mut low, mut high) = (0, (self.arity(node) - first) / step);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.compare(self.argument(node, first + middle * step), element) {
                Ordering::Equal => return Ok(first + middle * step),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Err(first + low * step)
    }

    /// `element in set`
    #[inline]
    pub fn set_contains(&self, set: Value, element: Value) -> Option<bool> {
        let complement = self.is_complement(set)?;
        match self.search(set, 0, 1, element) {
            Ok(_) => Some(!complement),
            Err(_) if self.arity(set) == 0 => Some(complement),
            Err(_) => (self.is_plain(element) && self.has_plain_keys(set)).then_some(complement),
        }
    }

    /// Merges two increasing sequences. `None` if that depends on whether different terms that are
    /// not plain are equal.
    fn merge(&self, left: Value, right: Value, take: Take) -> Option<Vec<Value>> {
        let (lefts, rights) = (self.arity(left), self.arity(right));
        let (mut one, mut other) = (0, 0);
        let mut merged = Vec::with_capacity(if take.right { lefts + rights } else { lefts });
        let mut only = false;
        while one < lefts && other < rights {
            let (x, y) = (self.argument(left, one), self.argument(right, other));
            let order = self.compare(x, y);
            one += usize::from(order != Ordering::Greater);
            other += usize::from(order != Ordering::Less);
            only |= order != Ordering::Equal;
            match order {
                Ordering::Less if take.left => merged.push(x),
                Ordering::Equal if take.both => merged.push(x),
                Ordering::Greater if take.right => merged.push(y),
                _ => {}
            }
        }
        only |= one < lefts || other < rights;
        if take.left {
            merged.extend((one..lefts).map(|index| self.argument(left, index)));
        }
        if take.right {
            merged.extend((other..rights).map(|index| self.argument(right, index)));
        }
        // An element of one sequence may equal a different term in the other one. For a union that
        // makes no difference.
        let uncertain = only && lefts > 0 && rights > 0 && !take.right;
        (!uncertain || (self.has_plain_keys(left) && self.has_plain_keys(right))).then_some(merged)
    }

    /// `left + right`
    pub fn set_union(&mut self, left: Value, right: Value) -> Option<Value> {
        let (head, elements) = match (self.is_complement(left)?, self.is_complement(right)?) {
            (false, false) => (Head::Set, self.merge(left, right, UNION)?),
            (true, true) => (Head::CoSet, self.merge(left, right, INTERSECTION)?),
            (true, false) => (Head::CoSet, self.merge(left, right, DIFFERENCE)?),
            (false, true) => (Head::CoSet, self.merge(right, left, DIFFERENCE)?),
        };
        Some(self.make(head, &elements))
    }

    /// `left * right`
    pub fn set_intersection(&mut self, left: Value, right: Value) -> Option<Value> {
        let (head, elements) = match (self.is_complement(left)?, self.is_complement(right)?) {
            (false, false) => (Head::Set, self.merge(left, right, INTERSECTION)?),
            (true, true) => (Head::CoSet, self.merge(left, right, UNION)?),
            (true, false) => (Head::Set, self.merge(right, left, DIFFERENCE)?),
            (false, true) => (Head::Set, self.merge(left, right, DIFFERENCE)?),
        };
        Some(self.make(head, &elements))
    }

    /// `left - right`
    pub fn set_difference(&mut self, left: Value, right: Value) -> Option<Value> {
        let right = self.set_complement(right)?;
        self.set_intersection(left, right)
    }

    /// `!set`
    pub fn set_complement(&mut self, set: Value) -> Option<Value> {
        let head = if self.is_complement(set)? { Head::Set } else { Head::CoSet };
        let elements: Vec<Value> = self.arguments(set).collect();
        Some(self.make(head, &elements))
    }

    /// `left <= right`. `None` for a complement and a finite set, because the result depends on the
    /// sort.
    pub fn set_subset(&self, left: Value, right: Value) -> Option<bool> {
        let empty = match (self.is_complement(left)?, self.is_complement(right)?) {
            (false, false) => self.merge(left, right, DIFFERENCE)?,
            (true, true) => self.merge(right, left, DIFFERENCE)?,
            (false, true) => self.merge(left, right, INTERSECTION)?,
            (true, false) => return None,
        };
        Some(empty.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::Terms;
    use super::*;

    fn heap() -> Heap {
        Heap::new(Terms::new(&crate::typed::Program::default()))
    }

    fn numbers(numbers: &[i32]) -> Vec<Value> {
        numbers.iter().map(|&number| Value::small(number).unwrap()).collect()
    }

    /// A set of numbers below 12: its members, and its representation under test.
    fn make(heap: &mut Heap, elements: &[i32], complement: bool) -> (BTreeSet<i32>, Value) {
        let value = heap.set_of(&numbers(elements));
        let model: BTreeSet<i32> = elements.iter().copied().collect();
        if complement {
            ((0..12).filter(|number| !model.contains(number)).collect(), heap.set_complement(value).unwrap())
        } else {
            (model, value)
        }
    }

    proptest! {
        #[test]
        fn sets_are_sets(
            a in prop::collection::vec(0..12, 0..8), b in prop::collection::vec(0..12, 0..8),
            complement_a: bool, complement_b: bool, element in 0..12,
        ) {
            let mut heap = heap();
            let (left, x) = make(&mut heap, &a, complement_a);
            let (right, y) = make(&mut heap, &b, complement_b);
            let e = Value::small(element).unwrap();
            let cases = [
                (heap.set_union(x, y), complement_a || complement_b, left.union(&right).copied().collect()),
                (heap.set_intersection(x, y), complement_a && complement_b, left.intersection(&right).copied().collect()),
                (heap.set_difference(x, y), complement_a && !complement_b, left.difference(&right).copied().collect()),
            ];
            for (result, complement, model) in cases {
                let model: BTreeSet<i32> = model;
                let listed: Vec<i32> = (0..12).filter(|number| model.contains(number) != complement).collect();
                let expected = heap.set_of(&numbers(&listed));
                let expected = if complement { heap.set_complement(expected) } else { Some(expected) };
                prop_assert_eq!(result, expected);
            }
            prop_assert_eq!(heap.set_contains(x, e), Some(left.contains(&element)));
            if complement_a && !complement_b {
                prop_assert_eq!(heap.set_subset(x, y), None);
            } else if complement_a == complement_b {
                prop_assert_eq!(heap.set_subset(x, y), Some(left.is_subset(&right)));
            }
        }
    }

    #[test]
    fn unknown_results_are_stuck() {
        let mut heap = heap();
        let stuck = |heap: &mut Heap, number| heap.make(Head::Apply, &numbers(&[number]));
        let (one, two) = (stuck(&mut heap, 1), stuck(&mut heap, 2));
        let (ones, twos, both) = (heap.set_of(&[one]), heap.set_of(&[two]), heap.set_of(&[two, one]));
        assert_eq!((heap.set_contains(ones, one), heap.set_contains(ones, two)), (Some(true), None));
        assert_eq!((heap.set_union(ones, twos), heap.set_intersection(ones, twos)), (Some(both), None));
        assert_eq!((heap.set_difference(both, ones), heap.set_subset(ones, twos)), (None, None));
        assert_eq!(
            (heap.set_intersection(ones, ones), heap.set_subset(ones, ones)),
            (Some(ones), Some(true))
        );
        assert_eq!(
            (heap.set_contains(Value::EMPTY_SET, one), heap.set_contains(Value::FULL_SET, one)),
            (Some(false), Some(true))
        );
        assert_eq!(
            (heap.set_difference(ones, Value::EMPTY_SET), heap.set_union(ones, Value::FULL_SET)),
            (Some(ones), Some(Value::FULL_SET))
        );
        assert_eq!((heap.set_union(one, ones), heap.set_complement(one)), (None, None));
    }

    #[test]
    fn sets_by_predicate() {
        let mut heap = heap();
        let set = heap.set_of(&numbers(&[1]));
        let complement = heap.set_complement(set).unwrap();
        assert_eq!(
            (heap.set_by(Some(false), Value::NIL, set), heap.set_by(Some(true), Value::NIL, set)),
            (set, complement)
        );
        let by = heap.set_by(None, Value::NIL, set);
        assert_eq!((heap.head(by), heap.set_contains(by, Value::ONE)), (Some(Head::SetBy), None));
    }
}
