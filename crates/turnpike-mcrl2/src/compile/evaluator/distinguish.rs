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

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Difference {
    /// An element of one set only.
    Sets,
    /// An element of the left set only.
    Subset,
    /// An element whose counts differ.
    Bags,
    /// An element that the left bag has more often.
    Subbag,
    /// Arguments for which functions of a sort differ.
    Functions,
}

/// How it is looked for.
#[derive(Clone, Debug)]
pub(super) struct Search {
    plan: Plan,
    left: u32,
    right: u32,
    frame: usize,
}

impl Machine {
    /// Whether two values differ in that way, the elements (or the functions) being of that sort;
    /// `None` if none of the first elements distinguishes them and there are more.
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
        // The plan evaluates with the tables that this evaluation uses.
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

    /// Whether a sort surely has infinitely many values.
    pub(super) fn is_endless(&self, t: &Tables, sort: SortId) -> bool {
        let mut seen = vec![sort];
        let mut next = 0;
        // An inhabited sort has as many values as any field of its constructors, at least.
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
                        // With rules, different terms may be the same value.
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
    let mut said = Vec::new();
    for side in sides {
        said.push(match difference {
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
        // Written so that the planner does not want to list the set.
        Difference::Subset => vec![(call(program, Builtin::LessEqual, "<=", &said, SortId::BOOL)?, false)],
        Difference::Subbag => vec![(call(program, Builtin::LessEqual, "<=", &said, SortId::BOOL)?, false)],
        _ => vec![(expression::equal(program, said[0], said[1]), false)],
    };
    let mut scope = Scope::default();
    let (left, right) = (scope.slot(left), scope.slot(right));
    let query =
        Query { variables: &elements, conditions: &conditions, witness: true, limit: QUANTIFIER_LIMIT };
    let plan = Plan::for_query(rules, program, &query, &mut scope);
    Some(Search { plan, left, right, frame: scope.size() })
}
