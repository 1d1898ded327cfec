//! Membership and operations of sets and bags that are infinite or have elements that are not
//! plain.
//!
//! An operation without a normal form, such as the union of two sets given by predicates, stays as
//! a term. Membership is decided by looking into that term.

mod compare;
mod operations;

use std::sync::Arc;

use super::Machine;
use super::compare::Known;
use super::library::Tables;
use super::run::{Answer, deeper};
use crate::typed::{Builtin, SortId, SymbolId, SymbolKind};
use crate::value::{Head, Value};

/// The built-in function at the head of a term.
fn builtin_of(t: &Tables, head: Option<Head>) -> Option<Builtin> {
    match head {
        Some(Head::Symbol(symbol)) => match t.program.symbols.get(symbol.index())?.kind {
            SymbolKind::Builtin(builtin) => Some(builtin),
            _ => None,
        },
        _ => None,
    }
}

impl Machine {
    /// `element in container`
    pub(super) fn member(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        element: Value,
        container: Value,
    ) -> Answer {
        let found = match self.heap.head(container) {
            Some(Head::Nil) => return Ok(Value::FALSE),
            Some(Head::Cons) => match self.heap.list_contains(container, element) {
                Some(found) => return Ok(Value::bool(found)),
                None => self.list_member(t, symbol, element, container)?,
            },
            _ => {
                if let Some(found) = self.heap.set_contains(container, element) {
                    return Ok(Value::bool(found));
                }
                let Some(sort) = t.first_sort(symbol) else {
                    return Ok(self.stuck(symbol, &[element, container]));
                };
                if self.is_bag(t, container) {
                    let count = self.count_of(t, sort, element, container)?;
                    count.and_then(|count| self.positive(t, count))
                } else {
                    self.set_member(t, sort, element, container)?
                }
            }
        };
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[element, container])))
    }

    /// `count > 0`
    fn positive(&mut self, t: &Tables, count: Value) -> Option<Value> {
        if self.heap.is_number(count) {
            return Some(Value::bool(count != Value::ZERO));
        }
        let less = t.builtin(Builtin::Less, SortId::NAT)?;
        Some(self.stuck(less, &[Value::ZERO, count]))
    }

    pub(super) fn is_bag(&self, t: &Tables, container: Value) -> bool {
        match self.heap.head(container) {
            Some(Head::Bag | Head::BagBy) => true,
            Some(Head::Symbol(symbol)) => t.program.symbols.get(symbol.index()).is_some_and(|found| {
                let result = t.program.sorts.signature(found.sort).1;
                matches!(
                    t.program.sorts.get(result),
                    crate::typed::Sort::Container(
                        crate::syntax::Container::Bag | crate::syntax::Container::FBag,
                        _
                    )
                )
            }),
            _ => false,
        }
    }

    fn list_member(&mut self, t: &Arc<Tables>, symbol: SymbolId, element: Value, list: Value) -> Known {
        let Some(sort) = t.first_sort(symbol) else { return Ok(None) };
        let mut elements = self.heap.list_elements(list);
        let all: Vec<Value> = elements.by_ref().collect();
        let rest = elements.rest();
        let mut found =
            Some(if rest == Value::NIL { Value::FALSE } else { self.stuck(symbol, &[element, rest]) });
        for one in all.into_iter().rev() {
            let equal = self.equal_at(t, sort, element, one)?;
            if equal == Some(Value::TRUE) {
                found = equal;
                continue;
            }
            found = match (equal, found) {
                (Some(equal), Some(found)) => self.combine(t, Builtin::Or, equal, found),
                (_, Some(Value::TRUE)) => found,
                _ => None,
            };
        }
        Ok(found)
    }

    /// `element in set`
    pub(super) fn set_member(&mut self, t: &Arc<Tables>, sort: SortId, element: Value, set: Value) -> Known {
        if let Some(found) = self.heap.set_contains(set, element) {
            return Ok(Some(Value::bool(found)));
        }
        let head = self.heap.head(set);
        match head {
            Some(Head::Set | Head::CoSet) => {
                let all: Vec<Value> = self.heap.arguments(set).collect();
                let mut found = Some(Value::FALSE);
                for one in all.into_iter().rev() {
                    let equal = self.equal_at(t, sort, element, one)?;
                    if equal == Some(Value::TRUE) {
                        found = equal;
                        break;
                    }
                    found = found
                        .zip(equal)
                        .and_then(|(found, equal)| self.combine(t, Builtin::Or, equal, found));
                }
                match (head, found) {
                    (Some(Head::CoSet), Some(found)) => Ok(self.negate(t, found)),
                    _ => Ok(found),
                }
            }
            Some(Head::SetBy) => {
                let (function, exceptions) = (self.heap.argument(set, 0), self.heap.argument(set, 1));
                let usual = self.apply_values(t, function, &[element])?;
                match self.set_member(t, sort, element, exceptions)? {
                    Some(Value::FALSE) => Ok(Some(usual)),
                    Some(Value::TRUE) => Ok(self.negate(t, usual)),
                    Some(exception) => {
                        let equal = self.equal_at(t, SortId::BOOL, usual, exception)?;
                        Ok(equal.and_then(|equal| self.negate(t, equal)))
                    }
                    None => Ok(None),
                }
            }
            _ => {
                let Some(builtin) = builtin_of(t, head) else { return Ok(None) };
                let parts: Vec<Value> = self.heap.arguments(set).collect();
                match (builtin, &parts[..]) {
                    (Builtin::Complement, &[of]) => {
                        let inside = deeper(|| self.set_member(t, sort, element, of))?;
                        Ok(inside.and_then(|inside| self.negate(t, inside)))
                    }
                    (Builtin::Bag2Set, &[bag]) => {
                        let count = self.count_of(t, sort, element, bag)?;
                        Ok(count.and_then(|count| self.positive(t, count)))
                    }
                    (Builtin::Union | Builtin::Intersection | Builtin::Difference, &[left, right]) => {
                        let left = deeper(|| self.set_member(t, sort, element, left))?;
                        let right = deeper(|| self.set_member(t, sort, element, right))?;
                        Ok(left.zip(right).and_then(|(left, right)| self.both(t, builtin, left, right)))
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// Whether an element is in a union, intersection or difference, given whether it is in each
    /// operand.
    pub(super) fn both(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        left: Value,
        right: Value,
    ) -> Option<Value> {
        match builtin {
            Builtin::Union => self.combine(t, Builtin::Or, left, right),
            Builtin::Intersection => self.combine(t, Builtin::And, left, right),
            _ => {
                let right = self.negate(t, right)?;
                self.combine(t, Builtin::And, left, right)
            }
        }
    }

    /// `count(element, bag)`
    pub(super) fn count(&mut self, t: &Arc<Tables>, symbol: SymbolId, element: Value, bag: Value) -> Answer {
        if let Some(found) = self.heap.bag_count(bag, element) {
            return Ok(found);
        }
        let found = match t.first_sort(symbol) {
            Some(sort) => self.count_of(t, sort, element, bag)?,
            None => None,
        };
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[element, bag])))
    }

    /// The count of an element; `None` if that is stuck.
    pub(super) fn count_of(&mut self, t: &Arc<Tables>, sort: SortId, element: Value, bag: Value) -> Known {
        if let Some(found) = self.heap.bag_count(bag, element) {
            return Ok(Some(found));
        }
        let head = self.heap.head(bag);
        match head {
            Some(Head::Bag) => {
                let found = self.stored_count(t, sort, element, bag)?;
                Ok(found.map(|found| found.unwrap_or(Value::ZERO)))
            }
            Some(Head::BagBy) => {
                let (function, overrides) = (self.heap.argument(bag, 0), self.heap.argument(bag, 1));
                match self.stored_count(t, sort, element, overrides)? {
                    None => Ok(None),
                    Some(Some(count)) => Ok(Some(count)),
                    Some(None) if self.heap.is_number(function) => Ok(Some(function)),
                    Some(None) if self.heap.constant_function(function).is_some() => {
                        Ok(self.heap.constant_function(function))
                    }
                    Some(None) => self.apply_values(t, function, &[element]).map(Some),
                }
            }
            _ => {
                let Some(builtin) = builtin_of(t, head) else { return Ok(None) };
                let parts: Vec<Value> = self.heap.arguments(bag).collect();
                match (builtin, &parts[..]) {
                    (Builtin::Set2Bag, &[set]) => {
                        let inside = deeper(|| self.set_member(t, sort, element, set))?;
                        Ok(match inside {
                            Some(Value::TRUE) => Some(Value::ONE),
                            Some(Value::FALSE) => Some(Value::ZERO),
                            Some(open) => t
                                .builtin(Builtin::If, SortId::BOOL)
                                .map(|choice| self.stuck(choice, &[open, Value::ONE, Value::ZERO])),
                            None => None,
                        })
                    }
                    (Builtin::Union | Builtin::Intersection | Builtin::Difference, &[left, right]) => {
                        let left = deeper(|| self.count_of(t, sort, element, left))?;
                        let right = deeper(|| self.count_of(t, sort, element, right))?;
                        Ok(left.zip(right).and_then(|(left, right)| self.counts(t, builtin, left, right)))
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// The count of an element in a union, intersection or difference of bags, given its counts in
    /// the operands.
    pub(super) fn counts(
        &mut self,
        t: &Tables,
        builtin: Builtin,
        left: Value,
        right: Value,
    ) -> Option<Value> {
        if self.heap.is_number(left) && self.heap.is_number(right) {
            return match builtin {
                Builtin::Union => self.heap.add(left, right),
                Builtin::Intersection => self.heap.min(left, right),
                _ => {
                    let difference = self.heap.subtract(left, right)?;
                    self.heap.max(difference, Value::ZERO)
                }
            };
        }
        match (builtin, left, right) {
            (Builtin::Union, Value::ZERO, other) | (Builtin::Union, other, Value::ZERO) => Some(other),
            (Builtin::Union, ..) => {
                let symbol = t.builtin(Builtin::Add, SortId::NAT)?;
                Some(self.stuck(symbol, &[left, right]))
            }
            (Builtin::Intersection, Value::ZERO, _) | (Builtin::Intersection, _, Value::ZERO) => {
                Some(Value::ZERO)
            }
            (Builtin::Intersection, ..) if self.heap.same(left, right) => Some(left),
            (Builtin::Intersection, ..) => {
                let symbol = t.builtin(Builtin::Min, SortId::NAT)?;
                Some(self.stuck(symbol, &[left, right]))
            }
            (_, Value::ZERO, _) => Some(Value::ZERO),
            (_, _, Value::ZERO) => Some(left),
            _ if self.heap.same(left, right) => Some(Value::ZERO),
            _ => {
                let subtract = t.builtin(Builtin::Subtract, SortId::NAT)?;
                let max = t.builtin(Builtin::Max, SortId::NAT)?;
                let difference = self.stuck(subtract, &[left, right]);
                Some(self.stuck(max, &[Value::ZERO, difference]))
            }
        }
    }

    /// The count stored for an element of a finite bag: `Some(None)` if there is none, `None` if
    /// that is undecided.
    fn stored_count(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        element: Value,
        bag: Value,
    ) -> Result<Option<Option<Value>>, super::Fault> {
        let pairs: Vec<Value> = self.heap.arguments(bag).collect();
        let mut found = None;
        for pair in pairs.chunks_exact(2) {
            match (self.equal_at(t, sort, element, pair[0])?, found) {
                (Some(Value::TRUE), None) => found = Some(pair[1]),
                // Two terms stand for the same element.
                (Some(Value::TRUE), Some(before)) => match self.heap.add(before, pair[1]) {
                    Some(sum) => found = Some(sum),
                    None => return Ok(None),
                },
                (Some(Value::FALSE), _) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// `{element: count, …}`
    pub(super) fn bag_literal(&mut self, t: &Arc<Tables>, pairs: &[Value]) -> Answer {
        let _ = t;
        let all: Vec<(Value, Value)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        if let Some(bag) = self.heap.bag_of(&all) {
            return Ok(bag);
        }
        // If some counts are stuck, the known ones are added up and the others stay as they are.
        let (known, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|pair| self.heap.is_number(pair.1));
        let known = self.heap.bag_of(&known).unwrap_or(Value::EMPTY_BAG);
        let mut bag = known;
        for (element, count) in open {
            bag = self.heap.bag_override(bag, element, count).unwrap_or(bag);
        }
        Ok(bag)
    }
}
