//! State expressions: data expressions over the parameters of the linear process.

use std::sync::Arc;

use turnpike_model::Diagnostic;

use super::emit::Trouble;
use crate::compile::evaluator::{Code, Machine, Scope};
use crate::compile::process::Network;
use crate::syntax::{Span, parse_data_expression};
use crate::typed::expression;
use crate::typed::{ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

/// The state expressions that were asked for so far, compiled once for all explorers.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    /// The program with the parameters under the names that the user sees; made when first needed.
    extended: Option<(Program, Vec<VariableId>)>,
    compiled: Vec<Arc<Predicate>>,
}

/// A compiled state expression.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) text: String,
    root: ExpressionId,
    code: Code,
    frame: usize,
    /// Slots to fill from words of a state, which have the same numbers.
    reads: Vec<u32>,
    constants: Vec<(u32, Value)>,
}

/// The program and a variable for every word of a state that has a name.
fn extend_program(network: &Network) -> (Program, Vec<VariableId>) {
    let mut program = (*network.program).clone();
    let mut variables = Vec::new();
    for parameter in &network.parameters {
        let name = program.words.intern(&parameter.name);
        let sort = match parameter.locations {
            Some(_) => SortId::NAT,
            None => program.variable(parameter.variable).sort,
        };
        variables.push(program.add_variable(name, sort, Span::default()));
    }
    if network.now.is_some() {
        let name = program.words.intern("now");
        variables.push(program.add_variable(name, SortId::REAL, Span::default()));
    }
    (program, variables)
}

impl Predicates {
    /// Compiles a state expression. Errors point into its text.
    pub(super) fn compile(&mut self, network: &Network, text: &str) -> Result<Arc<Predicate>, Diagnostic> {
        if let Some(known) = self.compiled.iter().find(|known| known.text == text) {
            return Ok(Arc::clone(known));
        }
        let (program, variables) = self.extended.get_or_insert_with(|| extend_program(network));
        let first = |all: Vec<Diagnostic>| {
            let error = all.into_iter().next();
            let error = error.unwrap_or_else(|| Diagnostic::error("this is not a data expression"));
            let names: Vec<&str> = network.parameters.iter().map(|one| one.name.as_str()).collect();
            match error.help {
                None if error.message.starts_with("unknown") && !names.is_empty() => {
                    error.help(format!("parameters are {}", names.join(", ")))
                }
                _ => error,
            }
        };
        let (parsed, diagnostics) = parse_data_expression(text, &program.words);
        let Some(parsed) = parsed else { return Err(first(diagnostics)) };
        let mut visible = program.globals.clone();
        visible.extend_from_slice(variables);
        let root = program
            .check_expression(&parsed.tree, parsed.root, &visible, Some(SortId::BOOL))
            .map_err(first)?;
        let mut scope = Scope::default();
        variables.iter().for_each(|&variable| {
            scope.slot(variable);
        });
        let mut globals = Vec::new();
        for variable in program.globals.clone() {
            let known = network.constants.iter().find(|&&(_, (owner, _))| owner == variable);
            globals.extend(known.map(|&(_, (_, value))| (scope.slot(variable), value)));
        }
        let code = network.rules.compile(program, root, &mut scope);
        let reads = expression::free_variables(program, root)
            .into_iter()
            .filter(|variable| variables.contains(variable))
            .filter_map(|variable| scope.get(variable))
            .collect();
        let text = text.to_owned();
        let predicate =
            Arc::new(Predicate { text, root, code, frame: scope.size(), reads, constants: globals });
        self.compiled.push(Arc::clone(&predicate));
        Ok(predicate)
    }
}

impl Predicate {
    /// Whether the expression holds.
    pub(super) fn holds(&self, machine: &mut Machine, state: &[u32]) -> Result<bool, Trouble> {
        let base = machine.enter(self.frame);
        for &word in &self.reads {
            machine.set_slot(base, word, Value::from_word(state[word as usize]));
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
