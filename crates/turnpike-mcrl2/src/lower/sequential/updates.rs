//! Visitors of [`Update`]s.

use crate::lower::{Goto, Update};
use crate::typed::expression::same;
use crate::typed::{Expression, ExpressionId, Program, VariableId};

/// Assigned variables with their values.
pub(super) type Assignments = Vec<(VariableId, ExpressionId)>;

/// The location of a leaf inside an automaton.
fn local(location: Goto) -> u32 {
    match location {
        Goto::Local(location) | Goto::Parameter(Some((_, location))) => location,
        Goto::Parameter(None) => 0,
    }
}

/// Calls `visit` for every leaf, from left to right.
pub(super) fn for_each_leaf(update: &Update, mut visit: impl FnMut(u32, &Assignments)) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        match update {
            Update::If { then, otherwise, .. } => work.extend([&**otherwise, &**then]),
            Update::Go { location, assignments } => visit(local(*location), assignments),
        }
    }
}

/// Calls `visit` for every condition.
pub(super) fn for_each_condition(update: &Update, mut visit: impl FnMut(ExpressionId)) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        if let Update::If { condition, then, otherwise, .. } = update {
            visit(*condition);
            work.extend([&**otherwise, &**then]);
        }
    }
}

/// Calls `visit` for every leaf, which it may change.
pub(super) fn change_leaves(update: &mut Update, mut visit: impl FnMut(&mut u32, &mut Assignments)) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        match update {
            Update::If { then, otherwise, .. } => work.extend([&mut **otherwise, &mut **then]),
            Update::Go { location, assignments } => {
                let mut number = local(*location);
                visit(&mut number, assignments);
                *location = Goto::Local(number);
            }
        }
    }
}

/// Calls `visit` for every expression, which it may change.
pub(super) fn change_expressions(update: &mut Update, mut visit: impl FnMut(&mut ExpressionId)) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        match update {
            Update::If { condition, then, otherwise, .. } => {
                visit(condition);
                work.extend([&mut **otherwise, &mut **then]);
            }
            Update::Go { assignments, .. } => assignments.iter_mut().for_each(|(_, value)| visit(value)),
        }
    }
}

/// A placeholder.
pub(super) fn placeholder() -> Update {
    Update::Go { location: Goto::Local(0), assignments: Vec::new() }
}

/// Simplifies an update: removes conditions with a known or irrelevant outcome.
pub(super) fn settle(program: &Program, update: Update) -> Update {
    let mut update = update;
    loop {
        let Update::If { condition, then, otherwise, control } = update else { return update };
        if let Expression::Bool(value) = program.expression(condition) {
            update = if *value { *then } else { *otherwise };
            continue;
        }
        let (then, otherwise) = stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            (settle(program, *then), settle(program, *otherwise))
        });
        if is_same_leaf(program, &then, &otherwise) {
            return then;
        }
        return Update::If { condition, then: Box::new(then), otherwise: Box::new(otherwise), control };
    }
}

fn is_same_leaf(program: &Program, left: &Update, right: &Update) -> bool {
    let (
        Update::Go { location: left, assignments: these },
        Update::Go { location: right, assignments: those },
    ) = (left, right)
    else {
        return false;
    };
    left == right
        && these.len() == those.len()
        && these.iter().zip(those).all(|(this, that)| this.0 == that.0 && same(program, this.1, that.1))
}

/// The number of conditions in an update.
pub(super) fn decisions(update: &Update) -> usize {
    let mut count = 0;
    for_each_condition(update, |_| count += 1);
    count
}
