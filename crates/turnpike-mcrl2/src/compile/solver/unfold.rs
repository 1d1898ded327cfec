//! Unfolds definitions that hide constraints on variables.

use super::linear_form::mentions;
use super::literal::{Literal, split};
use super::matching::only_equation;
use super::planner::Planner;
use crate::compile::evaluator::Rules;
use crate::typed::expression::{self, Substitution};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolKind, VariableId};

/// The most definitions that one literal unfolds.
const MAX_UNFOLDED: usize = 64;

impl Planner<'_> {
    /// Splits a literal after unfolding the definitions that hide constraints on open variables.
    pub(super) fn unfold_literal(&mut self, literal: Literal, open: &[VariableId]) -> Vec<Literal> {
        let (mut todo, mut count, mut found) = (vec![(literal.expression, literal.holds)], 0, Vec::new());
        while let Some((expression, holds)) = todo.pop() {
            let body = if count < MAX_UNFOLDED { self.unfold(expression, holds, open) } else { None };
            match body {
                Some(body) => {
                    count += 1;
                    todo.extend(split(&self.program, body, holds).into_iter().rev());
                }
                None => found.push(Literal { expression, holds, ..literal }),
            }
        }
        found
    }

    /// Unfolds `whr`, a set comprehension or a function with a single applicable equation at the
    /// top of an expression, if it mentions open variables.
    fn unfold(&mut self, id: ExpressionId, holds: bool, open: &[VariableId]) -> Option<ExpressionId> {
        if open.is_empty() || !mentions(&self.program, id, open) {
            return None;
        }
        let program = &self.program;
        let (body, with): (ExpressionId, Substitution) = match program.expression(id) {
            Expression::Where { body, definitions } => (*body, definitions.iter().copied().collect()),
            Expression::Call { symbol, arguments } => match (&program.symbol(*symbol).kind, &arguments[..]) {
                (SymbolKind::Builtin(Builtin::In), &[element, set]) => match program.expression(set) {
                    Expression::Comprehension { variable, body }
                        if program.sort_of(*body) == SortId::BOOL =>
                    {
                        (*body, Substitution::from_iter([(*variable, element)]))
                    }
                    // Not being in a list means differing from every element.
                    Expression::List(elements) if !holds => {
                        let elements = elements.to_vec();
                        let program = self.extend();
                        let equal: Vec<ExpressionId> =
                            elements.iter().map(|&one| expression::equal(program, element, one)).collect();
                        return Some(expression::any(program, &equal));
                    }
                    _ => return None,
                },
                (SymbolKind::Builtin(Builtin::Equal | Builtin::NotEqual), _) => {
                    return self.compared_with_zero(id);
                }
                (SymbolKind::Map, _) => return self.unfold_definition(id),
                _ => return None,
            },
            _ => return None,
        };
        Some(expression::substitute(self.extend(), body, &with))
    }

    /// Unfolds a call by the only equation that can apply to it.
    pub(super) fn unfold_definition(&mut self, id: ExpressionId) -> Option<ExpressionId> {
        let program = &self.program;
        let Expression::Call { symbol, arguments } = program.expression(id) else { return None };
        if program.symbol(*symbol).kind != SymbolKind::Map {
            return None;
        }
        let (symbol, mut arguments) = (*symbol, arguments.to_vec());
        let mut found = only_equation(program, &self.rewritten, symbol, &arguments);
        if found.is_none() && self.split_lists(&mut arguments) {
            found = only_equation(&self.program, &self.rewritten, symbol, &arguments);
        }
        let (body, with) = found?;
        Some(expression::substitute(self.extend(), body, &with))
    }

    /// Rewrites `[x, y]` to `x |> [y]` in all arguments. False if there is no list to split.
    fn split_lists(&mut self, arguments: &mut [ExpressionId]) -> bool {
        let mut changed = false;
        for argument in arguments {
            let (elements, sort) = match self.program.expression(*argument) {
                Expression::List(elements) if !elements.is_empty() => {
                    (elements.to_vec(), self.program.sort_of(*argument))
                }
                _ => continue,
            };
            let program = self.extend();
            let span = program.span_of(*argument);
            let rest = program.add_expression(Expression::List(elements[1..].into()), sort, span);
            let name = program.words.intern("|>");
            let function = program.sorts.function(&[program.sort_of(elements[0]), sort], sort);
            let symbol = program.builtin(Builtin::Cons, name, function);
            let both = Expression::Call { symbol, arguments: [elements[0], rest].into() };
            *argument = program.add_expression(both, sort, span);
            changed = true;
        }
        changed
    }
}

/// A copy of a program that can be extended. New symbols do not get ids that another copy has used.
pub(super) fn extensible(rules: &Rules, program: &Program) -> Program {
    let mut copy = program.clone();
    add_known_symbols(rules, &mut copy);
    copy
}

/// Adds what other copies of the program added to it, so that new symbols do not get the same ids.
pub(crate) fn add_known_symbols(rules: &Rules, program: &mut Program) {
    let (known, first) = (rules.program(), program.symbols.len());
    if known.symbols.len() <= first || !program.sorts.extend_to(&known.sorts) {
        return;
    }
    for symbol in &known.symbols[first..] {
        if let SymbolKind::Builtin(builtin) = symbol.kind {
            let name = program.words.intern(known.text(symbol.name));
            program.builtin(builtin, name, symbol.sort);
        }
    }
}
