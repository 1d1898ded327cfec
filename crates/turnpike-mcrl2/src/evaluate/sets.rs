//! Membership and operations of sets and bags, where more than finite ones of plain elements are concerned.
//!
//! An operation that has no normal form of its own, such as the union of two sets given by predicates, stays as a term; asking for a member
//! looks into it.

mod compare;

use std::sync::Arc;

use super::Machine;
use super::compare::Known;
use super::library::Tables;
use super::run::{Answer, deeper};
use crate::sorts::{Builtin, SortId, SymbolId, SymbolKind};
use crate::value::{Head, Value};

/// A term made by a built-in function.
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
                    count.and_then(|count| self.positive(count))
                } else {
                    self.set_member(t, sort, element, container)?
                }
            }
        };
        Ok(found.unwrap_or_else(|| self.stuck(symbol, &[element, container])))
    }

    fn positive(&self, count: Value) -> Option<Value> {
        self.heap.is_number(count).then_some(Value::bool(count != Value::ZERO))
    }

    fn is_bag(&self, t: &Tables, container: Value) -> bool {
        match self.heap.head(container) {
            Some(Head::Bag | Head::BagBy) => true,
            Some(Head::Symbol(symbol)) => t.program.symbols.get(symbol.index()).is_some_and(|found| {
                let result = t.program.sorts.signature(found.sort).1;
                matches!(
                    t.program.sorts.get(result),
                    crate::sorts::Sort::Container(
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
                for one in all {
                    match self.equal_at(t, sort, element, one)? {
                        Some(Value::TRUE) => {
                            found = Some(Value::TRUE);
                            break;
                        }
                        Some(equal) => {
                            found = found.and_then(|found| self.combine(t, Builtin::Or, found, equal))
                        }
                        None => found = None,
                    }
                }
                match (head, found) {
                    (Some(Head::CoSet), Some(found)) => Ok(self.opposite(t, found)),
                    _ => Ok(found),
                }
            }
            Some(Head::SetBy) => {
                let (function, exceptions) = (self.heap.argument(set, 0), self.heap.argument(set, 1));
                let usual = self.apply_values(t, function, &[element])?;
                match self.set_member(t, sort, element, exceptions)? {
                    Some(Value::FALSE) => Ok(Some(usual)),
                    Some(Value::TRUE) => Ok(self.opposite(t, usual)),
                    _ => Ok(None),
                }
            }
            _ => {
                let Some(builtin) = builtin_of(t, head) else { return Ok(None) };
                let parts: Vec<Value> = self.heap.arguments(set).collect();
                match (builtin, &parts[..]) {
                    (Builtin::Complement, &[of]) => {
                        let inside = deeper(|| self.set_member(t, sort, element, of))?;
                        Ok(inside.and_then(|inside| self.opposite(t, inside)))
                    }
                    (Builtin::Bag2Set, &[bag]) => {
                        let count = self.count_of(t, sort, element, bag)?;
                        Ok(count.and_then(|count| self.positive(count)))
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

    /// Whether something is in a union, intersection or difference.
    fn both(&mut self, t: &Arc<Tables>, builtin: Builtin, left: Value, right: Value) -> Option<Value> {
        match builtin {
            Builtin::Union => self.combine(t, Builtin::Or, left, right),
            Builtin::Intersection => self.combine(t, Builtin::And, left, right),
            _ => {
                let right = self.opposite(t, right)?;
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

    /// The count of an element; nothing when that is stuck.
    pub(super) fn count_of(&mut self, t: &Arc<Tables>, sort: SortId, element: Value, bag: Value) -> Known {
        if let Some(found) = self.heap.bag_count(bag, element) {
            return Ok(Some(found));
        }
        let head = self.heap.head(bag);
        match head {
            Some(Head::Bag) => {
                let found = self.stored(t, sort, element, bag)?;
                Ok(found.map(|found| found.unwrap_or(Value::ZERO)))
            }
            Some(Head::BagBy) => {
                let (function, overrides) = (self.heap.argument(bag, 0), self.heap.argument(bag, 1));
                match self.stored(t, sort, element, overrides)? {
                    None => Ok(None),
                    Some(Some(count)) => Ok(Some(count)),
                    Some(None) if self.heap.is_number(function) => Ok(Some(function)),
                    Some(None) => self.apply_values(t, function, &[element]).map(Some),
                }
            }
            _ => {
                let Some(builtin) = builtin_of(t, head) else { return Ok(None) };
                let parts: Vec<Value> = self.heap.arguments(bag).collect();
                match (builtin, &parts[..]) {
                    (Builtin::Set2Bag, &[set]) => {
                        let inside = deeper(|| self.set_member(t, sort, element, set))?;
                        Ok(inside
                            .and_then(Value::as_bool)
                            .map(|found| if found { Value::ONE } else { Value::ZERO }))
                    }
                    (Builtin::Union | Builtin::Intersection | Builtin::Difference, &[left, right]) => {
                        let left = deeper(|| self.count_of(t, sort, element, left))?;
                        let right = deeper(|| self.count_of(t, sort, element, right))?;
                        let Some((left, right)) = left.zip(right) else { return Ok(None) };
                        Ok(match builtin {
                            Builtin::Union => self.heap.add(left, right),
                            Builtin::Intersection => self.heap.min(left, right),
                            _ => {
                                let difference = self.heap.subtract(left, right);
                                difference.and_then(|count| self.heap.max(count, Value::ZERO))
                            }
                        })
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    /// The count stored for an element in a finite bag: `Some(None)` when there is none, `None` when that is open.
    fn stored(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        element: Value,
        bag: Value,
    ) -> Result<Option<Option<Value>>, super::Fault> {
        let pairs: Vec<Value> = self.heap.arguments(bag).collect();
        for pair in pairs.chunks_exact(2) {
            match self.equal_at(t, sort, element, pair[0])? {
                Some(Value::TRUE) => return Ok(Some(Some(pair[1]))),
                Some(Value::FALSE) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(None))
    }

    /// `!set`
    pub(super) fn complement(&mut self, t: &Arc<Tables>, symbol: SymbolId, set: Value) -> Value {
        if let Some(complement) = self.heap.set_complement(set) {
            return complement;
        }
        if builtin_of(t, self.heap.head(set)) == Some(Builtin::Complement) {
            return self.heap.argument(set, 0);
        }
        self.stuck(symbol, &[set])
    }

    /// `+`, `*` or `-` on sets or bags.
    pub(super) fn set_operation(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Answer {
        let bag = matches!(self.heap.head(left), Some(Head::Bag | Head::BagBy))
            || matches!(self.heap.head(right), Some(Head::Bag | Head::BagBy));
        let heap = &mut self.heap;
        let done = match (builtin, bag) {
            (Builtin::Union, false) => heap.set_union(left, right),
            (Builtin::Intersection, false) => heap.set_intersection(left, right),
            (_, false) => heap.set_difference(left, right),
            (Builtin::Union, true) => heap.bag_union(left, right),
            (Builtin::Intersection, true) => heap.bag_intersection(left, right),
            (_, true) => heap.bag_difference(left, right),
        };
        if let Some(done) = done {
            return Ok(done);
        }
        let element = t.first_sort(symbol).and_then(|sort| t.element_sort(sort));
        if let (Some(element), false) = (element, bag)
            && let Some(done) = self.mixed_operation(t, builtin, element, left, right)?
        {
            return Ok(done);
        }
        let empty = if bag { Value::EMPTY_BAG } else { Value::EMPTY_SET };
        Ok(match builtin {
            Builtin::Union if left == empty => right,
            Builtin::Union | Builtin::Difference if right == empty => left,
            Builtin::Intersection if left == empty || right == empty => empty,
            Builtin::Difference if left == empty => empty,
            Builtin::Union | Builtin::Intersection if !bag && self.heap.same(left, right) => left,
            _ => {
                let stuck = self.stuck(symbol, &[left, right]);
                if let (Some(element), true) = (element, bag)
                    && let Some(listed) = self.listed_bag(t, element, stuck, false)?
                {
                    return Ok(listed);
                }
                stuck
            }
        })
    }

    /// An operation where one set is finite, or cofinite, and the other given by a predicate or a term.
    fn mixed_operation(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Known {
        // What the predicate of the result is: constant, or that of an operand.
        let shape = |machine: &Self, set: Value| match machine.heap.head(set) {
            Some(Head::Set) => Some(Err(false)),
            Some(Head::CoSet) => Some(Err(true)),
            Some(Head::SetBy) => Some(Ok(machine.heap.argument(set, 0))),
            _ => None,
        };
        let elements = |machine: &Self, set: Value| -> Vec<Value> {
            let listed = if machine.heap.is(set, Head::SetBy) { machine.heap.argument(set, 1) } else { set };
            machine.heap.arguments(listed).collect()
        };
        let (one, other) = (shape(self, left), shape(self, right));
        // The operation as union or intersection of predicates, the right one turned round for a difference.
        let result = match (builtin, one, other) {
            (Builtin::Union, Some(Err(false)), Some(p)) | (Builtin::Union, Some(p), Some(Err(false))) => p,
            (Builtin::Union, Some(Err(true)), Some(_)) | (Builtin::Union, Some(_), Some(Err(true))) => {
                Err(true)
            }
            (Builtin::Intersection, Some(Err(true)), Some(p))
            | (Builtin::Intersection, Some(p), Some(Err(true)))
            | (Builtin::Difference, Some(p), Some(Err(false))) => p,
            (Builtin::Intersection | Builtin::Difference, Some(Err(false)), _)
            | (Builtin::Intersection, _, Some(Err(false)))
            | (Builtin::Difference, Some(_), Some(Err(true))) => Err(false),
            _ => return Ok(None),
        };
        let mut candidates = Vec::new();
        for (set, shape) in [(left, one), (right, other)] {
            if shape.is_some() {
                candidates.extend(elements(self, set));
            }
        }
        let mut exceptions = Vec::new();
        for element in candidates {
            let inside = [left, right].map(|set| deeper(|| self.set_member(t, sort, element, set)));
            let [Some(one), Some(other)] = [inside[0]?, inside[1]?] else { return Ok(None) };
            let inside = self.both(t, builtin, one, other);
            let usual = match result {
                Err(constant) => Value::bool(constant),
                Ok(function) => self.apply_values(t, function, &[element])?,
            };
            match (inside.and_then(Value::as_bool), usual.as_bool()) {
                (Some(inside), Some(usual)) if inside != usual => exceptions.push(element),
                (Some(_), Some(_)) => {}
                _ => return Ok(None),
            }
        }
        let exceptions = self.heap.set_of(&exceptions);
        Ok(Some(match result {
            Err(constant) => self.heap.set_by(Some(constant), Value::FALSE, exceptions),
            Ok(function) => self.heap.set_by(None, function, exceptions),
        }))
    }

    /// `{element: count, …}`
    pub(super) fn bag_literal(&mut self, t: &Arc<Tables>, pairs: &[Value]) -> Answer {
        let _ = t;
        let all: Vec<(Value, Value)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        if let Some(bag) = self.heap.bag_of(&all) {
            return Ok(bag);
        }
        // A count that is stuck: those that are known add up, the others stay as they are.
        let (known, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|pair| self.heap.is_number(pair.1));
        let known = self.heap.bag_of(&known).unwrap_or(Value::EMPTY_BAG);
        let mut bag = known;
        for (element, count) in open {
            bag = self.heap.bag_override(bag, element, count).unwrap_or(bag);
        }
        Ok(bag)
    }
}
