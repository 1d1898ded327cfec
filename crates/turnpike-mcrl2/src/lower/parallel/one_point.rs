//! The one-point rule: a sum variable that must equal an expression is replaced by that expression.
//!
//! This is how values are passed: `r(x)` with `s(n)` requires `x == n`, so `x` is not enumerated,
//! whatever its sort.

use std::collections::{BTreeSet, VecDeque};

use crate::syntax::Span;
use crate::typed::expression::{self, Substitution};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolKind, VariableId};

/// The remainder of a sum.
#[derive(Debug)]
pub(super) struct Solved {
    /// The remaining variables.
    pub(super) variables: Vec<VariableId>,
    /// The remaining conditions, over the remaining variables.
    pub(super) conditions: Vec<ExpressionId>,
    /// The expressions that replace the eliminated variables.
    pub(super) values: Substitution,
}

/// `variable == value`, provided that `conditions` hold.
struct Solution {
    variable: VariableId,
    value: ExpressionId,
    conditions: Vec<ExpressionId>,
}

/// Eliminates as many variables as possible. `None` if the conditions cannot hold.
pub(super) fn eliminate(
    program: &mut Program,
    variables: &[VariableId],
    conditions: &[ExpressionId],
) -> Option<Solved> {
    let mut open: BTreeSet<VariableId> = variables.iter().copied().collect();
    let mut values = Substitution::default();
    let mut pending: VecDeque<ExpressionId> = VecDeque::new();
    for &condition in conditions {
        pending.extend(expression::conjuncts(program, condition));
    }
    let mut done: Vec<(ExpressionId, Vec<VariableId>)> = Vec::new();
    while let Some(condition) = pending.pop_front() {
        let free = expression::free_variables(program, condition);
        if free.iter().any(|variable| values.contains_key(variable)) {
            let replaced = expression::substitute(program, condition, &values);
            let simple = expression::simplify(program, replaced);
            for part in expression::conjuncts(program, simple).into_iter().rev() {
                pending.push_front(part);
            }
            continue;
        }
        match *program.expression(condition) {
            Expression::Bool(true) => continue,
            Expression::Bool(false) => return None,
            _ => {}
        }
        let Some(Solution { variable, value, conditions }) = solve(program, condition, &open) else {
            if !done.iter().any(|&(known, _)| expression::same(program, known, condition)) {
                done.push((condition, free));
            }
            continue;
        };
        open.remove(&variable);
        let one: Substitution = std::iter::once((variable, value)).collect();
        let mut known: Vec<VariableId> = values.keys().copied().collect();
        known.sort_unstable();
        for other in known {
            let old = values[&other];
            let new = expression::substitute(program, old, &one);
            values.insert(other, new);
        }
        values.insert(variable, value);
        // The conditions under which the new value makes sense come first.
        conditions.into_iter().rev().for_each(|one| pending.push_front(one));
        done.retain(|(condition, free)| {
            let concerned = free.contains(&variable);
            if concerned {
                pending.push_back(*condition);
            }
            !concerned
        });
    }
    let variables = variables.iter().copied().filter(|one| open.contains(one)).collect();
    Some(Solved { variables, conditions: done.into_iter().map(|(condition, _)| condition).collect(), values })
}

/// Solves a condition for one of the variables.
fn solve(program: &mut Program, condition: ExpressionId, open: &BTreeSet<VariableId>) -> Option<Solution> {
    if open.is_empty() {
        return None;
    }
    let variable_of = |program: &Program, id: ExpressionId| match *program.expression(id) {
        Expression::Variable(variable) if open.contains(&variable) => Some(variable),
        _ => None,
    };
    if let Some(variable) = variable_of(program, condition) {
        let value = expression::boolean(program, true);
        return Some(Solution { variable, value, conditions: Vec::new() });
    }
    let Expression::Call { symbol, arguments } = program.expression(condition) else { return None };
    let SymbolKind::Builtin(builtin) = program.symbol(*symbol).kind else { return None };
    let sides = match (builtin, &**arguments) {
        (Builtin::Not, &[operand]) => {
            let variable = variable_of(program, operand)?;
            let value = expression::boolean(program, false);
            return Some(Solution { variable, value, conditions: Vec::new() });
        }
        (Builtin::Equal, &[left, right]) => [(right, left), (left, right)],
        _ => return None,
    };
    let free = |program: &Program, variable, value| {
        expression::free_variables(program, value).binary_search(&variable).is_err()
    };
    for (one, value) in sides {
        if let Some(variable) = variable_of(program, one).filter(|&found| free(program, found, value)) {
            return Some(Solution { variable, value, conditions: Vec::new() });
        }
    }
    for (one, value) in sides {
        let Expression::Upcast(inner) = *program.expression(one) else { continue };
        let Some(variable) = variable_of(program, inner).filter(|&found| free(program, found, value)) else {
            continue;
        };
        let sort = program.variable(variable).sort;
        if let Some((value, conditions)) = narrow_conversion(program, value, sort) {
            return Some(Solution { variable, value, conditions });
        }
    }
    None
}

/// Converts a number to a smaller sort, with the conditions under which that is possible.
fn narrow_conversion(
    program: &mut Program,
    value: ExpressionId,
    sort: SortId,
) -> Option<(ExpressionId, Vec<ExpressionId>)> {
    let from = program.sort_of(value);
    if !from.is_number() || !sort.is_number() || from <= sort {
        return None;
    }
    let span = program.span_of(value);
    match program.expression(value) {
        Expression::Number(digits) if sort != SortId::POS || program.text(*digits) != "0" => {
            let number = Expression::Number(*digits);
            return Some((program.add_expression(number, sort, span), Vec::new()));
        }
        Expression::Upcast(inner) if program.sort_of(*inner) == sort => return Some((*inner, Vec::new())),
        Expression::Upcast(inner) if program.sort_of(*inner) < sort => {
            let inner = Expression::Upcast(*inner);
            return Some((program.add_expression(inner, sort, span), Vec::new()));
        }
        _ => {}
    }
    let mut conditions = Vec::new();
    let mut value = value;
    if from == SortId::REAL {
        let floor = call(program, Builtin::Floor, "floor", &[value], SortId::INT, span);
        let back = program.add_expression(Expression::Upcast(floor), SortId::REAL, span);
        conditions.push(expression::equal(program, back, value));
        value = floor;
    }
    let from = program.sort_of(value);
    if sort < SortId::INT && from > sort {
        let least = if sort == SortId::POS { "1" } else { "0" };
        let least = Expression::Number(program.words.intern(least));
        let least = program.add_expression(least, from, span);
        conditions.push(call(program, Builtin::LessEqual, "<=", &[least, value], SortId::BOOL, span));
        let name = match (from, sort) {
            (SortId::NAT, _) => "Nat2Pos",
            (_, SortId::POS) => "Int2Pos",
            _ => "Int2Nat",
        };
        value = call(program, Builtin::Convert, name, &[value], sort, span);
    }
    Some((value, conditions))
}

/// A call of a built-in function. The sorts of the arguments determine its signature.
pub(super) fn call(
    program: &mut Program,
    builtin: Builtin,
    name: &str,
    arguments: &[ExpressionId],
    result: SortId,
    span: Span,
) -> ExpressionId {
    let domain: Vec<SortId> = arguments.iter().map(|&one| program.sort_of(one)).collect();
    let sort = program.sorts.function(&domain, result);
    let name = program.words.intern(name);
    let symbol = program.builtin(builtin, name, sort);
    program.add_expression(Expression::Call { symbol, arguments: arguments.into() }, result, span)
}
