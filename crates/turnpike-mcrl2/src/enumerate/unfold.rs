//! Definitions put in place of what they define, where they hide what is said about a variable.

use std::sync::Arc;

use super::linear::mentions;
use super::planner::Planner;
use crate::evaluate::Rules;
use crate::expression::{self, Substitution};
use crate::sorts::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind, VariableId};

impl Planner<'_> {
    /// The same without `whr`, set comprehension or a function defined by one simple equation at the top, where they hide what is said
    /// about open variables.
    pub(super) fn unfold(&mut self, id: ExpressionId, open: &[VariableId]) -> Option<ExpressionId> {
        if open.is_empty() {
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
                    _ => return None,
                },
                (SymbolKind::Map, arguments) => {
                    let (parameters, body) = self.definition(*symbol)?;
                    (body, parameters.into_iter().zip(arguments.iter().copied()).collect())
                }
                _ => return None,
            },
            _ => return None,
        };
        mentions(program, id, open).then(|| expression::substitute(self.extend(), body, &with))
    }

    /// The parameters and the right side of the only equation of a function, if it says what the function is for all arguments.
    fn definition(&self, symbol: SymbolId) -> Option<(Vec<VariableId>, ExpressionId)> {
        let program = &self.program;
        let mut found = None;
        for equation in &program.equations {
            let mut left = equation.left;
            while let Expression::Apply { function, .. } = program.expression(left) {
                left = *function;
            }
            let arguments = match program.expression(left) {
                Expression::Call { symbol: defined, arguments } if *defined == symbol => arguments,
                Expression::Symbol(defined) if *defined == symbol => return None,
                _ => continue,
            };
            if found.is_some() || equation.condition.is_some() || left != equation.left {
                return None;
            }
            let mut parameters = Vec::new();
            for &argument in arguments {
                match program.expression(argument) {
                    Expression::Variable(variable) if !parameters.contains(variable) => {
                        parameters.push(*variable)
                    }
                    _ => return None,
                }
            }
            found = Some((parameters, equation.right));
        }
        found
    }
}

/// A copy of a program that can be added to without giving a new symbol the id of one that another copy was given.
pub(super) fn extensible(rules: &Arc<Rules>, program: &Program) -> Program {
    let (mut copy, known) = (program.clone(), rules.program());
    let first = copy.symbols.len();
    let larger = known.sorts.len() >= copy.sorts.len() && known.words.len() >= copy.words.len();
    if known.symbols.len() > first && larger {
        copy.words = known.words.clone();
        copy.sorts = known.sorts.clone();
        for symbol in &known.symbols[first..] {
            if let SymbolKind::Builtin(builtin) = symbol.kind {
                copy.builtin(builtin, symbol.name, symbol.sort);
            }
        }
    }
    copy
}
