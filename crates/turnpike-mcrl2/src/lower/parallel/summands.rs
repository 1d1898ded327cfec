//! Combines the conditions and data of the edges of a vector into a summand.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::one_point::{Solved, call, eliminate};
use super::vectors::Vector;
use crate::lower::{
    ActionInstance, Automaton, Distribution, Edge, Goto, Parameter, Part, Step, Summand, Update,
};
use crate::syntax::{Span, Symbol};
use crate::typed::expression::{self, Substitution};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, VariableId};

/// The positions of the components among the parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) parameters: Vec<Parameter>,
    /// The control parameter of each component.
    pub(super) controls: Vec<Option<usize>>,
}

impl Layout {
    /// Converts an update of an automaton, replacing variables by values.
    pub(super) fn update(
        &self,
        program: &mut Program,
        component: usize,
        update: &Update,
        values: &Substitution,
    ) -> Update {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match update {
            Update::If { condition, then, otherwise, .. } => {
                let condition = replace_variables(program, *condition, values);
                let chosen = match *program.expression(condition) {
                    Expression::Bool(true) => then,
                    Expression::Bool(false) => otherwise,
                    _ => {
                        return Update::If {
                            condition,
                            then: Box::new(self.update(program, component, then, values)),
                            otherwise: Box::new(self.update(program, component, otherwise, values)),
                            control: self.controls[component],
                        };
                    }
                };
                self.update(program, component, chosen, values)
            }
            Update::Go { location, assignments } => {
                let location = match *location {
                    Goto::Local(location) => {
                        Goto::Parameter(self.controls[component].map(|control| (control, location)))
                    }
                    Goto::Parameter(known) => Goto::Parameter(known),
                };
                let mut assigned = Vec::with_capacity(assignments.len());
                for &(variable, value) in assignments {
                    let value = replace_variables(program, value, values);
                    if *program.expression(value) != Expression::Variable(variable) {
                        assigned.push((variable, value));
                    }
                }
                Update::Go { location, assignments: assigned }
            }
        })
    }
}

/// Replaces the variables of an expression.
fn replace_variables(program: &mut Program, id: ExpressionId, values: &Substitution) -> ExpressionId {
    if values.is_empty() {
        return id;
    }
    let new = expression::substitute(program, id, values);
    if new == id { id } else { expression::simplify(program, new) }
}

/// The product of several independent choices.
pub(super) fn product<'a>(
    program: &mut Program,
    distributions: impl Iterator<Item = &'a Distribution>,
) -> Option<Distribution> {
    distributions.cloned().reduce(|mut all, one| {
        let span = program.span_of(all.weight);
        all.variables.extend(one.variables);
        all.weight = call(program, Builtin::Multiply, "*", &[all.weight, one.weight], SortId::REAL, span);
        all
    })
}

/// The summand of a vector; `None` if it can never happen. `end` is the name of termination if the
/// step terminates.
pub(super) fn summand(
    program: &mut Program,
    layout: &Layout,
    components: &[Automaton],
    vector: &Vector,
    end: Option<Symbol>,
) -> Option<Summand> {
    let edges: Vec<(usize, &Edge)> = vector
        .edges
        .iter()
        .map(|&(component, edge)| (component as usize, &components[component as usize].edges[edge as usize]))
        .collect();
    let mut variables: Vec<VariableId> = Vec::new();
    // The equations of communication come first: they are simple and determine most variables.
    let mut conditions = vector.conditions.clone();
    let mut locations = Vec::new();
    let mut time: Option<ExpressionId> = None;
    for (component, edge) in &edges {
        variables.extend(&edge.variables);
        conditions.extend(&edge.conditions);
        locations.extend(layout.controls[*component].map(|control| (control, edge.from)));
        match (time, edge.time) {
            (Some(known), Some(other)) => conditions.push(expression::equal(program, known, other)),
            (None, other) => time = other,
            (Some(_), None) => {}
        }
    }
    let Solved { mut variables, conditions, values } = eliminate(program, &variables, &conditions)?;
    let mut actions = vector.actions.clone();
    for argument in actions.iter_mut().flat_map(|action| &mut action.arguments) {
        *argument = replace_variables(program, *argument, &values);
    }
    match end {
        Some(name) => actions = vec![ActionInstance { name, arguments: Vec::new() }],
        None => {
            actions.sort_by(|left, right| program.text(left.name).cmp(program.text(right.name)));
        }
    }
    let time = time.map(|time| replace_variables(program, time, &values));
    let mut distribution = product(program, edges.iter().filter_map(|(_, edge)| edge.distribution.as_ref()));
    if let Some(distribution) = &mut distribution {
        distribution.weight = replace_variables(program, distribution.weight, &values);
    }
    let updates: Vec<Update> = edges
        .iter()
        .map(|&(component, edge)| layout.update(program, component, &edge.target, &values))
        .collect();
    if !variables.is_empty() {
        let mut used = FxHashSet::default();
        let mut mark = |id: ExpressionId| used.extend(expression::free_variables(program, id));
        conditions.iter().copied().for_each(&mut mark);
        actions.iter().flat_map(|action| &action.arguments).copied().for_each(&mut mark);
        time.into_iter().for_each(&mut mark);
        distribution.iter().for_each(|one| mark(one.weight));
        updates.iter().for_each(|update| for_each_expression(update, &mut mark));
        // No sort is empty, so unused variables can be dropped.
        variables.retain(|variable| used.contains(variable));
    }
    let span = edges.first().map_or(Span::default(), |(_, edge)| edge.span);
    let parts = parts(program, &edges, vector, &values);
    Some(Summand { locations, variables, conditions, actions, time, distribution, updates, span, parts })
}

/// The contribution of each component, as it wrote it.
fn parts(
    program: &mut Program,
    edges: &[(usize, &Edge)],
    vector: &Vector,
    values: &Substitution,
) -> Arc<[Part]> {
    let mut part = |&(component, edge): &(usize, &Edge), number: u32| {
        let mut actions = match &edge.what {
            Step::Actions(actions) => actions.clone(),
            Step::Terminate => Vec::new(),
        };
        for argument in actions.iter_mut().flat_map(|action| &mut action.arguments) {
            *argument = replace_variables(program, *argument, values);
        }
        Part { component, edge: number as usize, actions }
    };
    edges.iter().zip(&vector.edges).map(|(edge, &(_, number))| part(edge, number)).collect()
}

fn for_each_expression(update: &Update, visit: &mut dyn FnMut(ExpressionId)) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match update {
        Update::If { condition, then, otherwise, .. } => {
            visit(*condition);
            for_each_expression(then, visit);
            for_each_expression(otherwise, visit);
        }
        Update::Go { assignments, .. } => assignments.iter().for_each(|&(_, value)| visit(value)),
    });
}
