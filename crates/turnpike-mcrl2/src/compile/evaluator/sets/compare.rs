//! Equality and inclusion of sets and bags.

use std::sync::Arc;

use crate::compile::evaluator::compare::Known;
use crate::compile::evaluator::distinguish::Difference;
use crate::compile::evaluator::library::Tables;
use crate::compile::evaluator::{Fault, Machine};
use crate::typed::SortId;
use crate::value::{Head, Value};

impl Machine {
    pub(in crate::compile::evaluator) fn equal_sets(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        let heads = (self.heap.head(left), self.heap.head(right));
        match heads {
            (Some(Head::Set), Some(Head::Set)) | (Some(Head::CoSet), Some(Head::CoSet)) => {
                let mut all = Some(Value::TRUE);
                for (from, into) in [(left, right), (right, left)] {
                    let elements: Vec<Value> = self.heap.arguments(from).collect();
                    for element in elements {
                        let inside = self.set_member(t, sort, element, into)?;
                        match (inside, heads.0 == Some(Head::Set)) {
                            (Some(Value::TRUE), true) | (Some(Value::FALSE), false) => {}
                            (Some(Value::FALSE), true) | (Some(Value::TRUE), false) => {
                                return Ok(Some(Value::FALSE));
                            }
                            _ => all = None,
                        }
                    }
                }
                return Ok(all);
            }
            (Some(Head::SetBy), Some(Head::SetBy))
                if self.heap.same(self.heap.argument(left, 0), self.heap.argument(right, 0)) =>
            {
                let (one, other) = (self.heap.argument(left, 1), self.heap.argument(right, 1));
                return self.equal_sets(t, sort, one, other);
            }
            _ => {}
        }
        if let Some(values) = self.finite(t, sort) {
            for &value in values.iter() {
                let one = self.set_member(t, sort, value, left)?.and_then(Value::as_bool);
                let other = self.set_member(t, sort, value, right)?.and_then(Value::as_bool);
                match (one, other) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(_), Some(_)) => return Ok(Some(Value::FALSE)),
                    _ => return Ok(None),
                }
            }
            return Ok(Some(Value::TRUE));
        }
        let explicit = |head| matches!(head, Some(Head::Set | Head::CoSet));
        if !(explicit(heads.0) && explicit(heads.1))
            && let Some(one) = self.listed_set(t, sort, left)?
            && let Some(other) = self.listed_set(t, sort, right)?
        {
            if self.heap.same(one, other) {
                return Ok(Some(Value::TRUE));
            }
            return self.equal_sets(t, sort, one, other);
        }
        if let (Some(Head::Set), Some(Head::CoSet)) | (Some(Head::CoSet), Some(Head::Set)) = heads
            && self.is_infinite(t, sort)
        {
            return Ok(Some(Value::FALSE));
        }
        if !(is_set(heads.0) && is_set(heads.1)) {
            return Ok(None);
        }
        if self.same_functions(t, sort, left, right, false)? {
            return Ok(Some(Value::TRUE));
        }
        let differ = self.differ(t, Difference::Sets, sort, left, right)?;
        Ok(differ.map(|differ| Value::bool(!differ)))
    }

    /// Whether two sets or bags agree on every element.
    fn same_functions(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        left: Value,
        right: Value,
        bag: bool,
    ) -> Result<bool, Fault> {
        let done = self.under(1, |machine, first| {
            let element = machine.heap.free(first);
            let [one, other] = [left, right].map(|side| {
                if bag {
                    machine.count_of(t, sort, element, side)
                } else {
                    machine.set_member(t, sort, element, side)
                }
            });
            Ok(one?.zip(other?).is_some_and(|(one, other)| machine.heap.same(one, other)))
        })?;
        Ok(done.is_some_and(|(same, _)| same))
    }

    pub(in crate::compile::evaluator) fn equal_bags(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        let mut all = Some(Value::TRUE);
        let elements: Vec<Value> = match (self.heap.head(left), self.heap.head(right)) {
            (Some(Head::Bag), Some(Head::Bag)) => {
                self.heap.arguments(left).step_by(2).chain(self.heap.arguments(right).step_by(2)).collect()
            }
            _ => match self.finite(t, sort) {
                Some(values) => values.to_vec(),
                None if is_bag(self.heap.head(left)) && is_bag(self.heap.head(right)) => {
                    if self.same_functions(t, sort, left, right, true)? {
                        return Ok(Some(Value::TRUE));
                    }
                    let differ = self.differ(t, Difference::Bags, sort, left, right)?;
                    return Ok(differ.map(|differ| Value::bool(!differ)));
                }
                None => return Ok(None),
            },
        };
        for element in elements {
            let one = self.count_of(t, sort, element, left)?;
            let other = self.count_of(t, sort, element, right)?;
            let Some((one, other)) = one.zip(other) else {
                all = None;
                continue;
            };
            match self.heap.compare_numbers(one, other) {
                Some(std::cmp::Ordering::Equal) => {}
                Some(_) => return Ok(Some(Value::FALSE)),
                None => all = None,
            }
        }
        Ok(all)
    }

    /// `left <= right` on sets or bags.
    pub(in crate::compile::evaluator) fn subset(
        &mut self,
        t: &Arc<Tables>,
        bag: bool,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        let known = if bag { self.heap.bag_subset(left, right) } else { self.heap.set_subset(left, right) };
        if let Some(known) = known {
            return Ok(Some(Value::bool(known)));
        }
        let elements: Vec<Value> = match self.heap.head(left) {
            Some(Head::Set) => self.heap.arguments(left).collect(),
            Some(Head::Bag) => self.heap.arguments(left).step_by(2).collect(),
            _ => match self.finite(t, sort) {
                Some(values) => values.to_vec(),
                None if bag => return self.infinite_subset(t, Difference::Subbag, sort, left, right),
                None => match self.listed_set(t, sort, left)? {
                    Some(listed) => self.heap.arguments(listed).collect(),
                    None => return self.infinite_subset(t, Difference::Subset, sort, left, right),
                },
            },
        };
        let mut all = Some(Value::TRUE);
        for element in elements {
            let inside = if bag {
                let one = self.count_of(t, sort, element, left)?;
                let other = self.count_of(t, sort, element, right)?;
                one.zip(other)
                    .and_then(|(one, other)| self.heap.compare_numbers(one, other))
                    .map(|order| order != std::cmp::Ordering::Greater)
            } else {
                match self.set_member(t, sort, element, left)?.and_then(Value::as_bool) {
                    Some(false) => Some(true),
                    Some(true) => self.set_member(t, sort, element, right)?.and_then(Value::as_bool),
                    None => None,
                }
            };
            match inside {
                Some(true) => {}
                Some(false) => return Ok(Some(Value::FALSE)),
                None => all = None,
            }
        }
        Ok(all)
    }

    /// `left <= right` on sets or bags over an infinite sort, when the left one is not finite.
    fn infinite_subset(
        &mut self,
        t: &Arc<Tables>,
        difference: Difference,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        let heads = (self.heap.head(left), self.heap.head(right));
        let bag = difference == Difference::Subbag;
        if heads == (Some(Head::CoSet), Some(Head::Set)) && self.is_infinite(t, sort) {
            return Ok(Some(Value::FALSE));
        }
        let known = if bag { is_bag } else { is_set };
        if !known(heads.0) || !known(heads.1) {
            return Ok(None);
        }
        if self.same_functions(t, sort, left, right, bag)? {
            return Ok(Some(Value::TRUE));
        }
        let more = self.differ(t, difference, sort, left, right)?;
        Ok(more.map(|more| Value::bool(!more)))
    }
}

fn is_set(head: Option<Head>) -> bool {
    matches!(head, Some(Head::Set | Head::CoSet | Head::SetBy))
}

fn is_bag(head: Option<Head>) -> bool {
    matches!(head, Some(Head::Bag | Head::BagBy))
}
