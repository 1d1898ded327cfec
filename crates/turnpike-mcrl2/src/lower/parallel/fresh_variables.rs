//! Components of the same process start with the same variables. Gives each component variables of
//! its own, and parameters their final names.

use rustc_hash::{FxHashMap, FxHashSet};

use super::summands::Layout;
use crate::lower::{Automaton, Distribution, Edge, Parameter, Step, Update};
use crate::syntax::Span;
use crate::typed::expression::{self, Substitution};
use crate::typed::{ExpressionId, Program, SortId, VariableId};

/// Hands out unique names.
#[derive(Default)]
struct Unique(FxHashSet<String>);

impl Unique {
    /// The first candidate that is unused, or the last one with as many ticks as needed.
    fn take(&mut self, candidates: &[String]) -> String {
        let free = candidates.iter().find(|name| !self.0.contains(*name));
        let mut name = free.or(candidates.last()).cloned().unwrap_or_default();
        while !self.0.insert(name.clone()) {
            name.push('\'');
        }
        name
    }
}

/// A renaming of variables.
#[derive(Default)]
struct Renaming {
    variables: FxHashMap<VariableId, VariableId>,
    values: Substitution,
}

/// Lists the parameters, and gives components variables of their own.
pub(super) fn parameters(program: &mut Program, components: &mut [Automaton]) -> Layout {
    let mut uses: FxHashMap<String, usize> = FxHashMap::default();
    for component in &*components {
        *uses.entry(component.name.clone()).or_default() += 1;
        for &variable in &component.variables {
            *uses.entry(program.text(program.variable(variable).name).to_owned()).or_default() += 1;
        }
    }
    let mut unique = Unique::default();
    let mut seen = FxHashSet::default();
    let mut layout = Layout::default();
    for component in components {
        let owner = component.name.clone();
        let mut control = None;
        if component.locations.len() > 1 {
            let name = unique.take(std::slice::from_ref(&owner));
            let word = program.words.intern(&name);
            let variable = program.add_variable(word, SortId::POS, Span::default());
            let locations = Some(distinct_texts(component));
            control = Some(layout.parameters.len());
            layout.parameters.push(Parameter { variable, name, component: owner.clone(), locations });
        }
        layout.controls.push(control);
        let mut renaming = Renaming::default();
        for variable in component.variables.clone() {
            let plain = program.text(program.variable(variable).name).to_owned();
            let long = format!("{owner}.{plain}");
            let candidates = if uses[&plain] == 1 { vec![plain.clone(), long] } else { vec![long] };
            let name = unique.take(&candidates);
            if !seen.insert(variable) || name != plain {
                renaming.add(program, variable, &name);
            }
            layout.parameters.push(Parameter {
                variable: renaming.of(variable),
                name,
                component: owner.clone(),
                locations: None,
            });
        }
        let sums = component.edges.iter().flat_map(|edge| &edge.variables);
        let chances = component.edges.iter().filter_map(|edge| edge.distribution.as_ref());
        let chances = chances.chain(&component.initial_distribution).flat_map(|one| &one.variables);
        for variable in sums.chain(chances) {
            if !seen.insert(*variable) {
                let name = program.text(program.variable(*variable).name).to_owned();
                renaming.add(program, *variable, &name);
            }
        }
        if !renaming.values.is_empty() {
            renaming.apply(program, component);
        }
    }
    layout
}

/// The texts of the locations of a component. Equal texts are numbered.
fn distinct_texts(component: &Automaton) -> Vec<String> {
    let mut uses: FxHashMap<&str, usize> = FxHashMap::default();
    let texts = component.locations.iter().map(|location| {
        let number = uses.entry(&location.text).or_default();
        *number += 1;
        if *number == 1 { location.text.clone() } else { format!("{} ({number})", location.text) }
    });
    texts.collect()
}

impl Renaming {
    fn add(&mut self, program: &mut Program, old: VariableId, name: &str) {
        let word = program.words.intern(name);
        let variable = *program.variable(old);
        let new = program.add_variable(word, variable.sort, variable.span);
        self.variables.insert(old, new);
        let new = expression::variable(program, new);
        self.values.insert(old, new);
    }

    fn of(&self, variable: VariableId) -> VariableId {
        self.variables.get(&variable).copied().unwrap_or(variable)
    }

    fn apply(&self, program: &mut Program, component: &mut Automaton) {
        let Automaton { variables, locations, edges, initial_distribution, initial, .. } = component;
        self.all(variables);
        locations.iter_mut().for_each(|location| self.all(&mut location.live));
        for Edge { variables, conditions, what, time, distribution, target, .. } in edges {
            self.all(variables);
            conditions.iter_mut().chain(time).for_each(|one| self.replace(program, one));
            if let Step::Actions(actions) = what {
                let arguments = actions.iter_mut().flat_map(|action| &mut action.arguments);
                arguments.for_each(|one| self.replace(program, one));
            }
            self.distribution(program, distribution);
            self.update(program, target);
        }
        self.distribution(program, initial_distribution);
        self.update(program, initial);
    }

    fn all(&self, variables: &mut [VariableId]) {
        variables.iter_mut().for_each(|one| *one = self.of(*one));
    }

    fn replace(&self, program: &mut Program, id: &mut ExpressionId) {
        *id = expression::substitute(program, *id, &self.values);
    }

    fn distribution(&self, program: &mut Program, distribution: &mut Option<Distribution>) {
        if let Some(distribution) = distribution {
            self.all(&mut distribution.variables);
            self.replace(program, &mut distribution.weight);
        }
    }

    fn update(&self, program: &mut Program, update: &mut Update) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match update {
            Update::If { condition, then, otherwise, .. } => {
                self.replace(program, condition);
                self.update(program, then);
                self.update(program, otherwise);
            }
            Update::Go { assignments, .. } => {
                for (variable, value) in assignments {
                    *variable = self.of(*variable);
                    self.replace(program, value);
                }
            }
        });
    }
}
