//! Equality and inclusion of sets and bags.

use std::sync::Arc;

use crate::evaluate::Machine;
use crate::evaluate::compare::Known;
use crate::evaluate::library::Tables;
use crate::sorts::SortId;
use crate::value::{Head, Value};

impl Machine {
    pub(in crate::evaluate) fn equal_sets(
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
        let endless = sort.is_number()
            || matches!(
                t.program.sorts.get(sort),
                crate::sorts::Sort::Container(crate::syntax::Container::List, _)
            );
        Ok(match heads {
            (Some(Head::Set), Some(Head::CoSet)) | (Some(Head::CoSet), Some(Head::Set)) if endless => {
                Some(Value::FALSE)
            }
            _ => None,
        })
    }

    pub(in crate::evaluate) fn equal_bags(
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
    pub(in crate::evaluate) fn subset(
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
                None if bag => return Ok(None),
                None => match self.listed_set(t, sort, left)? {
                    Some(listed) => self.heap.arguments(listed).collect(),
                    None => return Ok(None),
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
}
