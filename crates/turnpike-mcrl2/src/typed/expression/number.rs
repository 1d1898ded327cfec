//! Literal numbers, and other expressions that are values without evaluation.

use std::str::FromStr;

use dashu_int::IBig;
use dashu_ratio::RBig;
use rustc_hash::FxHashSet;

use super::walk::{is_builtin, reachable};
use crate::syntax::Span;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, SymbolId, SymbolKind};

/// Removes conversions.
pub(super) fn peel(program: &Program, mut id: ExpressionId) -> ExpressionId {
    while let Expression::Upcast(operand) = *program.expression(id) {
        id = operand;
    }
    id
}

/// The integer that an expression literally is: digits, possibly negated or converted.
pub fn integer_value(program: &Program, id: ExpressionId) -> Option<IBig> {
    let id = peel(program, id);
    match program.expression(id) {
        Expression::Number(digits) => IBig::from_str(program.text(*digits)).ok(),
        Expression::Call { symbol, arguments } if is_builtin(program, *symbol, Builtin::Negate) => {
            match program.expression(peel(program, arguments[0])) {
                Expression::Number(digits) => {
                    IBig::from_str(program.text(*digits)).ok().map(|number| -number)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number that an expression literally is: an [`integer_value`], or a quotient of two.
pub fn number_value(program: &Program, id: ExpressionId) -> Option<RBig> {
    match program.expression(peel(program, id)) {
        Expression::Call { symbol, arguments } if is_builtin(program, *symbol, Builtin::Divide) => {
            let (up, down) = (integer_value(program, arguments[0])?, integer_value(program, arguments[1])?);
            (down != IBig::ZERO).then(|| RBig::from(up) / RBig::from(down))
        }
        _ => integer_value(program, id).map(RBig::from),
    }
}

/// A number as an expression of a sort, to which it must belong.
pub(crate) fn literal(program: &mut Program, value: &RBig, sort: SortId, span: Span) -> ExpressionId {
    let (up, down) = (value.numerator(), value.denominator());
    if RBig::from(down.clone()) != RBig::ONE {
        let sides = if *up > IBig::ZERO { SortId::POS } else { SortId::INT };
        let arguments =
            [whole(program, up, sides, span), whole(program, &IBig::from(down.clone()), sides, span)];
        return call(program, Builtin::Divide, "/", &arguments, SortId::REAL, span);
    }
    whole(program, up, sort, span)
}

fn whole(program: &mut Program, value: &IBig, sort: SortId, span: Span) -> ExpressionId {
    if *value >= IBig::ZERO {
        let digits = program.words.intern(&value.to_string());
        return program.add_expression(Expression::Number(digits), sort, span);
    }
    let positive = whole(program, &-value.clone(), SortId::POS, span);
    let negative = call(program, Builtin::Negate, "-", &[positive], SortId::INT, span);
    if sort == SortId::INT {
        return negative;
    }
    program.add_expression(Expression::Upcast(negative), sort, span)
}

/// A call of a built-in function. The sorts of the arguments are those of the signature.
pub(super) fn call(
    program: &mut Program,
    builtin: Builtin,
    name: &str,
    arguments: &[ExpressionId],
    sort: SortId,
    span: Span,
) -> ExpressionId {
    let domain: Vec<SortId> = arguments.iter().map(|&one| program.sort_of(one)).collect();
    let signature = program.sorts.function(&domain, sort);
    let name = program.words.intern(name);
    let symbol = program.builtin(builtin, name, signature);
    program.add_expression(Expression::Call { symbol, arguments: arguments.into() }, sort, span)
}

/// Whether an expression is literally a value: a literal number or truth value, or a constructor,
/// list, set or bag of values. Constructors in `rewritten`, which equations rewrite, are not
/// values.
pub fn is_value(program: &Program, root: ExpressionId, rewritten: &FxHashSet<SymbolId>) -> bool {
    let constructs = |symbol: SymbolId| {
        let kind = &program.symbol(symbol).kind;
        matches!(kind, SymbolKind::Constructor | SymbolKind::StructConstructor { .. })
            && !rewritten.contains(&symbol)
    };
    let mut values = FxHashSet::default();
    for id in reachable(program, &[root]) {
        let expression = program.expression(id);
        let is_one = match expression {
            Expression::Bool(_) | Expression::Number(_) => true,
            Expression::Symbol(symbol) => constructs(*symbol),
            Expression::Call { symbol, .. } if constructs(*symbol) => {
                all_children(expression, |child| values.contains(&child))
            }
            Expression::Call { .. } => number_value(program, id).is_some(),
            Expression::Upcast(_) | Expression::List(_) | Expression::Set(_) | Expression::Bag(_) => {
                all_children(expression, |child| values.contains(&child))
            }
            _ => false,
        };
        if is_one {
            values.insert(id);
        }
    }
    values.contains(&root)
}

fn all_children(expression: &Expression, holds: impl Fn(ExpressionId) -> bool) -> bool {
    let mut all = true;
    expression.for_each_child(|child| all &= holds(child));
    all
}
