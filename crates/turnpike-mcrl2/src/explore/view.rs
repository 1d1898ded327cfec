//! Describes a state: the positions of components, the texts of actions and conditions.

use std::sync::Arc;

use crate::compile::evaluator::{Machine, Scope};
use crate::compile::process::{Network, location_of};
use crate::lower::Automaton;
use crate::syntax::Symbol;
use crate::typed::expression::{free_variables, text_with};
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// The text of an argument, and whether it depends on the variable of a sum.
#[derive(Clone)]
pub(super) struct Argument {
    pub(super) text: String,
    pub(super) open: bool,
}

/// A state, with a machine to evaluate expressions in it.
pub(super) struct View<'a> {
    pub(super) network: &'a Network,
    pub(super) program: Arc<Program>,
    pub(super) machine: &'a mut Machine,
    pub(super) state: &'a [u32],
    /// Values of sum variables, where known.
    pub(super) bound: Vec<(VariableId, Value)>,
}

impl<'a> View<'a> {
    pub(super) fn new(network: &'a Network, machine: &'a mut Machine, state: &'a [u32]) -> Self {
        View { network, program: network.program(), machine, state, bound: Vec::new() }
    }

    pub(super) fn automaton(&self, component: usize) -> &'a Automaton {
        &self.network.structure.components()[component]
    }

    /// The location of a component.
    pub(super) fn location(&self, component: usize) -> u32 {
        let control = self.network.structure.control(component);
        control.map_or(0, |word| location_of(self.state[word]))
    }

    /// The word of the state that holds a variable.
    pub(super) fn word(&self, variable: VariableId) -> Option<usize> {
        self.network.parameters.iter().position(|parameter| parameter.variable == variable)
    }

    /// The name of a parameter without its component.
    pub(super) fn plain_name(&self, word: usize) -> &'a str {
        let parameter = &self.network.parameters[word];
        let name = parameter.name.strip_prefix(&*parameter.component);
        name.and_then(|name| name.strip_prefix('.')).unwrap_or(&parameter.name)
    }

    pub(super) fn value_text(&self, word: usize) -> String {
        self.network.text(&self.machine.heap, Value::from_word(self.state[word]))
    }

    /// The location of a component, with the values that matter there.
    pub(super) fn position(&self, component: usize) -> String {
        let automaton = self.automaton(component);
        let Some(location) = automaton.locations.get(self.location(component) as usize) else {
            return String::new();
        };
        let values: Vec<String> = location
            .live
            .iter()
            .filter_map(|&variable| self.word(variable))
            .map(|word| format!("{} = {}", self.plain_name(word), self.value_text(word)))
            .collect();
        let text = match self.network.structure.control(component) {
            Some(word) => match &self.network.parameters[word].locations {
                Some(texts) => texts[self.location(component) as usize].clone(),
                None => location.text.clone(),
            },
            None => location.text.clone(),
        };
        if values.is_empty() { text } else { format!("{text} with {}", values.join(", ")) }
    }

    /// Whether an expression depends on variables without a known value.
    pub(super) fn is_open(&self, id: ExpressionId) -> bool {
        let known = |variable: &VariableId| {
            self.word(*variable).is_some()
                || self.program.globals.contains(variable)
                || self.bound.iter().any(|(bound, _)| bound == variable)
        };
        !free_variables(&self.program, id).iter().all(known)
    }

    /// The value of an expression that is not open.
    pub(super) fn evaluate(&mut self, id: ExpressionId) -> Option<Value> {
        let mut scope = Scope::default();
        let free = free_variables(&self.program, id);
        let mut values = Vec::new();
        for &variable in &free {
            let value = match self.word(variable) {
                Some(word) => Value::from_word(self.state[word]),
                None => {
                    let constants = self.network.constants.iter().map(|(_, constant)| constant);
                    let known = self.bound.iter().chain(constants).find(|(owner, _)| *owner == variable);
                    known?.1
                }
            };
            values.push((scope.slot(variable), value));
        }
        let code = self.network.rules.compile(&self.program, id, &mut scope);
        let base = self.machine.enter(scope.size());
        for (slot, value) in values {
            self.machine.set_slot(base, slot, value);
        }
        let value = self.machine.evaluate(&code, base);
        self.machine.leave(base);
        value.ok()
    }

    /// The text of an expression, with the names of parameters or with their values.
    pub(super) fn text(&self, id: ExpressionId, with_values: bool) -> String {
        text_with(&self.program, id, &|variable| match self.word(variable) {
            Some(word) if with_values => {
                let text = self.value_text(word);
                let atom = text.starts_with(['[', '{']) || !text.contains(' ');
                if atom { text } else { format!("({text})") }
            }
            Some(word) => self.plain_name(word).to_owned(),
            None => self.program.text(self.program.variable(variable).name).to_owned(),
        })
    }

    pub(super) fn argument(&mut self, id: ExpressionId) -> Argument {
        if !self.is_open(id)
            && let Some(value) = self.evaluate(id)
        {
            return Argument { text: self.network.text(&self.machine.heap, value), open: false };
        }
        Argument { text: self.text(id, true), open: true }
    }

    /// The values of the parameters in an expression, such as `k = 2, n = 1`.
    pub(super) fn values_in(&self, id: ExpressionId) -> Option<String> {
        let mut words: Vec<usize> =
            free_variables(&self.program, id).iter().filter_map(|&variable| self.word(variable)).collect();
        words.sort_unstable();
        let values =
            words.iter().map(|&word| format!("{} = {}", self.plain_name(word), self.value_text(word)));
        let values: Vec<String> = values.collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The arguments of an action elsewhere. Those without variables are known, all others are
    /// open.
    pub(super) fn constants(&self, arguments: &[ExpressionId]) -> Vec<Argument> {
        let constant = |&id: &ExpressionId| Argument {
            text: self.text(id, false),
            open: !free_variables(&self.program, id).is_empty(),
        };
        arguments.iter().map(constant).collect()
    }

    pub(super) fn action_text(&self, name: Symbol, arguments: &[Argument]) -> String {
        let name = self.program.text(name);
        let texts: Vec<&str> = arguments.iter().map(|one| one.text.as_str()).collect();
        if texts.is_empty() { name.to_owned() } else { format!("{name}({})", texts.join(", ")) }
    }
}
