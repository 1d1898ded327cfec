//! Splits conditions into literals, the signed parts of a conjunction, so that `!(x < 3)` also
//! gives a bound.

use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolKind};

/// A condition with the truth value it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The condition.
    pub(super) expression: ExpressionId,
    /// Whether it must be true; otherwise it must be false.
    pub(super) holds: bool,
    /// The part of the caller's condition that this literal comes from.
    pub(super) origin: ExpressionId,
    /// Whether it is one side of a disjunction. The disjunction may be true even if this side is
    /// stuck.
    pub(super) partial: bool,
}

/// How two sides compare; `a > b` is read as `b < a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// `a == b`
    Equal,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
}

/// The built-in function and the arguments of a call.
pub(super) fn builtin(program: &Program, id: ExpressionId) -> Option<(Builtin, &[ExpressionId])> {
    let Expression::Call { symbol, arguments } = program.expression(id) else { return None };
    match program.symbol(*symbol).kind {
        SymbolKind::Builtin(builtin) => Some((builtin, arguments)),
        _ => None,
    }
}

/// The conjuncts of `expression` having the value `holds`, from left to right.
pub(super) fn split(program: &Program, expression: ExpressionId, holds: bool) -> Vec<(ExpressionId, bool)> {
    let mut parts = Vec::new();
    let mut todo = vec![(expression, holds)];
    while let Some((id, holds)) = todo.pop() {
        match (builtin(program, id), holds) {
            (Some((Builtin::Not, &[body])), _) => todo.push((body, !holds)),
            (Some((Builtin::And, &[left, right])), true) | (Some((Builtin::Or, &[left, right])), false) => {
                todo.extend([(right, holds), (left, holds)]);
            }
            (Some((Builtin::Implies, &[left, right])), false) => todo.extend([(right, false), (left, true)]),
            _ if *program.expression(id) == Expression::Bool(holds) => {}
            _ => parts.push((id, holds)),
        }
    }
    parts
}

/// The disjuncts of `expression` having the value `holds`, each a list of literals that must all
/// hold. There is one if it is not a disjunction.
pub(super) fn alternatives(
    program: &Program,
    expression: ExpressionId,
    holds: bool,
) -> Vec<Vec<(ExpressionId, bool)>> {
    let mut found = Vec::new();
    let mut todo = vec![(expression, holds)];
    while let Some((id, holds)) = todo.pop() {
        match (builtin(program, id), holds) {
            (Some((Builtin::Not, &[body])), _) => todo.push((body, !holds)),
            (Some((Builtin::Or, &[left, right])), true) | (Some((Builtin::And, &[left, right])), false) => {
                todo.extend([(right, holds), (left, holds)]);
            }
            (Some((Builtin::Implies, &[left, right])), true) => todo.extend([(right, true), (left, false)]),
            (Some((Builtin::If, &[condition, then, otherwise])), _) => {
                for (sign, branch) in [(true, then), (false, otherwise)] {
                    let mut parts = split(program, condition, sign);
                    parts.extend(split(program, branch, holds));
                    found.push(parts);
                }
            }
            _ => found.push(split(program, id, holds)),
        }
    }
    found
}

/// A literal as a comparison of its two sides.
pub(super) fn comparison(
    program: &Program,
    expression: ExpressionId,
    holds: bool,
) -> Option<(Relation, ExpressionId, ExpressionId)> {
    let (operator, arguments) = builtin(program, expression)?;
    let &[left, right] = arguments else { return None };
    // Only numbers are totally ordered, so that a negated comparison is a comparison: of two sets,
    // neither may include the other.
    let total = program.sort_of(left).is_number();
    Some(match (operator, holds) {
        (Builtin::Equal, true) | (Builtin::NotEqual, false) => (Relation::Equal, left, right),
        (Builtin::Less, true) => (Relation::Less, left, right),
        (Builtin::LessEqual, true) => (Relation::LessEqual, left, right),
        (Builtin::Greater, true) => (Relation::Less, right, left),
        (Builtin::GreaterEqual, true) => (Relation::LessEqual, right, left),
        (Builtin::Less, false) if total => (Relation::LessEqual, right, left),
        (Builtin::LessEqual, false) if total => (Relation::Less, right, left),
        (Builtin::Greater, false) if total => (Relation::LessEqual, left, right),
        (Builtin::GreaterEqual, false) if total => (Relation::Less, left, right),
        _ => return None,
    })
}
