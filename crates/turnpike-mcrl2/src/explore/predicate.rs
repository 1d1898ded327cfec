//! State expressions: data expressions over the parameters of the linear process.

use turnpike_model::{Diagnostic, PredicateId};

use super::Mcrl2Model;
use super::compile::Network;
use super::emit::Trouble;
use crate::evaluate::{Code, Machine, Scope};
use crate::expression;
use crate::sorts::{ExpressionId, Program, SortId, VariableId};
use crate::syntax::{Span, parse_data_expression};
use crate::value::Value;

/// The state expressions of one explorer.
#[derive(Debug, Default)]
pub(super) struct Predicates {
    /// The program with the parameters under the names that the user sees; made when first needed.
    extended: Option<(Program, Vec<VariableId>)>,
    compiled: Vec<Predicate>,
}

#[derive(Debug)]
struct Predicate {
    text: String,
    root: ExpressionId,
    code: Code,
    frame: usize,
    /// Slots to fill from words of a state, which have the same numbers.
    reads: Vec<u32>,
    constants: Vec<(u32, Value)>,
}

/// The program and a variable for every word of a state that has a name.
fn extended(network: &Network) -> (Program, Vec<VariableId>) {
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
    pub(super) fn compile(&mut self, model: &Mcrl2Model, text: &str) -> Result<PredicateId, Diagnostic> {
        let network = &model.network;
        let (program, variables) = self.extended.get_or_insert_with(|| extended(network));
        let first = |mut all: Vec<Diagnostic>| {
            if all.is_empty() { Diagnostic::error("this is no data expression") } else { all.swap_remove(0) }
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
        self.compiled.push(Predicate { text, root, code, frame: scope.size(), reads, constants: globals });
        Ok(PredicateId(self.compiled.len() as u32 - 1))
    }

    /// Whether a state expression holds; its text comes with the trouble.
    pub(super) fn holds(
        &self,
        machine: &mut Machine,
        predicate: PredicateId,
        state: &[u32],
    ) -> Result<bool, (String, Trouble)> {
        let predicate = &self.compiled[predicate.0 as usize];
        let base = machine.enter(predicate.frame);
        for &word in &predicate.reads {
            machine.set_slot(base, word, Value::from_word(state[word as usize]));
        }
        for &(slot, value) in &predicate.constants {
            machine.set_slot(base, slot, value);
        }
        let value = machine.evaluate(&predicate.code, base);
        machine.leave(base);
        let failed = |trouble| (predicate.text.clone(), trouble);
        let value = value.map_err(|error| failed(error.into()))?;
        value.as_bool().ok_or_else(|| failed(Trouble::Stuck { condition: predicate.root, value }))
    }
}
