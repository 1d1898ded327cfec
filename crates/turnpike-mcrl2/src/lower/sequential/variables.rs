//! Allocates variables: those that are never live together share one, components have distinct
//! variables, and dead variables get a fixed value.

use rustc_hash::FxHashMap;

use super::liveness::liveness;
use super::reduce::Reduction;
use super::updates::{change_leaves, for_each_leaf};
use crate::lower::Update;
use crate::syntax::Symbol;
use crate::typed::expression::{Substitution, representative, variable};
use crate::typed::{Expression, ExpressionId, Program, SortId, Variable, VariableId};

/// A variable of a component, and those of the source that share it.
struct Shared {
    variable: VariableId,
    members: Vec<VariableId>,
}

/// Gives the component variables of its own, since two components may come from the same process.
/// Variables of the same name and sort share one if they are never live together.
pub(super) fn share_variables(automaton: &mut Reduction<'_>) {
    let all = automaton.live.variables().to_vec();
    let mut groups: FxHashMap<(Symbol, SortId), Vec<Shared>> = FxHashMap::default();
    let mut renamed = Substitution::default();
    let mut own: FxHashMap<VariableId, VariableId> = FxHashMap::default();
    for one in all {
        let Variable { name, sort, span } = *automaton.program.variable(one);
        let classes = groups.entry((name, sort)).or_default();
        let fits = |class: &[VariableId]| {
            (0..automaton.locations.len() as u32).all(|location| {
                !automaton.live.contains(location, one)
                    || !class.iter().any(|&other| automaton.live.contains(location, other))
            })
        };
        let index = match classes.iter().position(|class| fits(&class.members)) {
            Some(index) => index,
            None => {
                let variable = automaton.program.add_variable(name, sort, span);
                classes.push(Shared { variable, members: Vec::new() });
                classes.len() - 1
            }
        };
        classes[index].members.push(one);
        own.insert(one, classes[index].variable);
        renamed.insert(one, variable(automaton.program, classes[index].variable));
    }
    if renamed.is_empty() {
        return;
    }
    let rename = |update: &mut Update| {
        change_leaves(update, |_, assignments| {
            for (one, _) in assignments {
                *one = own.get(one).copied().unwrap_or(*one);
            }
        });
    };
    automaton.edges.iter_mut().for_each(|edge| rename(&mut edge.target));
    rename(&mut automaton.initial);
    automaton.simplify(&renamed);
    automaton.live = liveness(automaton);
}

/// Drops assignments that change nothing, and gives variables that are dead at the target a fixed
/// value, so that states do not differ in them. The initial update assigns every variable.
pub(super) fn reset_variables(automaton: &mut Reduction<'_>) {
    let mut fixed: FxHashMap<SortId, Option<ExpressionId>> = FxHashMap::default();
    let variables = automaton.live.variables().to_vec();
    let sorts: Vec<SortId> = variables.iter().map(|&one| automaton.program.variable(one).sort).collect();
    for &sort in &sorts {
        fixed.entry(sort).or_insert_with(|| representative(automaton.program, sort));
    }
    let live = &automaton.live;
    let program: &Program = automaton.program;
    let kept = program.execution.keep_dead;
    let complete = |from: Option<u32>, update: &mut Update| {
        change_leaves(update, |location, assignments| {
            for (&one, sort) in variables.iter().zip(&sorts) {
                // A variable that is dead at the source has the fixed value already.
                let known = from.is_some_and(|from| !live.contains(from, one));
                // A value kept beyond its last use is fixed on paths that do not draw it.
                let absent = (from.is_none() || kept) && !assignments.iter().any(|other| other.0 == one);
                if !known && (absent || !live.contains(*location, one)) {
                    assignments.extend(fixed[sort].map(|value| (one, value)));
                }
            }
            if from.is_some() {
                assignments.retain(|&(one, value)| *program.expression(value) != Expression::Variable(one));
            }
            assignments.sort_by_key(|one| one.0);
        });
    };
    automaton.edges.iter_mut().for_each(|edge| complete(Some(edge.from), &mut edge.target));
    complete(None, &mut automaton.initial);
    debug_assert!({
        let mut complete = true;
        for_each_leaf(&automaton.initial, |location, assignments| {
            complete &= live.at(location).iter().all(|one| assignments.iter().any(|other| other.0 == *one));
        });
        complete
    });
}
