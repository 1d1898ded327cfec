//! The most general instance of two left sides.

use crate::typed::expression::{Substitution, free_variables, number_value, substitute};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolKind, VariableId};

/// The most general unifier of all pairs; `None` if there is none. The sides have distinct
/// variables.
pub(super) fn unify(
    program: &mut Program,
    mut pairs: Vec<(ExpressionId, ExpressionId)>,
) -> Option<Substitution> {
    let mut found = Substitution::default();
    while let Some((left, right)) = pairs.pop() {
        let (left, right) = (resolve(program, left, &found), resolve(program, right, &found));
        if left == right {
            continue;
        }
        let (one, other) = (program.expression(left).clone(), program.expression(right).clone());
        match (&one, &other) {
            (Expression::Variable(variable), _) => bind(program, &mut found, *variable, right)?,
            (_, Expression::Variable(variable)) => bind(program, &mut found, *variable, left)?,
            (Expression::Bool(one), Expression::Bool(other)) if one == other => {}
            (Expression::Symbol(one), Expression::Symbol(other)) if one == other => {}
            (Expression::List(ones), Expression::List(others)) if ones.len() == others.len() => {
                pairs.extend(ones.iter().copied().zip(others.iter().copied()));
            }
            (Expression::List(elements), Expression::Call { symbol, arguments })
            | (Expression::Call { symbol, arguments }, Expression::List(elements))
                if program.symbol(*symbol).kind == SymbolKind::Builtin(Builtin::Cons) =>
            {
                let (&first, rest) = elements.split_first()?;
                let rest = Expression::List(rest.into());
                let rest = program.add_expression(rest, program.sort_of(left), program.span_of(left));
                pairs.extend([(arguments[0], first), (arguments[1], rest)]);
            }
            (Expression::Set(ones), Expression::Set(others)) if ones.is_empty() && others.is_empty() => {}
            (
                Expression::Call { symbol: one, arguments: ones },
                Expression::Call { symbol: other, arguments: others },
            ) if one == other => pairs.extend(ones.iter().copied().zip(others.iter().copied())),
            (
                Expression::Apply { function: one, arguments: ones },
                Expression::Apply { function: other, arguments: others },
            ) if ones.len() == others.len() => {
                pairs.push((*one, *other));
                pairs.extend(ones.iter().copied().zip(others.iter().copied()));
            }
            (Expression::Upcast(one), Expression::Upcast(other))
                if program.sort_of(*one) == program.sort_of(*other) =>
            {
                pairs.push((*one, *other));
            }
            _ => {
                let (one, other) = (number_value(program, left)?, number_value(program, right)?);
                if one != other {
                    return None;
                }
            }
        }
    }
    // Solutions may contain other variables: resolve them.
    for _ in 0..=found.len() {
        let mut changed = false;
        for variable in found.keys().copied().collect::<Vec<_>>() {
            let old = found[&variable];
            let new = substitute(program, old, &found);
            changed |= new != old;
            found.insert(variable, new);
        }
        if !changed {
            return Some(found);
        }
    }
    None
}

fn resolve(program: &Program, mut id: ExpressionId, found: &Substitution) -> ExpressionId {
    while let Expression::Variable(variable) = program.expression(id)
        && let Some(&value) = found.get(variable)
    {
        id = value;
    }
    id
}

fn bind(program: &Program, found: &mut Substitution, variable: VariableId, to: ExpressionId) -> Option<()> {
    match *program.expression(to) {
        Expression::Variable(same) if same == variable => return Some(()),
        _ => {}
    }
    if free_variables(program, to).contains(&variable) {
        return None;
    }
    found.insert(variable, to);
    Some(())
}
