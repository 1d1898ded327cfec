//! Equality, inclusion and order of partial values, decided by the known parts if possible.

use super::candidate::Candidate;
use super::evaluate::Evaluation;
use super::partial::Partial;
use crate::value::{Head, Value};

/// `None` if it depends on the unknown parts.
type Answer = Option<bool>;

fn both(one: Answer, other: Answer) -> Answer {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn either(one: Answer, other: Answer) -> Answer {
    both(one.map(|one| !one), other.map(|other| !other)).map(|none| !none)
}

impl Evaluation<'_> {
    /// The finite set of some elements, some of which may turn out to be equal.
    pub(super) fn set(&mut self, elements: Vec<Partial>, at: &Candidate) -> Partial {
        match self.all_known(&elements, at) {
            Some(values) => Partial::Known(self.machine.heap.set_of(&values)),
            None => Partial::Node(Head::Set, elements.into()),
        }
    }

    /// The finite bag of some elements, each followed by its count.
    pub(super) fn bag(&mut self, pairs: Vec<Partial>, at: &Candidate) -> Partial {
        if let Some(values) = self.all_known(&pairs, at) {
            let pairs: Vec<(Value, Value)> = values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            if let Some(bag) = self.machine.heap.bag_of(&pairs) {
                return Partial::Known(bag);
            }
        }
        Partial::Node(Head::Bag, pairs.into())
    }

    /// The elements of a finite set.
    pub(super) fn set_elements(&self, partial: &Partial, at: &Candidate) -> Option<Vec<Partial>> {
        match partial {
            Partial::Node(Head::Set, elements) => Some(elements.to_vec()),
            _ => {
                let value = self.known(partial, at)?;
                let heap = &self.machine.heap;
                heap.is(value, Head::Set).then(|| heap.arguments(value).map(Partial::Known).collect())
            }
        }
    }

    /// The elements of a finite bag, each followed by its count.
    fn bag_elements(&self, partial: &Partial, at: &Candidate) -> Option<Vec<Partial>> {
        match partial {
            Partial::Node(Head::Bag, pairs) => Some(pairs.to_vec()),
            _ => {
                let value = self.known(partial, at)?;
                let heap = &self.machine.heap;
                heap.is(value, Head::Bag).then(|| heap.arguments(value).map(Partial::Known).collect())
            }
        }
    }

    /// Whether an element is among some others.
    pub(super) fn among(&mut self, element: &Partial, all: &[Partial], at: &Candidate) -> Answer {
        let mut found = Some(false);
        for one in all {
            found = either(found, self.equal(element, one, at));
            if found == Some(true) {
                break;
            }
        }
        found
    }

    fn is_subset(&mut self, one: &[Partial], other: &[Partial], at: &Candidate) -> Answer {
        let mut all = Some(true);
        for element in one {
            all = both(all, self.among(element, other, at));
            if all == Some(false) {
                break;
            }
        }
        all
    }

    /// `Some(false)` if an element of one bag is certainly missing from the other. Elements with
    /// counts that may be 0 are ignored.
    fn has_elements(&mut self, one: &[Partial], other: &[Partial], at: &Candidate) -> Answer {
        let elements: Vec<Partial> = other.iter().step_by(2).cloned().collect();
        for pair in one.chunks_exact(2) {
            let positive = self.range(&pair[1], at).from.is_some_and(|from| from > 0);
            if positive && self.among(&pair[0], &elements, at) == Some(false) {
                return Some(false);
            }
        }
        None
    }

    /// Whether two sets or bags are equal; `None` if they are not sets or bags.
    pub(super) fn equal_collections(
        &mut self,
        left: &Partial,
        right: &Partial,
        at: &Candidate,
    ) -> Option<Answer> {
        if let (Some(one), Some(other)) = (self.set_elements(left, at), self.set_elements(right, at)) {
            let (part, whole) = (self.is_subset(&one, &other, at), self.is_subset(&other, &one, at));
            return Some(both(part, whole));
        }
        if let (Some(one), Some(other)) = (self.bag_elements(left, at), self.bag_elements(right, at)) {
            let (part, whole) = (self.has_elements(&one, &other, at), self.has_elements(&other, &one, at));
            return Some(both(part, whole));
        }
        None
    }

    /// `left < right`, or `left <= right`.
    pub(super) fn less(&mut self, strict: bool, left: &Partial, right: &Partial, at: &Candidate) -> Answer {
        if let (Some(one), Some(other)) = (self.set_elements(left, at), self.set_elements(right, at)) {
            let part = self.is_subset(&one, &other, at);
            if !strict || part == Some(false) {
                return part;
            }
            return both(part, self.is_subset(&other, &one, at).map(|whole| !whole));
        }
        if let (Some(one), Some(other)) = (self.bag_elements(left, at), self.bag_elements(right, at)) {
            return self.has_elements(&one, &other, at);
        }
        let (Some((head, parts)), Some((other, others))) = (self.open(left, at), self.open(right, at)) else {
            let (one, other) = (self.range(left, at), self.range(right, at));
            return if strict { one.less(other) } else { one.less_equal(other) };
        };
        // Equations may define another order.
        if !self.narrowing.natural {
            return None;
        }
        match (head, other) {
            (Head::Nil, Head::Nil) => Some(!strict),
            (Head::Nil, Head::Cons) => Some(true),
            (Head::Cons, Head::Nil) => Some(false),
            (Head::Cons, Head::Cons) => self.less_parts(strict, &parts, &others, at),
            (Head::Symbol(one), Head::Symbol(other)) => {
                let free = |symbol| self.narrowing.terms.free.get(&symbol) == Some(&true);
                if !free(one) || !free(other) {
                    None
                } else if one != other {
                    Some(one < other)
                } else {
                    self.less_parts(strict, &parts, &others, at)
                }
            }
            _ => None,
        }
    }

    /// Compares two values with the same constructor by the first parts that differ.
    fn less_parts(&mut self, strict: bool, ones: &[Partial], others: &[Partial], at: &Candidate) -> Answer {
        let Some(((one, ones), (other, others))) = ones.split_first().zip(others.split_first()) else {
            return Some(!strict);
        };
        if self.steps == 0 {
            return None;
        }
        self.steps -= 1;
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
            let equal = self.equal(one, other, at);
            if equal == Some(true) {
                return self.less_parts(strict, ones, others, at);
            }
            // The tail of a list is a list itself: a non-strict comparison stays non-strict.
            if ones.is_empty() {
                return self.less(strict, one, other, at);
            }
            let smaller = self.less(true, one, other, at);
            let rest = self.less_parts(strict, ones, others, at);
            either(smaller, both(equal, rest))
        })
    }
}
