//! Building, comparing, simplifying and printing typed expressions of a [`Program`].

use rustc_hash::FxHashMap;

use crate::sorts::{ExpressionId, Program, SortId, VariableId};

/// What variables are replaced by.
pub type Substitution = FxHashMap<VariableId, ExpressionId>;

/// Replaces free variables at once; bound variables are renamed where one would be captured. Unchanged parts are shared.
pub fn substitute(program: &mut Program, root: ExpressionId, with: &Substitution) -> ExpressionId {
    let _ = (program, root, with);
    unimplemented!()
}

/// The free variables, each once, in increasing order.
pub fn free_variables(program: &Program, root: ExpressionId) -> Vec<VariableId> {
    let _ = (program, root);
    unimplemented!()
}

/// Whether two expressions are the same term (same sorts, same symbols, same variables).
pub fn same(program: &Program, left: ExpressionId, right: ExpressionId) -> bool {
    let _ = (program, left, right);
    unimplemented!()
}

/// The parts of a conjunction; just itself for anything else.
pub fn conjuncts(program: &Program, root: ExpressionId) -> Vec<ExpressionId> {
    let _ = (program, root);
    unimplemented!()
}

/// An equal expression that is no larger: constants folded, constructors compared, projections and conditionals taken.
pub fn simplify(program: &mut Program, root: ExpressionId) -> ExpressionId {
    let _ = (program, root);
    unimplemented!()
}

/// `true` or `false`.
pub fn boolean(program: &mut Program, value: bool) -> ExpressionId {
    let _ = (program, value);
    unimplemented!()
}

/// `left == right`, simplified; both have the same sort.
pub fn equal(program: &mut Program, left: ExpressionId, right: ExpressionId) -> ExpressionId {
    let _ = (program, left, right);
    unimplemented!()
}

/// `!operand`, simplified.
pub fn not(program: &mut Program, operand: ExpressionId) -> ExpressionId {
    let _ = (program, operand);
    unimplemented!()
}

/// The conjunction of all, simplified; `true` for none.
pub fn all(program: &mut Program, parts: &[ExpressionId]) -> ExpressionId {
    let _ = (program, parts);
    unimplemented!()
}

/// The disjunction of all, simplified; `false` for none.
pub fn any(program: &mut Program, parts: &[ExpressionId]) -> ExpressionId {
    let _ = (program, parts);
    unimplemented!()
}

/// A variable as an expression.
pub fn variable(program: &mut Program, variable: VariableId) -> ExpressionId {
    let _ = (program, variable);
    unimplemented!()
}

/// Some closed expression of a sort that needs no evaluation, always the same: what an unused parameter is set to.
/// `None` when the sort has no constructor and no constant.
pub fn representative(program: &mut Program, sort: SortId) -> Option<ExpressionId> {
    let _ = (program, sort);
    unimplemented!()
}

/// As one would write it, with the fewest parentheses; conversions are not shown.
pub fn text(program: &Program, root: ExpressionId) -> String {
    let _ = (program, root);
    unimplemented!()
}
