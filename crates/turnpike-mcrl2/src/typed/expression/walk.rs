//! Read-only walks over expressions.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::typed::{Builtin, Expression, ExpressionId, Program, SymbolId, SymbolKind, VariableId};

/// All subexpressions of some expressions, including these, without duplicates, children before
/// parents.
pub fn reachable(program: &Program, roots: &[ExpressionId]) -> Vec<ExpressionId> {
    let mut seen: FxHashSet<ExpressionId> = roots.iter().copied().collect();
    let mut found: Vec<ExpressionId> = seen.iter().copied().collect();
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        next += 1;
        program.expression(id).for_each_child(|child| {
            if seen.insert(child) {
                found.push(child);
            }
        });
    }
    found.sort_unstable();
    found
}

/// The variables that a node binds in its body.
pub(super) fn bound(expression: &Expression) -> Vec<VariableId> {
    match expression {
        Expression::Comprehension { variable, .. } => vec![*variable],
        Expression::Binder { variables, .. } => variables.to_vec(),
        Expression::Where { definitions, .. } => definitions.iter().map(|&(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// The child of a node in which it binds variables.
pub(super) fn scope(expression: &Expression) -> Option<ExpressionId> {
    match *expression {
        Expression::Comprehension { body, .. }
        | Expression::Binder { body, .. }
        | Expression::Where { body, .. } => Some(body),
        _ => None,
    }
}

/// The free variables, without duplicates, in increasing order.
pub fn free_variables(program: &Program, root: ExpressionId) -> Vec<VariableId> {
    enum Task {
        Visit(ExpressionId),
        Enter(ExpressionId),
        Leave(ExpressionId),
    }
    let mut free = FxHashSet::default();
    // The number of enclosing scopes that bind each variable.
    let mut depth: FxHashMap<VariableId, u32> = FxHashMap::default();
    // The scope in which a node was visited. Outside all scopes, or again in the same one, a visit
    // cannot find anything new.
    let mut met: FxHashMap<ExpressionId, u32> = FxHashMap::default();
    let (mut scopes, mut latest) = (vec![0], 0);
    let mut tasks = vec![Task::Visit(root)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(id) => {
                let here = scopes[scopes.len() - 1];
                match met.get(&id) {
                    Some(&scope) if scope == 0 || scope == here => continue,
                    _ => met.insert(id, here),
                };
                let expression = program.expression(id);
                if let Expression::Variable(variable) = *expression {
                    if depth.get(&variable).is_none_or(|&count| count == 0) {
                        free.insert(variable);
                    }
                } else if scope(expression).is_some() {
                    tasks.push(Task::Enter(id));
                    if let Expression::Where { definitions, .. } = expression {
                        tasks.extend(definitions.iter().map(|&(_, value)| Task::Visit(value)));
                    }
                } else {
                    expression.for_each_child(|child| tasks.push(Task::Visit(child)));
                }
            }
            Task::Enter(id) => {
                let expression = program.expression(id);
                bound(expression).into_iter().for_each(|one| *depth.entry(one).or_insert(0) += 1);
                latest += 1;
                scopes.push(latest);
                tasks.push(Task::Leave(id));
                tasks.extend(scope(expression).map(Task::Visit));
            }
            Task::Leave(id) => {
                scopes.pop();
                for one in bound(program.expression(id)) {
                    *depth.entry(one).or_insert(1) -= 1;
                }
            }
        }
    }
    let mut free: Vec<VariableId> = free.into_iter().collect();
    free.sort_unstable();
    free
}

/// Whether two expressions are the same term (same sorts, same symbols, same variables).
pub fn same(program: &Program, left: ExpressionId, right: ExpressionId) -> bool {
    let mut seen = FxHashSet::default();
    let mut pairs = vec![(left, right)];
    let (mut lefts, mut rights) = (Vec::new(), Vec::new());
    while let Some((left, right)) = pairs.pop() {
        if left == right || !seen.insert((left, right)) {
            continue;
        }
        let (one, other) = (program.expression(left), program.expression(right));
        if program.sort_of(left) != program.sort_of(right) || !same_head(one, other) {
            return false;
        }
        one.for_each_child(|child| lefts.push(child));
        other.for_each_child(|child| rights.push(child));
        if lefts.len() != rights.len() {
            return false;
        }
        pairs.extend(lefts.drain(..).zip(rights.drain(..)));
    }
    true
}

fn same_head(left: &Expression, right: &Expression) -> bool {
    match (left, right) {
        (Expression::Variable(one), Expression::Variable(other)) => one == other,
        (Expression::Symbol(one), Expression::Symbol(other)) => one == other,
        (Expression::Bool(one), Expression::Bool(other)) => one == other,
        (Expression::Number(one), Expression::Number(other)) => one == other,
        (Expression::Call { symbol: one, .. }, Expression::Call { symbol: other, .. }) => one == other,
        (Expression::Binder { binder: one, .. }, Expression::Binder { binder: other, .. })
            if one != other =>
        {
            false
        }
        (Expression::Binder { .. }, Expression::Binder { .. })
        | (Expression::Comprehension { .. }, Expression::Comprehension { .. })
        | (Expression::Where { .. }, Expression::Where { .. }) => bound(left) == bound(right),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

/// The conjuncts of an expression; itself if it is not a conjunction.
pub fn conjuncts(program: &Program, root: ExpressionId) -> Vec<ExpressionId> {
    parts(program, root, Builtin::And)
}

/// The disjuncts of an expression; itself if it is not a disjunction.
pub fn disjuncts(program: &Program, root: ExpressionId) -> Vec<ExpressionId> {
    parts(program, root, Builtin::Or)
}

fn parts(program: &Program, root: ExpressionId, builtin: Builtin) -> Vec<ExpressionId> {
    let (mut found, mut todo) = (Vec::new(), vec![root]);
    while let Some(id) = todo.pop() {
        match program.expression(id) {
            Expression::Call { symbol, arguments } if is_builtin(program, *symbol, builtin) => {
                todo.extend(arguments.iter().rev());
            }
            _ => found.push(id),
        }
    }
    found
}

/// Whether a symbol is this built-in function.
pub(super) fn is_builtin(program: &Program, symbol: SymbolId, builtin: Builtin) -> bool {
    program.symbol(symbol).kind == SymbolKind::Builtin(builtin)
}

/// The same node with other children.
pub(crate) fn map_children(
    expression: &Expression,
    mut to: impl FnMut(ExpressionId) -> ExpressionId,
) -> Expression {
    match expression {
        Expression::Variable(_) | Expression::Symbol(_) | Expression::Bool(_) | Expression::Number(_) => {
            expression.clone()
        }
        Expression::List(all) => Expression::List(all.iter().map(|&one| to(one)).collect()),
        Expression::Set(all) => Expression::Set(all.iter().map(|&one| to(one)).collect()),
        Expression::Bag(pairs) => {
            Expression::Bag(pairs.iter().map(|&(one, count)| (to(one), to(count))).collect())
        }
        Expression::Comprehension { variable, body } => {
            Expression::Comprehension { variable: *variable, body: to(*body) }
        }
        Expression::Call { symbol, arguments } => {
            Expression::Call { symbol: *symbol, arguments: arguments.iter().map(|&one| to(one)).collect() }
        }
        Expression::Apply { function, arguments } => Expression::Apply {
            function: to(*function),
            arguments: arguments.iter().map(|&one| to(one)).collect(),
        },
        Expression::Upcast(operand) => Expression::Upcast(to(*operand)),
        Expression::Binder { binder, variables, body } => {
            Expression::Binder { binder: *binder, variables: variables.clone(), body: to(*body) }
        }
        Expression::Where { body, definitions } => Expression::Where {
            body: to(*body),
            definitions: definitions.iter().map(|&(name, value)| (name, to(value))).collect(),
        },
    }
}
