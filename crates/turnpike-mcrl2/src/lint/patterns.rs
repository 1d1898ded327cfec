//! Finds left sides that never match. Patterns are matched against normal forms, so a pattern that
//! is not a normal form is useless.

use rustc_hash::FxHashSet;
use turnpike_model::diagnostic::Diagnostic;

use crate::syntax::Container;
use crate::typed::expression::{reachable, text};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolId, SymbolKind};

/// Warnings about left sides, at most one for each equation.
pub(super) fn patterns(program: &Program) -> Vec<Diagnostic> {
    let always = find_rewritten_symbols(program);
    let found = program.equations.iter().filter_map(|equation| left_side(program, &always, equation.left));
    found.collect()
}

/// The function that a left side defines, if it is a function.
pub(super) fn head(program: &Program, left: ExpressionId) -> ExpressionId {
    let mut head = left;
    while let Expression::Apply { function, .. } = *program.expression(head) {
        head = function;
    }
    head
}

/// Functions with an unconditional equation for all arguments. No normal form contains them.
fn find_rewritten_symbols(program: &Program) -> FxHashSet<SymbolId> {
    let plain = |arguments: &[ExpressionId]| {
        let mut seen = FxHashSet::default();
        arguments.iter().all(|&one| match *program.expression(one) {
            Expression::Variable(variable) => seen.insert(variable),
            _ => false,
        })
    };
    let mut found = FxHashSet::default();
    for equation in &program.equations {
        if equation.condition.is_some() {
            continue;
        }
        match program.expression(equation.left) {
            Expression::Symbol(symbol) => {
                found.insert(*symbol);
            }
            Expression::Call { symbol, arguments } if plain(arguments) => {
                found.insert(*symbol);
            }
            _ => {}
        }
    }
    found
}

fn left_side(program: &Program, always: &FxHashSet<SymbolId>, left: ExpressionId) -> Option<Diagnostic> {
    let at =
        |id: ExpressionId, message: String| Diagnostic::warning(message).at(program.span_of(id).range(), "");
    let head = head(program, left);
    match program.expression(head) {
        Expression::Symbol(_) | Expression::Call { .. } => {}
        Expression::Variable(variable) => {
            let name = program.text(program.variable(*variable).name);
            let message =
                format!("this equation is never used: its left side begins with the variable {name}");
            return Some(at(head, message).help("an equation defines the result of a declared function"));
        }
        _ => {
            let message = "this equation is never used: its left side is not a function".to_owned();
            return Some(at(head, message).help("an equation defines the result of a declared function"));
        }
    }
    // The head is what the equation defines; its arguments are matched.
    let mut roots = Vec::new();
    let mut around = left;
    while let Expression::Apply { function, arguments } = program.expression(around) {
        roots.extend_from_slice(arguments);
        around = *function;
    }
    if let Expression::Call { arguments, .. } = program.expression(head) {
        roots.extend_from_slice(arguments);
    }
    let nodes = reachable(program, &roots);
    nodes.into_iter().rev().find_map(|id| {
        let (reason, help) = pattern(program, always, id)?;
        let message = format!("the pattern {} never matches: {reason}", text(program, id));
        Some(at(id, message).help(help))
    })
}

/// Why a pattern never matches, and what to do about it.
fn pattern(
    program: &Program,
    always: &FxHashSet<SymbolId>,
    id: ExpressionId,
) -> Option<(String, &'static str)> {
    let symbol = match program.expression(id) {
        Expression::Set(elements) if !elements.is_empty() => {
            return Some((
                "sets are not matched by their elements".into(),
                "match a variable and test its elements in a condition",
            ));
        }
        Expression::Bag(elements) if !elements.is_empty() => {
            return Some((
                "bags are not matched by their elements".into(),
                "match a variable and test its elements in a condition",
            ));
        }
        Expression::Comprehension { .. } | Expression::Binder { .. } | Expression::Where { .. } => {
            return Some((
                "only constructors, constants and variables are matched".into(),
                "match a variable and describe it in a condition",
            ));
        }
        Expression::Apply { function, .. } => {
            return match program.expression(*function) {
                Expression::Variable(_) => Some((
                    "a variable cannot be applied in a pattern".into(),
                    "match the function and its argument separately",
                )),
                _ => None,
            };
        }
        Expression::Symbol(symbol) | Expression::Call { symbol, .. } => *symbol,
        _ => return None,
    };
    let declared = program.symbol(symbol);
    if always.contains(&symbol) && declared.kind == SymbolKind::Map {
        let name = program.text(declared.name);
        return Some((
            format!("{name} has an equation, which always rewrites it"),
            "match a variable and compare it in a condition",
        ));
    }
    let SymbolKind::Builtin(builtin) = declared.kind else { return None };
    if always.contains(&symbol) {
        return None;
    }
    let sort = program.sort_of(id);
    match builtin {
        _ if sort.is_number() && arithmetic(builtin) => {
            let is_literal = crate::typed::expression::number_value(program, id).is_some();
            Some(if is_literal {
                (
                    "only literal numbers without sign are patterns".into(),
                    "match a variable and compare it in a condition",
                )
            } else {
                (
                    "numbers are matched as a whole, not as results of functions".into(),
                    "match a variable, and use a condition such as n > 0 and n - 1 on the right side",
                )
            })
        }
        Builtin::Snoc | Builtin::Concat | Builtin::Tail | Builtin::RTail
            if program.sorts.element(Container::List, sort).is_some() =>
        {
            Some((
                "lists are matched with [] and |> only".into(),
                "write the pattern with |>, or use a condition",
            ))
        }
        _ => None,
    }
}

fn arithmetic(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Add
            | Builtin::Subtract
            | Builtin::Negate
            | Builtin::Multiply
            | Builtin::Divide
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Exp
            | Builtin::Max
            | Builtin::Min
            | Builtin::Succ
            | Builtin::Pred
            | Builtin::Abs
            | Builtin::Floor
            | Builtin::Ceil
            | Builtin::Round
            | Builtin::Sqrt
            | Builtin::Convert
    )
}
