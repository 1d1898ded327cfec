//! Evaluates closed subexpressions that call declared functions before any state is known.
//!
//! This decides conditions above parallel operators, and shows that `take(p1, left(p1))` and
//! `lift(p1, f2)` never communicate.

use std::str::FromStr;
use std::sync::Arc;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rustc_hash::FxHashMap;

use crate::compile::evaluator::{Machine, Rules, Scope};
use crate::lower::{Automaton, Edge, Step, Update};
use crate::syntax::Container;
use crate::typed::expression::{self, literal, map_children};
use crate::typed::{Expression, ExpressionId, Program, SortId, SymbolKind};
use crate::value::{Head, Heap, Value};

/// How many calls one evaluation may make. Costlier expressions are left to the exploration, which
/// may not need them.
const STEPS: u64 = 5_000;
/// Larger values are kept as calls of functions.
const MAX_NODES: usize = 64;

/// Evaluates closed expressions to expressions.
#[derive(Debug, Default)]
pub(super) struct ClosedTerms {
    /// Created when first needed.
    machine: Option<Machine>,
    known: FxHashMap<ExpressionId, Option<ExpressionId>>,
}

impl ClosedTerms {
    /// An equal expression in its simplest form.
    pub(super) fn normal_form(&mut self, program: &mut Program, root: ExpressionId) -> ExpressionId {
        let simple = expression::simplify(program, root);
        let folded = self.fold(program, simple);
        if folded == simple { simple } else { expression::simplify(program, folded) }
    }

    /// Evaluates closed parts in all expressions of an automaton.
    pub(super) fn fold_automaton(&mut self, program: &mut Program, automaton: &mut Automaton) {
        for Edge { conditions, what, time, distribution, target, .. } in &mut automaton.edges {
            let weight = distribution.as_mut().map(|one| &mut one.weight);
            for one in conditions.iter_mut().chain(time).chain(weight) {
                *one = self.fold_and_simplify(program, *one);
            }
            if let Step::Actions(actions) = what {
                for one in actions.iter_mut().flat_map(|action| &mut action.arguments) {
                    *one = self.fold_and_simplify(program, *one);
                }
            }
            self.fold_update(program, target);
        }
        self.fold_update(program, &mut automaton.initial);
    }

    fn fold_update(&mut self, program: &mut Program, update: &mut Update) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match update {
            Update::If { condition, then, otherwise, .. } => {
                *condition = self.fold_and_simplify(program, *condition);
                self.fold_update(program, then);
                self.fold_update(program, otherwise);
            }
            Update::Go { assignments, .. } => {
                for (_, value) in assignments {
                    *value = self.fold_and_simplify(program, *value);
                }
            }
        });
    }

    fn fold_and_simplify(&mut self, program: &mut Program, root: ExpressionId) -> ExpressionId {
        let folded = self.fold(program, root);
        if folded == root { root } else { expression::simplify(program, folded) }
    }

    /// Replaces the largest closed subexpressions that call declared functions by their values.
    fn fold(&mut self, program: &mut Program, root: ExpressionId) -> ExpressionId {
        if !matches!(program.expression(root), Expression::Call { .. }) && is_small(program, root) {
            return root;
        }
        let nodes = expression::reachable(program, &[root]);
        // For each subexpression, whether it is closed and whether it calls declared functions.
        let mut closed: FxHashMap<ExpressionId, (bool, bool)> = FxHashMap::default();
        for &id in &nodes {
            let expression = program.expression(id);
            let (mut without, mut calls) = match expression {
                Expression::Variable(_) => (false, false),
                Expression::Symbol(symbol) | Expression::Call { symbol, .. } => {
                    (true, program.symbol(*symbol).kind == SymbolKind::Map)
                }
                _ => (true, false),
            };
            expression.for_each_child(|child| {
                let (child_without, child_calls) = closed[&child];
                without &= child_without;
                calls |= child_calls;
            });
            closed.insert(id, (without, calls));
        }
        if !closed[&root].1 {
            return root;
        }
        if closed[&root].0 {
            return self.value(program, root).unwrap_or(root);
        }
        let mut results: FxHashMap<ExpressionId, ExpressionId> = FxHashMap::default();
        for &id in &nodes {
            if closed[&id].0 {
                continue;
            }
            let mut changed = false;
            let mut children = Vec::new();
            program.expression(id).for_each_child(|child| children.push(child));
            for child in children {
                if closed[&child] == (true, true)
                    && !results.contains_key(&child)
                    && let Some(value) = self.value(program, child)
                {
                    results.insert(child, value);
                }
                changed |= results.get(&child).is_some_and(|&new| new != child);
            }
            if changed {
                let new = map_children(program.expression(id), |child| {
                    results.get(&child).copied().unwrap_or(child)
                });
                let new = program.add_expression(new, program.sort_of(id), program.span_of(id));
                results.insert(id, new);
            }
        }
        results.get(&root).copied().unwrap_or(root)
    }

    /// The value of a closed expression, if it is small and found quickly.
    fn value(&mut self, program: &mut Program, id: ExpressionId) -> Option<ExpressionId> {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let machine = self.machine.get_or_insert_with(|| {
            let mut machine = Machine::new(Rules::new(Arc::new(program.clone())));
            machine.set_step_limit(STEPS);
            machine
        });
        let mut scope = Scope::default();
        let code = Arc::clone(machine.rules()).compile(program, id, &mut scope);
        let base = machine.enter(scope.size());
        let value = machine.evaluate(&code, base);
        machine.leave(base);
        let sort = program.sort_of(id);
        let mut left = MAX_NODES;
        let new =
            value.ok().and_then(|value| expression_of(program, &machine.heap, value, sort, id, &mut left));
        self.known.insert(id, new);
        new
    }
}

fn is_small(program: &Program, id: ExpressionId) -> bool {
    matches!(program.expression(id), Expression::Variable(_) | Expression::Bool(_) | Expression::Number(_))
}

/// A value as an expression of a sort, with the position of `at`. `None` for functions and other
/// values without a simple form, and if it would have more than `left` parts.
fn expression_of(
    program: &mut Program,
    heap: &Heap,
    value: Value,
    sort: SortId,
    at: ExpressionId,
    left: &mut usize,
) -> Option<ExpressionId> {
    *left = left.checked_sub(1)?;
    let span = program.span_of(at);
    if sort == SortId::BOOL
        && let Some(truth) = value.as_bool()
    {
        return Some(program.add_expression(Expression::Bool(truth), sort, span));
    }
    let head = heap.head(value);
    if matches!(head, None | Some(Head::Big | Head::Rational)) {
        let text = heap.number_text(value)?;
        let number = match text.split_once(" / ") {
            Some((up, down)) => RBig::from_parts(IBig::from_str(up).ok()?, UBig::from_str(down).ok()?),
            None => RBig::from(IBig::from_str(&text).ok()?),
        };
        return sort.is_number().then(|| literal(program, &number, sort, span));
    }
    match head? {
        Head::Symbol(symbol) => {
            let (domain, codomain) = program.signature(symbol);
            let domain = domain.to_vec();
            if domain.is_empty() || heap.arity(value) == 0 {
                let symbol_sort = program.symbol(symbol).sort;
                return (symbol_sort == sort)
                    .then(|| program.add_expression(Expression::Symbol(symbol), sort, span));
            }
            if domain.len() != heap.arity(value) {
                return None;
            }
            let mut arguments = Vec::with_capacity(domain.len());
            for (index, &sort) in domain.iter().enumerate() {
                arguments.push(expression_of(program, heap, heap.argument(value, index), sort, at, left)?);
            }
            let call = Expression::Call { symbol, arguments: arguments.into() };
            let call = program.add_expression(call, codomain, span);
            convert(program, call, sort)
        }
        Head::Nil | Head::Cons => {
            let element = program.sorts.element(Container::List, sort)?;
            let elements = elements(program, heap, &heap.list_to_vec(value)?, element, at, left)?;
            Some(program.add_expression(Expression::List(elements), sort, span))
        }
        Head::Set => {
            let finite = program.sorts.smaller(sort).unwrap_or(sort);
            let element = program.sorts.element(Container::FSet, finite)?;
            let values: Vec<Value> = heap.arguments(value).collect();
            let elements = elements(program, heap, &values, element, at, left)?;
            let set = program.add_expression(Expression::Set(elements), finite, span);
            convert(program, set, sort)
        }
        _ => None,
    }
}

fn elements(
    program: &mut Program,
    heap: &Heap,
    values: &[Value],
    sort: SortId,
    at: ExpressionId,
    left: &mut usize,
) -> Option<Box<[ExpressionId]>> {
    values.iter().map(|&value| expression_of(program, heap, value, sort, at, left)).collect()
}

/// Converts an expression to the same or a larger sort.
fn convert(program: &mut Program, id: ExpressionId, sort: SortId) -> Option<ExpressionId> {
    let mut larger = sort;
    while larger != program.sort_of(id) {
        larger = program.sorts.smaller(larger)?;
    }
    if larger == sort {
        return Some(id);
    }
    let span = program.span_of(id);
    Some(program.add_expression(Expression::Upcast(id), sort, span))
}
