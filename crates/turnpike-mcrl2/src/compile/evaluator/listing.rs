//! Enumerates the elements of sets and bags: over a finite sort, or by solving the predicate of a
//! comprehension.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::compare::Known;
use super::library::Tables;
use super::run::deeper;
use super::{Fault, Machine, Scope};
use crate::compile::solver::{Plan, QUANTIFIER_LIMIT, Query};
use crate::typed::{Builtin, Expression, SortId, SymbolKind};
use crate::value::{Head, Value};

/// A compiled enumeration of the members of a comprehension.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    plan: Plan,
    /// The slots of the captured values.
    captured: Box<[u32]>,
    member: u32,
    frame: usize,
}

impl Machine {
    /// A set or bag over a finite sort as a finite bag. Members of a set have the count 1.
    pub(super) fn listed_bag(&mut self, t: &Arc<Tables>, sort: SortId, of: Value, set: bool) -> Known {
        let Some(values) = self.finite(t, sort) else { return Ok(None) };
        let mut pairs = Vec::new();
        for &value in values.iter() {
            let count = if set {
                let inside = self.set_member(t, sort, value, of)?.and_then(Value::as_bool);
                inside.map(|inside| if inside { Value::ONE } else { Value::ZERO })
            } else {
                self.count_of(t, sort, value, of)?
            };
            match count.filter(|&count| self.heap.is_number(count)) {
                Some(count) => pairs.push((value, count)),
                None => return Ok(None),
            }
        }
        Ok(self.heap.bag_of(&pairs))
    }

    /// A set as a finite set; `None` if it is infinite or cannot be enumerated.
    pub(super) fn listed_set(&mut self, t: &Arc<Tables>, sort: SortId, set: Value) -> Known {
        match self.heap.head(set) {
            Some(Head::Set) => return Ok(Some(set)),
            Some(Head::SetBy) => {
                let (function, exceptions) = (self.heap.argument(set, 0), self.heap.argument(set, 1));
                let source = match self.heap.head(function) {
                    Some(Head::Bind(..)) => self.heap.source(function),
                    _ => None,
                };
                let among = match source.map(|source| (source, self.heap.head(source))) {
                    // Enumerate the term that the function was derived from.
                    Some((source, Some(Head::Symbol(_)))) => {
                        let listed = deeper(|| self.listed_set(t, sort, source))?;
                        listed.map(|listed| self.heap.arguments(listed).collect())
                    }
                    _ => self.solutions(t, function)?,
                };
                let Some(mut members): Option<Vec<Value>> = among else { return Ok(None) };
                members.extend(self.heap.arguments(exceptions));
                return self.listed_members(t, sort, &members, set);
            }
            _ => {}
        }
        if let Some(values) = self.finite(t, sort) {
            return self.listed_members(t, sort, &values, set);
        }
        let Some(Head::Symbol(symbol)) = self.heap.head(set) else { return Ok(None) };
        let Some(SymbolKind::Builtin(builtin)) = t.program.symbols.get(symbol.index()).map(|one| &one.kind)
        else {
            return Ok(None);
        };
        let parts: Vec<Value> = self.heap.arguments(set).collect();
        let &[left, right] = &parts[..] else { return Ok(None) };
        let listed = |machine: &mut Self, set| deeper(|| machine.listed_set(t, sort, set));
        let among = match builtin {
            Builtin::Union => match (listed(self, left)?, listed(self, right)?) {
                (Some(one), Some(other)) => return Ok(self.heap.set_union(one, other)),
                _ => None,
            },
            Builtin::Intersection => match listed(self, left)? {
                Some(one) => Some(one),
                None => listed(self, right)?,
            },
            Builtin::Difference => listed(self, left)?,
            _ => None,
        };
        let Some(among) = among else { return Ok(None) };
        let members: Vec<Value> = self.heap.arguments(among).collect();
        self.listed_members(t, sort, &members, set)
    }

    /// The finite set of the candidates that are members.
    fn listed_members(&mut self, t: &Arc<Tables>, sort: SortId, candidates: &[Value], set: Value) -> Known {
        let mut members = Vec::new();
        for &candidate in candidates {
            match self.set_member(t, sort, candidate, set)?.and_then(Value::as_bool) {
                Some(true) => members.push(candidate),
                Some(false) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(self.heap.set_of(&members)))
    }

    /// All arguments for which the predicate of a comprehension is true.
    fn solutions(&mut self, t: &Arc<Tables>, function: Value) -> Result<Option<Vec<Value>>, Fault> {
        let function = match self.heap.head(function) {
            Some(Head::Bind(..)) => self.heap.source(function).unwrap_or(function),
            _ => function,
        };
        let Some(Head::Lambda(index)) = self.heap.head(function) else { return Ok(None) };
        if !self.listings.contains_key(&index) {
            let listing = self.make_listing(t, index);
            self.listings.insert(index, listing);
        }
        let Some(Some(listing)) = self.listings.get(&index).cloned() else { return Ok(None) };
        let base = self.enter(listing.frame);
        for (index, &slot) in listing.captured.iter().enumerate() {
            let value = self.heap.argument(function, index);
            self.set_slot(base, slot, value);
        }
        // The plan must evaluate with the tables of this evaluation.
        self.tables = Some(Arc::clone(t));
        let mut found = Vec::new();
        let done = listing.plan.run(self, base, &mut |machine| {
            found.push(machine.slot(base, listing.member));
            ControlFlow::Continue(())
        });
        self.leave(base);
        Ok(done.is_ok().then_some(found))
    }

    fn make_listing(&mut self, t: &Arc<Tables>, index: u32) -> Option<Listing> {
        let binder = t.binders.get(index as usize)?;
        if binder.expression.index() >= t.program.expression_count() {
            return None;
        }
        let Expression::Comprehension { variable, body } = *t.program.expression(binder.expression) else {
            return None;
        };
        let mut scope = Scope::default();
        let captured = binder.captured.iter().map(|&variable| scope.slot(variable)).collect();
        let query = Query {
            variables: &[variable],
            conditions: &[(body, true)],
            witness: false,
            limit: QUANTIFIER_LIMIT,
        };
        let plan = Plan::for_query(&self.rules, &t.program, &query, &mut scope);
        let member = scope.slot(variable);
        Some(Listing { plan, captured, member, frame: scope.size() })
    }
}
