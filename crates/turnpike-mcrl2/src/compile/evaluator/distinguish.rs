//! Searches for an element that distinguishes two sets, bags or functions over an infinite sort.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::library::Tables;
use super::{EvaluationError, Fault, Machine, Rules, Scope};
use crate::compile::solver::{EnumerationError, Plan, QUANTIFIER_LIMIT, Query};
use crate::syntax::{Container, Span};
use crate::typed::expression;
use crate::typed::{Builtin, Expression, ExpressionId, Program, Sort, SortId};
use crate::value::Value;

/// Which kind of difference to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Difference {
    /// An element of exactly one of the sets.
    Sets,
    /// An element of the left set only.
    Subset,
    /// An element whose counts differ.
    Bags,
    /// An element with a higher count in the left bag.
    Subbag,
    /// Arguments for which two functions of a sort have different results.
    Functions,
}

/// A compiled search for a difference.
#[derive(Clone, Debug)]
pub(super) struct Search {
    plan: Plan,
    left: u32,
    right: u32,
    frame: usize,
}

impl Machine {
    /// Whether two sets, bags or functions differ. `sort` is that of the elements, or of the
    /// functions. `None` if the search is cut off without finding a difference.
    pub(super) fn differ(
        &mut self,
        t: &Arc<Tables>,
        difference: Difference,
        sort: SortId,
        left: Value,
        right: Value,
    ) -> Result<Option<bool>, Fault> {
        if self.heap.is_open(left) || self.heap.is_open(right) {
            return Ok(None);
        }
        if !self.searches.contains_key(&(difference, sort)) {
            let search = search(&self.rules, &t.program, difference, sort);
            self.searches.insert((difference, sort), search);
        }
        let Some(Some(search)) = self.searches.get(&(difference, sort)).cloned() else { return Ok(None) };
        let base = self.enter(search.frame);
        self.set_slot(base, search.left, left);
        self.set_slot(base, search.right, right);
        // The plan must evaluate with the tables of this evaluation.
        self.tables = Some(Arc::clone(t));
        let done = search.plan.run(self, base, &mut |_| ControlFlow::Break(()));
        self.leave(base);
        match done {
            Ok(flow) => Ok(Some(flow.is_break())),
            Err(EnumerationError::Evaluation(EvaluationError::OutOfSteps)) => Err(Fault::Steps),
            Err(EnumerationError::Evaluation(EvaluationError::TooDeep)) => Err(Fault::Deep),
            Err(EnumerationError::Evaluation(EvaluationError::Other(message))) => {
                self.message = message;
                Err(Fault::Other)
            }
            Err(EnumerationError::Stuck { .. } | EnumerationError::Endless { .. }) => Ok(None),
        }
    }

    /// Whether a sort certainly has infinitely many values.
    pub(super) fn is_infinite(&self, t: &Tables, sort: SortId) -> bool {
        let mut seen = vec![sort];
        let mut next = 0;
        // An inhabited sort has at least as many values as any field of its constructors.
        while let Some(&sort) = seen.get(next) {
            next += 1;
            match t.program.sorts.get(sort) {
                Sort::Pos | Sort::Nat | Sort::Int | Sort::Real | Sort::Container(Container::List, _) => {
                    return true;
                }
                Sort::Container(Container::Bag | Container::FBag, _) => return true,
                Sort::Container(Container::Set | Container::FSet, element) if !seen.contains(element) => {
                    seen.push(*element);
                }
                Sort::Struct(_) => {
                    for &constructor in t.program.constructors(sort) {
                        // Rules may make different terms the same value.
                        if self.rules.known.has_rules(constructor) {
                            return false;
                        }
                        for &field in t.program.signature(constructor).0 {
                            if field == sort {
                                return true;
                            }
                            if !seen.contains(&field) {
                                seen.push(field);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        false
    }
}

fn call(
    program: &mut Program,
    builtin: Builtin,
    name: &str,
    arguments: &[ExpressionId],
    result: SortId,
) -> Option<ExpressionId> {
    let domain: Vec<SortId> = arguments.iter().map(|&one| program.sort_of(one)).collect();
    let sort = program.sorts.function(&domain, result);
    if sort == SortId::UNKNOWN {
        return None;
    }
    let name = program.words.intern(name);
    let symbol = program.builtin(builtin, name, sort);
    let call = Expression::Call { symbol, arguments: arguments.into() };
    Some(program.add_expression(call, result, Span::default()))
}

fn search(rules: &Arc<Rules>, program: &Program, difference: Difference, sort: SortId) -> Option<Search> {
    let mut program = program.clone();
    let program = &mut program;
    let name = program.words.intern("x");
    let (whole, domain) = match difference {
        Difference::Functions => (sort, program.sorts.signature(sort).0.to_vec()),
        Difference::Sets | Difference::Subset => (program.sorts.container(Container::Set, sort), vec![sort]),
        Difference::Bags | Difference::Subbag => (program.sorts.container(Container::Bag, sort), vec![sort]),
    };
    if whole == SortId::UNKNOWN {
        return None;
    }
    let mut variable = |sort: SortId| program.add_variable(name, sort, Span::default());
    let (left, right) = (variable(whole), variable(whole));
    let elements: Vec<_> = domain.into_iter().map(&mut variable).collect();
    let sides = [left, right].map(|side| expression::variable(program, side));
    let arguments: Vec<ExpressionId> =
        elements.iter().map(|&element| expression::variable(program, element)).collect();
    let mut observed = Vec::new();
    for side in sides {
        observed.push(match difference {
            Difference::Functions => {
                let result = program.sorts.signature(whole).1;
                let apply = Expression::Apply { function: side, arguments: arguments.clone().into() };
                program.add_expression(apply, result, Span::default())
            }
            Difference::Sets | Difference::Subset => {
                call(program, Builtin::In, "in", &[arguments[0], side], SortId::BOOL)?
            }
            Difference::Bags | Difference::Subbag => {
                call(program, Builtin::Count, "count", &[arguments[0], side], SortId::NAT)?
            }
        });
    }
    let conditions: Vec<(ExpressionId, bool)> = match difference {
        // As an inequality: for a membership test the planner would enumerate the set.
        Difference::Subset => {
            vec![(call(program, Builtin::LessEqual, "<=", &observed, SortId::BOOL)?, false)]
        }
        Difference::Subbag => {
            vec![(call(program, Builtin::LessEqual, "<=", &observed, SortId::BOOL)?, false)]
        }
        _ => vec![(expression::equal(program, observed[0], observed[1]), false)],
    };
    let mut scope = Scope::default();
    let (left, right) = (scope.slot(left), scope.slot(right));
    let query =
        Query { variables: &elements, conditions: &conditions, witness: true, limit: QUANTIFIER_LIMIT };
    let plan = Plan::for_query(rules, program, &query, &mut scope);
    Some(Search { plan, left, right, frame: scope.size() })
}
