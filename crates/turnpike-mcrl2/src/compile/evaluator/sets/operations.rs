//! Union, intersection, difference, complement, and conversions between sets and bags.
//!
//! An infinite set or bag is a function with exceptions. The function of a result is composed of
//! those of its operands, in normal form. The exceptions are the elements of either operand for
//! which this function is wrong.

use std::sync::Arc;

use super::builtin_of;
use crate::compile::evaluator::compare::Known;
use crate::compile::evaluator::library::Tables;
use crate::compile::evaluator::run::{Answer, deeper};
use crate::compile::evaluator::{Fault, Machine};
use crate::typed::{Builtin, SortId, SymbolId};
use crate::value::{Head, Value};

/// The membership or count of all elements that are not exceptions: a constant, or given by a
/// function.
#[derive(Clone, Copy, Debug)]
enum Usual {
    Always(Value),
    By(Value),
}

use Usual::{Always, By};

/// An operation on two sets or bags, one of which is given by a function or a term.
#[derive(Clone, Copy, Debug)]
struct Mixed {
    builtin: Builtin,
    /// The sort of the elements.
    sort: SortId,
    left: Value,
    right: Value,
    /// The usual membership or count in the result.
    usual: Usual,
}

impl Machine {
    /// `!set`
    pub(in crate::compile::evaluator) fn complement(
        &mut self,
        t: &Arc<Tables>,
        symbol: SymbolId,
        set: Value,
    ) -> Answer {
        if let Some(complement) = self.heap.set_complement(set) {
            return Ok(complement);
        }
        if builtin_of(t, self.heap.head(set)) == Some(Builtin::Complement) {
            return Ok(self.heap.argument(set, 0));
        }
        let stuck = self.stuck(symbol, &[set]);
        if !self.heap.is(set, Head::SetBy) {
            return Ok(stuck);
        }
        let Some(sort) = t.first_sort(symbol).and_then(|sort| t.element_sort(sort)) else { return Ok(stuck) };
        let (function, exceptions) = (self.heap.argument(set, 0), self.heap.argument(set, 1));
        let plain = self.set_usual(By(function));
        let term = self.stuck(symbol, &[plain]);
        Ok(match self.usual_of(t, sort, function, term, false)? {
            Some(usual) => self.set_with(usual, exceptions),
            None => stuck,
        })
    }

    /// `+`, `*` or `-` on sets or bags.
    pub(in crate::compile::evaluator) fn set_operation(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        left: Value,
        right: Value,
    ) -> Answer {
        let bag = matches!(self.heap.head(left), Some(Head::Bag | Head::BagBy))
            || matches!(self.heap.head(right), Some(Head::Bag | Head::BagBy));
        let element = t.first_sort(symbol).and_then(|sort| t.element_sort(sort));
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
            return Ok(self.with_domain(t, element, done));
        }
        let empty = if bag { Value::EMPTY_BAG } else { Value::EMPTY_SET };
        match builtin {
            Builtin::Union if left == empty => return Ok(right),
            Builtin::Union | Builtin::Difference if right == empty => return Ok(left),
            Builtin::Intersection if left == empty || right == empty => return Ok(empty),
            Builtin::Difference if left == empty || self.heap.same(left, right) => return Ok(empty),
            Builtin::Intersection if self.heap.same(left, right) => return Ok(left),
            Builtin::Union if !bag && self.heap.same(left, right) => return Ok(left),
            _ => {}
        }
        if let Some(element) = element {
            let sides = (self.usual(left), self.usual(right));
            let done = match self.combine_usual(t, builtin, symbol, element, sides, bag)? {
                None => None,
                Some(usual) => {
                    let operation = Mixed { builtin, sort: element, left, right, usual };
                    if bag { self.mixed_bags(t, operation)? } else { self.mixed_sets(t, operation)? }
                }
            };
            if let Some(done) = done {
                return Ok(done);
            }
        }
        let stuck = self.stuck(symbol, &[left, right]);
        if let (Some(element), true) = (element, bag)
            && let Some(listed) = self.listed_bag(t, element, stuck, false)?
        {
            return Ok(listed);
        }
        Ok(stuck)
    }

    /// A bag in which all elements have the same count, with the sort of its elements.
    pub(in crate::compile::evaluator) fn with_domain(
        &mut self,
        t: &Tables,
        element: Option<SortId>,
        bag: Value,
    ) -> Value {
        if !self.heap.is(bag, Head::BagBy) {
            return bag;
        }
        let (usual, counts) = (self.heap.argument(bag, 0), self.heap.argument(bag, 1));
        if !self.heap.is_number(usual) {
            return bag;
        }
        let function = element.and_then(|element| self.constant_function(t, element, usual));
        function.map_or(bag, |function| self.heap.make(Head::BagBy, &[function, counts]))
    }

    /// The membership or count of all elements of a set or bag but the exceptions.
    fn usual(&self, of: Value) -> Option<Usual> {
        match self.heap.head(of)? {
            Head::Set => Some(Always(Value::FALSE)),
            Head::CoSet => Some(Always(Value::TRUE)),
            Head::Bag => Some(Always(Value::ZERO)),
            Head::SetBy | Head::BagBy => {
                let function = self.heap.argument(of, 0);
                Some(match self.heap.constant_function(function) {
                    Some(constant) => Always(constant),
                    None if self.heap.is_number(function) => Always(function),
                    None => By(function),
                })
            }
            _ => None,
        }
    }

    /// The membership or count of all elements according to a term.
    fn usual_of(
        &mut self,
        t: &Arc<Tables>,
        sort: SortId,
        like: Value,
        term: Value,
        bag: bool,
    ) -> Result<Option<Usual>, Fault> {
        let function = self.function_of(t, sort, like, term, bag)?;
        Ok(function.map(|function| match self.heap.constant_function(function) {
            Some(constant) => Always(constant),
            None => By(function),
        }))
    }

    /// The set without exceptions.
    fn set_usual(&mut self, usual: Usual) -> Value {
        self.set_with(usual, Value::EMPTY_SET)
    }

    fn set_with(&mut self, usual: Usual, exceptions: Value) -> Value {
        match usual {
            Always(constant) => self.heap.set_by(constant.as_bool(), constant, exceptions),
            By(function) => self.heap.set_by(None, function, exceptions),
        }
    }

    fn bag_usual(&mut self, usual: Usual) -> Value {
        match usual {
            Always(Value::ZERO) => Value::EMPTY_BAG,
            Always(number) | By(number) => self.heap.make(Head::BagBy, &[number, Value::EMPTY_BAG]),
        }
    }

    /// The usual membership or count in a result: that of an operand, or a function composed of
    /// both.
    fn combine_usual(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        sort: SortId,
        sides: (Option<Usual>, Option<Usual>),
        bag: bool,
    ) -> Result<Option<Usual>, Fault> {
        let nothing = if bag { Value::ZERO } else { Value::FALSE };
        Ok(match (builtin, sides.0, sides.1) {
            (Builtin::Intersection | Builtin::Difference, Some(Always(none)), _)
            | (Builtin::Intersection, _, Some(Always(none)))
                if none == nothing =>
            {
                Some(Always(nothing))
            }
            (_, None, _) | (_, _, None) => None,
            (Builtin::Union, Some(Always(none)), Some(other))
            | (Builtin::Union | Builtin::Difference, Some(other), Some(Always(none)))
                if none == nothing =>
            {
                Some(other)
            }
            (Builtin::Union, Some(Always(Value::TRUE)), _)
            | (Builtin::Union, _, Some(Always(Value::TRUE))) => Some(Always(Value::TRUE)),
            (Builtin::Intersection, Some(Always(Value::TRUE)), Some(other))
            | (Builtin::Intersection, Some(other), Some(Always(Value::TRUE))) => Some(other),
            (Builtin::Difference, _, Some(Always(Value::TRUE))) => Some(Always(Value::FALSE)),
            (Builtin::Difference, Some(By(one)), Some(By(other))) if self.heap.same(one, other) => {
                Some(Always(nothing))
            }
            (Builtin::Intersection, Some(By(one)), Some(By(other))) if self.heap.same(one, other) => {
                Some(By(one))
            }
            (Builtin::Union, Some(By(one)), Some(By(other))) if !bag && self.heap.same(one, other) => {
                Some(By(one))
            }
            (_, Some(one), Some(other)) => {
                let like = match (one, other) {
                    (By(function), _) | (_, By(function)) => function,
                    _ => Value::FALSE,
                };
                let sides = if bag {
                    [self.bag_usual(one), self.bag_usual(other)]
                } else {
                    [self.set_usual(one), self.set_usual(other)]
                };
                let term = self.stuck(symbol, &sides);
                self.usual_of(t, sort, like, term, bag)?
            }
        })
    }

    /// Evaluates the usual membership or count for an element.
    fn usually(&mut self, t: &Arc<Tables>, usual: Usual, element: Value) -> Answer {
        match usual {
            Always(constant) => Ok(constant),
            By(function) => self.apply_values(t, function, &[element]),
        }
    }

    /// An operation on sets, one of which is given by a predicate or a term.
    fn mixed_sets(&mut self, t: &Arc<Tables>, operation: Mixed) -> Known {
        let Mixed { builtin, sort, left, right, usual } = operation;
        let mut candidates = Vec::new();
        for set in [left, right] {
            let listed = if self.heap.is(set, Head::SetBy) { self.heap.argument(set, 1) } else { set };
            if let Some(Head::Set | Head::CoSet) = self.heap.head(listed) {
                candidates.extend(self.heap.arguments(listed));
            }
        }
        let mut exceptions = Vec::new();
        for element in candidates {
            let one = deeper(|| self.set_member(t, sort, element, left))?;
            let other = deeper(|| self.set_member(t, sort, element, right))?;
            let Some((one, other)) = one.zip(other) else { return Ok(None) };
            let inside = self.both(t, builtin, one, other);
            let usually = self.usually(t, usual, element)?;
            match (inside.and_then(Value::as_bool), usually.as_bool()) {
                (Some(inside), Some(usually)) if inside != usually => exceptions.push(element),
                (Some(_), Some(_)) => {}
                _ => return Ok(None),
            }
        }
        let exceptions = self.heap.set_of(&exceptions);
        Ok(Some(self.set_with(usual, exceptions)))
    }

    /// An operation on bags, one of which is given by a function or a term.
    fn mixed_bags(&mut self, t: &Arc<Tables>, operation: Mixed) -> Known {
        let Mixed { builtin, sort, left, right, usual } = operation;
        let mut candidates = Vec::new();
        for bag in [left, right] {
            let listed = if self.heap.is(bag, Head::BagBy) { self.heap.argument(bag, 1) } else { bag };
            if self.heap.is(listed, Head::Bag) {
                candidates.extend(self.heap.arguments(listed).step_by(2));
            }
        }
        self.bag_with(t, usual, &candidates, |machine, element| {
            let one = deeper(|| machine.count_of(t, sort, element, left))?;
            let other = deeper(|| machine.count_of(t, sort, element, right))?;
            Ok(one.zip(other).and_then(|(one, other)| machine.counts(t, builtin, one, other)))
        })
    }

    /// The bag with these counts for the candidates and the usual count for all other elements.
    /// `None` if a count is stuck.
    fn bag_with(
        &mut self,
        t: &Arc<Tables>,
        usual: Usual,
        candidates: &[Value],
        mut count: impl FnMut(&mut Self, Value) -> Known,
    ) -> Known {
        let mut counts = Value::EMPTY_BAG;
        for &element in candidates {
            let Some(count) = count(self, element)?.filter(|&count| self.heap.is_number(count)) else {
                return Ok(None);
            };
            let usually = self.usually(t, usual, element)?;
            if !self.heap.is_number(usually) {
                return Ok(None);
            }
            if !self.heap.same(count, usually) {
                let Some(more) = self.heap.bag_override(counts, element, count) else { return Ok(None) };
                counts = more;
            }
        }
        Ok(Some(match usual {
            Always(Value::ZERO) => counts,
            Always(usual) | By(usual) => self.heap.make(Head::BagBy, &[usual, counts]),
        }))
    }

    /// `Set2Bag` and `Bag2Set` of a set or bag given by a function.
    pub(in crate::compile::evaluator) fn convert_collection(
        &mut self,
        t: &Arc<Tables>,
        builtin: Builtin,
        symbol: SymbolId,
        of: Value,
    ) -> Known {
        let Some(sort) = t.first_sort(symbol).and_then(|sort| t.element_sort(sort)) else { return Ok(None) };
        let Some(By(function)) = self.usual(of) else { return Ok(None) };
        let exceptions = self.heap.argument(of, 1);
        if builtin == Builtin::Set2Bag {
            let plain = self.set_usual(By(function));
            let term = self.stuck(symbol, &[plain]);
            let Some(usual) = self.usual_of(t, sort, function, term, true)? else { return Ok(None) };
            let candidates: Vec<Value> = self.heap.arguments(exceptions).collect();
            return self.bag_with(t, usual, &candidates, |machine, element| {
                let inside = machine.set_member(t, sort, element, of)?.and_then(Value::as_bool);
                Ok(inside.map(|inside| if inside { Value::ONE } else { Value::ZERO }))
            });
        }
        let plain = self.bag_usual(By(function));
        let term = self.stuck(symbol, &[plain]);
        let Some(usual) = self.usual_of(t, sort, function, term, false)? else { return Ok(None) };
        let candidates: Vec<Value> = self.heap.arguments(exceptions).step_by(2).collect();
        let mut different = Vec::new();
        for element in candidates {
            let count = self.count_of(t, sort, element, of)?.filter(|&count| self.heap.is_number(count));
            let Some(count) = count else { return Ok(None) };
            match self.usually(t, usual, element)?.as_bool() {
                Some(usually) if usually != (count != Value::ZERO) => different.push(element),
                Some(_) => {}
                None => return Ok(None),
            }
        }
        let different = self.heap.set_of(&different);
        Ok(Some(self.set_with(usual, different)))
    }
}
