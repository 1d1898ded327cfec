//! Substitution of variables.

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::variable;
use super::walk::{bound, free_variables, map_children, reachable, scope};
use crate::typed::{Expression, ExpressionId, Program, VariableId};

/// The expressions that replace variables.
pub type Substitution = FxHashMap<VariableId, ExpressionId>;

/// The stack that must be left for a step of the walk, and the size of a new segment.
const STACK: (usize, usize) = (64 * 1024, 1024 * 1024);

/// Replaces free variables simultaneously. Bound variables are renamed to avoid capture. Unchanged
/// subexpressions are shared.
pub fn substitute(program: &mut Program, root: ExpressionId, with: &Substitution) -> ExpressionId {
    if with.is_empty() {
        return root;
    }
    let nodes = reachable(program, &[root]);
    let (mut binds, mut used) = (FxHashSet::default(), Substitution::default());
    for &id in &nodes {
        match program.expression(id) {
            Expression::Variable(variable) => {
                if let Some(&value) = with.get(variable) {
                    used.insert(*variable, value);
                }
            }
            expression => binds.extend(bound(expression)),
        }
    }
    if used.is_empty() {
        return root;
    }
    let clash = !binds.is_empty()
        && used.iter().any(|(replaced, &value)| {
            binds.contains(replaced) || free_variables(program, value).iter().any(|one| binds.contains(one))
        });
    if clash {
        within(program, root, &used, &mut FxHashMap::default())
    } else {
        plain(program, &nodes, &used)
    }
}

/// The common case without binders that interfere.
fn plain(program: &mut Program, nodes: &[ExpressionId], with: &Substitution) -> ExpressionId {
    let mut results: FxHashMap<ExpressionId, ExpressionId> = FxHashMap::default();
    let mut last = nodes[nodes.len() - 1];
    for &id in nodes {
        if let Expression::Variable(variable) = program.expression(id) {
            if let Some(&value) = with.get(variable) {
                results.insert(id, value);
            }
        } else if let Some(new) = rebuilt(program, id, |child| results.get(&child).copied().unwrap_or(child))
        {
            results.insert(id, new);
        }
        last = id;
    }
    results.get(&last).copied().unwrap_or(last)
}

/// The node with other children; `None` if they are unchanged.
pub(super) fn rebuilt(
    program: &mut Program,
    id: ExpressionId,
    to: impl Fn(ExpressionId) -> ExpressionId,
) -> Option<ExpressionId> {
    let expression = program.expression(id);
    let mut changed = false;
    expression.for_each_child(|child| changed |= to(child) != child);
    if !changed {
        return None;
    }
    let expression = map_children(expression, to);
    Some(program.add_expression(expression, program.sort_of(id), program.span_of(id)))
}

/// The general case, scope by scope. Results are cached per scope.
fn within(
    program: &mut Program,
    id: ExpressionId,
    with: &Substitution,
    results: &mut FxHashMap<ExpressionId, ExpressionId>,
) -> ExpressionId {
    if let Some(&known) = results.get(&id) {
        return known;
    }
    let new = stacker::maybe_grow(STACK.0, STACK.1, || {
        let expression = program.expression(id).clone();
        if let Expression::Variable(variable) = expression {
            return with.get(&variable).copied().unwrap_or(id);
        }
        let Some(body) = scope(&expression) else {
            let mut parts = FxHashMap::default();
            expression.for_each_child(|child| {
                parts.insert(child, within(program, child, with, results));
            });
            return rebuilt(program, id, |child| parts[&child]).unwrap_or(id);
        };
        let (names, new_body) = below(program, &bound(&expression), body, with);
        let changed = match &expression {
            Expression::Comprehension { .. } => {
                Expression::Comprehension { variable: names[0], body: new_body }
            }
            Expression::Binder { binder, .. } => {
                Expression::Binder { binder: *binder, variables: names.into(), body: new_body }
            }
            Expression::Where { definitions, .. } => {
                let values: Vec<ExpressionId> =
                    definitions.iter().map(|&(_, value)| within(program, value, with, results)).collect();
                Expression::Where { body: new_body, definitions: names.into_iter().zip(values).collect() }
            }
            _ => return id,
        };
        if changed == expression {
            return id;
        }
        program.add_expression(changed, program.sort_of(id), program.span_of(id))
    });
    results.insert(id, new);
    new
}

/// The body of a binder and its variables, renamed if necessary.
fn below(
    program: &mut Program,
    names: &[VariableId],
    body: ExpressionId,
    with: &Substitution,
) -> (Vec<VariableId>, ExpressionId) {
    let mut inner = Substitution::default();
    let mut coming = FxHashSet::default();
    for free in free_variables(program, body) {
        if let Some(&value) = with.get(&free)
            && !names.contains(&free)
        {
            inner.insert(free, value);
            coming.extend(free_variables(program, value));
        }
    }
    let mut renamed = names.to_vec();
    for name in &mut renamed {
        if coming.contains(name) {
            let fresh = rename(program, *name);
            let expression = variable(program, fresh);
            inner.insert(*name, expression);
            *name = fresh;
        }
    }
    if inner.is_empty() {
        return (renamed, body);
    }
    (renamed, within(program, body, &inner, &mut FxHashMap::default()))
}

/// A new variable like `old`, with a unique name.
pub fn rename(program: &mut Program, old: VariableId) -> VariableId {
    let old = *program.variable(old);
    let base = program.text(old.name).to_owned();
    let name = (1..)
        .map(|number: u64| format!("{base}_{number}"))
        .find(|name| program.words.find(name).is_none())
        .map_or(old.name, |name| program.words.intern(&name));
    program.add_variable(name, old.sort, old.span)
}
