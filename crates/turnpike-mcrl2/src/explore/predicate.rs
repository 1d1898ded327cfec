//! State expressions: data expressions over the parameters of the linear process.

use std::sync::Arc;

use turnpike_model::Diagnostic;

use super::Mcrl2Model;
use super::emit::Trouble;
use super::state_names;
use crate::compile::evaluator::{Code, Machine, Scope};
use crate::compile::process::Network;
use crate::syntax::{Span, parse_data_expression};
use crate::typed::expression;
use crate::typed::{ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

/// The state expressions requested so far, compiled once for all explorers.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    /// Variables for the parameters under their user-visible names, once needed.
    variables: Option<Vec<(VariableId, u32)>>,
    compiled: Vec<Arc<Predicate>>,
}

/// A compiled state expression.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) text: String,
    root: ExpressionId,
    code: Code,
    frame: usize,
    /// Slots to fill, each with the index of a word of the state.
    reads: Vec<(u32, u32)>,
    constants: Vec<(u32, Value)>,
}

/// Adds variables that stand for words of a state: one for each parameter, another one for each
/// parameter whose name is an identifier, and one for the time.
fn add_variables(network: &Network, program: &mut Program) -> Vec<(VariableId, u32)> {
    let mut variables = Vec::new();
    let mut add = |program: &mut Program, name: &str, sort: SortId, word: u32| {
        let name = program.words.intern(name);
        variables.push((program.add_variable(name, sort, Span::default()), word));
    };
    for (word, parameter) in (0..).zip(&network.parameters) {
        let sort = match parameter.locations {
            Some(_) => SortId::NAT,
            None => program.variable(parameter.variable).sort,
        };
        add(program, &state_names::identifier(word as usize), sort, word);
        if state_names::is_plain(parameter) {
            add(program, &parameter.name, sort, word);
        }
    }
    if let Some(word) = network.now {
        add(program, "now", SortId::REAL, word);
    }
    variables
}

impl Predicates {
    /// Compiles a state expression. Errors point into its text.
    pub(super) fn compile(&mut self, model: &Mcrl2Model, text: &str) -> Result<Arc<Predicate>, Diagnostic> {
        if let Some(known) = self.compiled.iter().find(|known| known.text == text) {
            return Ok(Arc::clone(known));
        }
        let (network, program) = (&model.network, &mut *model.extended_program());
        let variables = self.variables.get_or_insert_with(|| add_variables(network, program));
        let translation = state_names::translate(&network.parameters, text)?;
        let first = |all: Vec<Diagnostic>| {
            let error = all.into_iter().next();
            let error = error.unwrap_or_else(|| Diagnostic::error("this is not a data expression"));
            let error = translation.restore(&network.parameters, error);
            state_names::suggest(&network.parameters, text, error)
        };
        let (parsed, diagnostics) = parse_data_expression(translation.text(), &program.words);
        let Some(parsed) = parsed else { return Err(first(diagnostics)) };
        let mut visible = program.globals.clone();
        visible.extend(variables.iter().map(|&(variable, _)| variable));
        let root = program
            .check_expression(&parsed.tree, parsed.root, &visible, Some(SortId::BOOL))
            .map_err(first)?;
        let mut scope = Scope::default();
        let mut globals = Vec::new();
        for variable in program.globals.clone() {
            let known = network.constants.iter().find(|&&(_, (owner, _))| owner == variable);
            globals.extend(known.map(|&(_, (_, value))| (scope.slot(variable), value)));
        }
        let code = network.rules.compile(program, root, &mut scope);
        let free = expression::free_variables(program, root);
        let reads = variables
            .iter()
            .filter(|(variable, _)| free.contains(variable))
            .filter_map(|&(variable, word)| Some((scope.get(variable)?, word)))
            .collect();
        let text = text.to_owned();
        let predicate =
            Arc::new(Predicate { text, root, code, frame: scope.size(), reads, constants: globals });
        self.compiled.push(Arc::clone(&predicate));
        Ok(predicate)
    }
}

impl Predicate {
    /// The value, if the expression reads nothing of the state.
    pub(super) fn constant(&self, machine: &mut Machine) -> Option<bool> {
        if self.reads.is_empty() { self.holds(machine, &[]).ok() } else { None }
    }

    /// Whether the expression holds.
    pub(super) fn holds(&self, machine: &mut Machine, state: &[u32]) -> Result<bool, Trouble> {
        let base = machine.enter(self.frame);
        for &(slot, word) in &self.reads {
            machine.set_slot(base, slot, Value::from_word(state[word as usize]));
        }
        for &(slot, value) in &self.constants {
            machine.set_slot(base, slot, value);
        }
        let value = machine.evaluate(&self.code, base);
        machine.leave(base);
        let value = value?;
        value.as_bool().ok_or(Trouble::Stuck { condition: self.root, value })
    }
}
