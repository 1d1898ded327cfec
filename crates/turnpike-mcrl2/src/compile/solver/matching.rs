//! Finds the only equation that can apply to a call, if its arguments determine it.

use super::literal::builtin;
use crate::typed::expression::{self, Substitution};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolId, SymbolKind};

/// The right side of the only equation that can apply to a call, with the substitution for its
/// variables. `None` if the equation has a condition, or if it depends on values which equation
/// applies. Constructors in `rewritten` do not distinguish equations.
pub(super) fn only_equation(
    program: &Program,
    rewritten: &[SymbolId],
    symbol: SymbolId,
    arguments: &[ExpressionId],
) -> Option<(ExpressionId, Substitution)> {
    let mut found = None;
    for equation in &program.equations {
        let mut left = equation.left;
        while let Expression::Apply { function, .. } = program.expression(left) {
            left = *function;
        }
        let patterns = match program.expression(left) {
            Expression::Call { symbol: defined, arguments } if *defined == symbol => arguments,
            Expression::Symbol(defined) if *defined == symbol => return None,
            _ => continue,
        };
        if left != equation.left {
            return None;
        }
        let mut matching = Matching { program, rewritten, with: Substitution::default() };
        match matching.all(patterns, arguments) {
            Some(false) => {}
            Some(true) if found.is_none() && equation.condition.is_none() => {
                found = Some((equation.right, matching.with));
            }
            _ => return None,
        }
    }
    found
}

struct Matching<'a> {
    program: &'a Program,
    rewritten: &'a [SymbolId],
    with: Substitution,
}

impl Matching<'_> {
    /// Whether expressions match patterns for all values of their variables; `None` if that depends
    /// on the values.
    fn all(&mut self, patterns: &[ExpressionId], arguments: &[ExpressionId]) -> Option<bool> {
        if patterns.len() != arguments.len() {
            return None;
        }
        let mut all = Some(true);
        for (&pattern, &argument) in patterns.iter().zip(arguments) {
            match self.one(pattern, argument) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    fn one(&mut self, pattern: ExpressionId, argument: ExpressionId) -> Option<bool> {
        let program = self.program;
        match (program.expression(pattern), program.expression(argument)) {
            (Expression::Variable(variable), _) => match self.with.get(variable) {
                None => {
                    self.with.insert(*variable, argument);
                    Some(true)
                }
                Some(&bound) => expression::same(program, bound, argument).then_some(true),
            },
            (Expression::Bool(pattern), Expression::Bool(argument)) => Some(pattern == argument),
            (Expression::List(patterns), Expression::List(arguments)) => {
                if patterns.len() != arguments.len() {
                    return Some(false);
                }
                self.all(patterns, arguments)
            }
            (Expression::List(patterns), _) if patterns.is_empty() => {
                matches!(builtin(program, argument), Some((Builtin::Cons, _))).then_some(false)
            }
            (_, Expression::List(arguments)) if arguments.is_empty() => {
                matches!(builtin(program, pattern), Some((Builtin::Cons, _))).then_some(false)
            }
            _ => {
                let (symbol, patterns) = constructor(program, self.rewritten, pattern)?;
                let (found, arguments) = constructor(program, self.rewritten, argument)?;
                if symbol != found { Some(false) } else { self.all(patterns, arguments) }
            }
        }
    }
}

/// A constructor of a structured sort or of lists, and its arguments.
fn constructor<'p>(
    program: &'p Program,
    rewritten: &[SymbolId],
    id: ExpressionId,
) -> Option<(SymbolId, &'p [ExpressionId])> {
    let (symbol, arguments) = match program.expression(id) {
        Expression::Symbol(symbol) => (*symbol, &[][..]),
        Expression::Call { symbol, arguments } => (*symbol, &arguments[..]),
        _ => return None,
    };
    let is_constructor = matches!(
        program.symbol(symbol).kind,
        SymbolKind::StructConstructor { .. } | SymbolKind::Builtin(Builtin::Cons)
    );
    (is_constructor && !rewritten.contains(&symbol)).then_some((symbol, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{parse_data_expression, parse_specification};
    use crate::typed::check_specification;

    const RULES: &str = "sort S = struct c(Nat) | d(S, Bool) | e;
        map f: S -> Nat; g: S # S -> Nat; h: List(Nat) # Bool -> Nat; k: S -> Nat;
        var n, m: Nat; s: S; l: List(Nat); b: Bool;
        eqn f(c(n)) = n; f(d(s, true)) = 1; f(d(s, false)) = f(s);
            g(s, s) = 0; g(c(n), e) = n + 1; g(e, c(n)) = n + 2;
            h([], b) = 0; h(n |> l, true) = n; n > 0 -> h(n |> l, false) = 3;
            k(s) = 4;
        glob x: Nat; y: S; z: List(Nat); w: Bool;
        init delta;";

    /// The right side of the equation found, with its variables replaced.
    fn found(call: &str) -> Option<String> {
        let (specification, errors) = parse_specification(RULES);
        assert!(errors.is_empty(), "{errors:?}");
        let (program, diagnostics) = check_specification(&specification);
        let mut program = program.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let (parsed, _) = parse_data_expression(call, &program.words);
        let parsed = parsed.expect("an expression");
        let globals = program.globals.clone();
        let id = program.check_expression(&parsed.tree, parsed.root, &globals, None).expect("well typed");
        let Expression::Call { symbol, arguments } = program.expression(id).clone() else { panic!("{call}") };
        let (body, with) = only_equation(&program, &[], symbol, &arguments)?;
        let replaced = expression::substitute(&mut program, body, &with);
        Some(expression::text(&program, replaced))
    }

    #[test]
    fn an_equation_is_found_when_no_other_can_apply() {
        let cases = [
            ("f(c(x))", Some("x")),
            ("f(d(y, true))", Some("1")),
            ("f(d(y, false))", Some("f(y)")),
            ("f(d(y, w))", None),
            ("f(e)", None),
            ("f(y)", None),
            ("g(y, y)", None),
            ("g(c(x), e)", None),
            ("g(c(x), c(x))", Some("0")),
            ("h([], w)", Some("0")),
            ("h(x |> z, true)", Some("x")),
            ("h(x |> z, false)", None),
            ("h(z, true)", None),
            ("k(y)", Some("4")),
        ];
        for (call, expected) in cases {
            assert_eq!(found(call).as_deref(), expected, "{call}");
        }
    }
}
