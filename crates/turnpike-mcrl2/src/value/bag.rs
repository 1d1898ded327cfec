//! Finite bags: increasing elements, each with a positive count. As for sets, an operation returns
//! `None` if its result depends on whether two terms that are not plain are equal.

use std::cmp::Ordering;

use super::{Head, Heap, Value};

impl Heap {
    /// The bag of these elements, in any order. Counts of equal elements add up. `None` if a count
    /// is not a natural number.
    pub fn bag_of(&mut self, elements: &[(Value, Value)]) -> Option<Value> {
        let mut sorted = elements.to_vec();
        sorted.sort_by(|one, other| self.compare(one.0, other.0));
        let mut arguments: Vec<Value> = Vec::with_capacity(sorted.len() * 2);
        for (element, count) in sorted {
            let count = self.to_nat(count)?;
            match arguments[..] {
                [.., last, before] if self.same(last, element) => {
                    arguments.pop();
                    arguments.push(self.add(before, count)?);
                }
                _ => arguments.extend([element, count]),
            }
        }
        Some(self.bag_from(arguments, Value::ZERO))
    }

    /// A bag of increasing elements. Elements with the usual count, which all other elements have,
    /// are dropped.
    fn bag_from(&mut self, mut arguments: Vec<Value>, usual: Value) -> Value {
        if arguments.chunks_exact(2).any(|pair| pair[1] == usual) {
            arguments =
                arguments.chunks_exact(2).filter(|pair| pair[1] != usual).flatten().copied().collect();
        }
        let counts = self.make(Head::Bag, &arguments);
        if usual == Value::ZERO { counts } else { self.make(Head::BagBy, &[usual, counts]) }
    }

    /// The usual count, and the finite bag of all other counts. `None` for other kinds of bags.
    fn bag_parts(&self, bag: Value) -> Option<(Value, Value)> {
        match self.head(bag)? {
            Head::Bag => Some((Value::ZERO, bag)),
            Head::BagBy => {
                let function = self.argument(bag, 0);
                let usual =
                    if self.is_number(function) { Some(function) } else { self.constant_function(function) };
                usual.map(|usual| (usual, self.argument(bag, 1)))
            }
            _ => None,
        }
    }

    /// The bag where a function gives the counts, except for the elements of a finite bag, which
    /// may store counts of 0. `zero` says that the function gives 0 for all: the bag is then
    /// finite.
    pub fn bag_by(&mut self, zero: bool, function: Value, overrides: Value) -> Value {
        if zero {
            let arguments = self.arguments(overrides).collect();
            self.bag_from(arguments, Value::ZERO)
        } else {
            self.make(Head::BagBy, &[function, overrides])
        }
    }

    /// A finite bag with a count changed, 0 stored as such: for the overrides of [`Heap::bag_by`].
    pub fn bag_override(&mut self, bag: Value, element: Value, count: Value) -> Option<Value> {
        if !self.is(bag, Head::Bag) {
            return None;
        }
        let mut arguments: Vec<Value> = self.arguments(bag).collect();
        match self.search(bag, 0, 2, element) {
            Ok(index) => arguments[index + 1] = count,
            Err(index) => drop(arguments.splice(index..index, [element, count])),
        }
        Some(self.make(Head::Bag, &arguments))
    }

    /// `count(element, bag)`
    pub fn bag_count(&self, bag: Value, element: Value) -> Option<Value> {
        let (usual, bag) = self.bag_parts(bag)?;
        match self.search(bag, 0, 2, element) {
            // Another element may turn out to be the same.
            Ok(index) => {
                (self.arity(bag) == 2 || self.has_plain_keys(bag)).then(|| self.argument(bag, index + 1))
            }
            Err(_) if self.arity(bag) == 0 => Some(usual),
            Err(_) => (self.is_plain(element) && self.has_plain_keys(bag)).then_some(usual),
        }
    }

    /// `#bag`: how many there are in all.
    pub fn bag_size(&mut self, bag: Value) -> Option<Value> {
        if !self.is(bag, Head::Bag) {
            return None;
        }
        let counts: Vec<Value> = self.arguments(bag).skip(1).step_by(2).collect();
        counts.into_iter().try_fold(Value::ZERO, |sum, count| self.add(sum, count))
    }

    /// Combines counts element by element; a missing element has the usual count. `always` says
    /// that the result is right even if different terms mean the same.
    fn bag_merge(
        &mut self,
        left: Value,
        right: Value,
        always: bool,
        combine: fn(&mut Heap, Value, Value) -> Option<Value>,
    ) -> Option<Value> {
        let ((left_usual, left), (right_usual, right)) = (self.bag_parts(left)?, self.bag_parts(right)?);
        let (lefts, rights) = (self.arity(left), self.arity(right));
        let (mut one, mut other) = (0, 0);
        let mut merged = Vec::with_capacity(lefts + rights);
        let mut only = false;
        while one < lefts || other < rights {
            let order = match (one < lefts, other < rights) {
                (true, true) => self.compare(self.argument(left, one), self.argument(right, other)),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let (element, counts) = match order {
                Ordering::Less => (self.argument(left, one), (self.argument(left, one + 1), right_usual)),
                Ordering::Equal => (
                    self.argument(left, one),
                    (self.argument(left, one + 1), self.argument(right, other + 1)),
                ),
                Ordering::Greater => {
                    (self.argument(right, other), (left_usual, self.argument(right, other + 1)))
                }
            };
            only |= order != Ordering::Equal;
            one += if order == Ordering::Greater { 0 } else { 2 };
            other += if order == Ordering::Less { 0 } else { 2 };
            let count = combine(self, counts.0, counts.1)?;
            merged.extend([element, count]);
        }
        // Different terms may mean the same element: within a bag, or one of each.
        let plain = self.has_plain_keys(left) && self.has_plain_keys(right);
        if !always && !plain && (lefts > 2 || rights > 2 || (only && lefts > 0 && rights > 0)) {
            return None;
        }
        let usual = combine(self, left_usual, right_usual)?;
        Some(self.bag_from(merged, usual))
    }

    /// `left + right`: counts add up.
    pub fn bag_union(&mut self, left: Value, right: Value) -> Option<Value> {
        self.bag_merge(left, right, true, Heap::add)
    }

    /// `left * right`: the smaller counts.
    pub fn bag_intersection(&mut self, left: Value, right: Value) -> Option<Value> {
        self.bag_merge(left, right, false, Heap::min)
    }

    /// `left - right`: differences of counts, where they are positive.
    pub fn bag_difference(&mut self, left: Value, right: Value) -> Option<Value> {
        self.bag_merge(left, right, false, |heap, left, right| {
            let difference = heap.subtract(left, right)?;
            heap.max(difference, Value::ZERO)
        })
    }

    /// `left <= right`: no count is larger.
    pub fn bag_subset(&mut self, left: Value, right: Value) -> Option<bool> {
        // Over a finite sort a usual count may be that of no element.
        let rest = self.bag_difference(left, right)?;
        self.is(rest, Head::Bag).then_some(rest == Value::EMPTY_BAG)
    }

    /// `Set2Bag` of a finite set or its complement.
    pub fn set_to_bag(&mut self, set: Value) -> Option<Value> {
        let (usual, count) = match self.head(set)? {
            Head::Set => (Value::ZERO, Value::ONE),
            Head::CoSet => (Value::ONE, Value::ZERO),
            _ => return None,
        };
        if self.arity(set) > 1 && !self.has_plain_keys(set) {
            return None;
        }
        let arguments: Vec<Value> = self.arguments(set).flat_map(|element| [element, count]).collect();
        Some(self.bag_from(arguments, usual))
    }

    /// `Bag2Set` of a bag in which all but finitely many elements have the same count.
    pub fn bag_to_set(&mut self, bag: Value) -> Option<Value> {
        let (usual, counts) = self.bag_parts(bag)?;
        let inside = usual != Value::ZERO;
        let pairs: Vec<Value> = self.arguments(counts).collect();
        let exceptions: Vec<Value> = pairs
            .chunks_exact(2)
            .filter(|pair| (pair[1] != Value::ZERO) != inside)
            .map(|pair| pair[0])
            .collect();
        Some(self.make(if inside { Head::CoSet } else { Head::Set }, &exceptions))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::Terms;
    use super::*;

    fn small(number: i32) -> Value {
        Value::small(number).unwrap()
    }

    fn make(heap: &mut Heap, elements: &[(i32, i32)]) -> Option<Value> {
        let pairs: Vec<_> = elements.iter().map(|&(element, count)| (small(element), small(count))).collect();
        heap.bag_of(&pairs)
    }

    fn heap() -> Heap {
        Heap::new(Terms::new(&crate::typed::Program::default()))
    }

    #[test]
    fn counts_add_up_and_zeros_vanish() {
        let mut heap = heap();
        let bag = make(&mut heap, &[(1, 2), (3, 0), (1, 1)]).unwrap();
        assert_eq!(heap.arguments(bag).collect::<Vec<_>>(), [small(1), small(3)]);
        assert_eq!(
            (make(&mut heap, &[]), make(&mut heap, &[(1, 0)])),
            (Some(Value::EMPTY_BAG), Some(Value::EMPTY_BAG))
        );
        assert_eq!((make(&mut heap, &[(1, -1)]), heap.bag_size(Value::NIL)), (None, None));
        let set = heap.set_of(&[small(2), small(1)]);
        assert_eq!(heap.set_to_bag(set), make(&mut heap, &[(1, 1), (2, 1)]));
        let with_zero = heap.bag_override(bag, small(1), Value::ZERO).unwrap();
        assert_eq!((heap.arity(with_zero), heap.bag_by(true, Value::NIL, with_zero)), (2, Value::EMPTY_BAG));
        let by = heap.bag_by(false, Value::NIL, with_zero);
        assert_eq!(heap.head(by), Some(Head::BagBy));
        // All numbers except for 1, once each.
        let most = heap.make(Head::CoSet, &[small(1)]);
        let once = heap.set_to_bag(most).unwrap();
        assert_eq!(
            (heap.bag_count(once, small(1)), heap.bag_count(once, small(7))),
            (Some(small(0)), Some(small(1)))
        );
        assert_eq!(heap.bag_to_set(once), Some(most));
        let ones = make(&mut heap, &[(1, 1)]).unwrap();
        let all = heap.bag_union(once, ones).unwrap();
        assert_eq!(heap.bag_to_set(all), Some(Value::FULL_SET));
        assert_eq!(
            (heap.bag_difference(all, once), heap.bag_intersection(once, ones)),
            (Some(ones), Some(Value::EMPTY_BAG))
        );
        assert_eq!((heap.bag_subset(once, all), heap.bag_subset(all, once)), (Some(true), Some(false)));
    }

    #[test]
    fn unknown_results_are_stuck() {
        let mut heap = heap();
        let (one, two) = (heap.make(Head::Apply, &[small(1)]), heap.make(Head::Apply, &[small(2)]));
        let ones = heap.bag_of(&[(one, small(1))]).unwrap();
        let twos = heap.bag_of(&[(two, small(1))]).unwrap();
        assert_eq!((heap.bag_count(ones, one), heap.bag_count(ones, two)), (Some(Value::ONE), None));
        assert_eq!((heap.bag_intersection(ones, twos), heap.bag_difference(ones, twos)), (None, None));
        assert!(heap.bag_union(ones, twos).is_some());
        assert_eq!(heap.bag_difference(ones, ones), Some(Value::EMPTY_BAG));
        assert_eq!(heap.bag_difference(ones, Value::EMPTY_BAG), Some(ones));
    }

    proptest! {
        #[test]
        fn bags_are_counts(
            a in prop::collection::vec((0..8, 0..4), 0..8), b in prop::collection::vec((0..8, 0..4), 0..8),
        ) {
            let mut heap = heap();
            let model = |pairs: &[(i32, i32)]| {
                let mut model = BTreeMap::new();
                for &(element, count) in pairs {
                    *model.entry(element).or_insert(0) += count;
                }
                move |element: i32| model.get(&element).copied().unwrap_or(0)
            };
            let (left, right) = (model(&a), model(&b));
            let (x, y) = (make(&mut heap, &a).unwrap(), make(&mut heap, &b).unwrap());
            let of = |combine: &dyn Fn(i32, i32) -> i32| -> Vec<(i32, i32)> {
                (0..8).map(|element| (element, combine(left(element), right(element)))).collect()
            };
            let cases = [
                (heap.bag_union(x, y), of(&|a, b| a + b)),
                (heap.bag_intersection(x, y), of(&|a, b| a.min(b))),
                (heap.bag_difference(x, y), of(&|a, b| (a - b).max(0))),
            ];
            for (result, expected) in cases {
                prop_assert_eq!(result, make(&mut heap, &expected));
            }
            prop_assert_eq!(heap.bag_subset(x, y), Some((0..8).all(|element| left(element) <= right(element))));
            prop_assert_eq!(heap.bag_size(x), Some(small((0..8).map(&left).sum())));
            for element in 0..8 {
                prop_assert_eq!(heap.bag_count(x, small(element)), Some(small(left(element))));
            }
            let support: Vec<Value> = (0..8).filter(|&element| left(element) > 0).map(small).collect();
            let support = heap.set_of(&support);
            prop_assert_eq!(heap.bag_to_set(x), Some(support));
        }
    }
}
