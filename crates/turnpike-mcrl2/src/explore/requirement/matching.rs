//! Action formulas as conditions on the arguments of labels.

use crate::compile::evaluator::{Code, Scope};
use crate::compile::process::{Signature, SignatureAction};
use crate::syntax::{Binder, Span};
use crate::typed::expression;
use crate::typed::formula::ActionFormula;
use crate::typed::{Expression, ExpressionId, Program, SortId, VariableId};
use crate::value::Value;

use super::Requirement;

/// A compiled expression and the size of its frame.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) root: ExpressionId,
    pub(super) code: Code,
    pub(super) frame: usize,
    /// The slots of the arguments of the label.
    pub(super) arguments: Vec<u32>,
    pub(super) constants: Vec<(u32, Value)>,
    /// The variables of the formula that it reads.
    pub(super) reads: Vec<u32>,
}

impl Requirement {
    /// Compiles an expression over the formula's variables and the arguments of a label.
    pub(super) fn compile(
        &self,
        program: &Program,
        root: ExpressionId,
        arguments: Option<&[VariableId]>,
    ) -> Condition {
        let (mut scope, constants): (Scope, _) = self.scope();
        let arguments = arguments.unwrap_or_default().iter().map(|&one| scope.slot(one)).collect();
        let code = self.model.network.rules.compile(program, root, &mut scope);
        let free = expression::free_variables(program, root);
        let slots = (0..).zip(&self.formula.variables);
        let reads = slots.filter(|(_, variable)| free.contains(variable)).map(|(slot, _)| slot).collect();
        Condition { root, code, frame: scope.size(), arguments, constants, reads }
    }
}

/// New variables for the arguments of labels with a signature.
pub(super) fn argument_variables(program: &mut Program, signature: &Signature) -> Vec<VariableId> {
    let name = program.words.intern("argument");
    let sorts = signature.actions.iter().flat_map(|action| &action.sorts);
    sorts.map(|&sort| program.add_variable(name, sort, Span::default())).collect()
}

/// The condition under which an action formula matches labels of a signature with these arguments.
pub(super) fn condition(
    program: &mut Program,
    formula: &ActionFormula,
    signature: &Signature,
    arguments: &[VariableId],
) -> ExpressionId {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || match formula {
        ActionFormula::Data(condition) => *condition,
        ActionFormula::Multi(actions) => {
            let wanted: Vec<Wanted<'_>> = actions
                .iter()
                .map(|(action, data)| {
                    let action = program.action(*action);
                    let name = program.text(action.name).to_owned();
                    (SignatureAction { name, sorts: action.sorts.clone() }, &data[..])
                })
                .collect();
            multi_action(program, &wanted, signature, arguments)
        }
        ActionFormula::Not(body) => {
            let body = condition(program, body, signature, arguments);
            expression::not(program, body)
        }
        ActionFormula::Junction { all, parts } => {
            let parts: Vec<ExpressionId> =
                parts.iter().map(|part| condition(program, part, signature, arguments)).collect();
            if *all { expression::all(program, &parts) } else { expression::any(program, &parts) }
        }
        ActionFormula::Quantifier { all, variables, body } => {
            let body = condition(program, body, signature, arguments);
            if let Expression::Bool(_) = program.expression(body) {
                return body;
            }
            let binder = if *all { Binder::Forall } else { Binder::Exists };
            let whole = Expression::Binder { binder, variables: variables.clone(), body };
            program.add_expression(whole, SortId::BOOL, Span::default())
        }
    })
}

/// As [`condition`], for labels that match only if the formula names one of their actions.
pub(super) fn state_condition(
    program: &mut Program,
    formula: &ActionFormula,
    signature: &Signature,
    arguments: &[VariableId],
) -> ExpressionId {
    let named = is_named(program, formula, signature, arguments);
    let matched = condition(program, formula, signature, arguments);
    expression::all(program, &[named, matched])
}

fn is_named(
    program: &mut Program,
    formula: &ActionFormula,
    signature: &Signature,
    arguments: &[VariableId],
) -> ExpressionId {
    match formula {
        ActionFormula::Data(_) | ActionFormula::Not(_) => expression::boolean(program, false),
        ActionFormula::Multi(_) => condition(program, formula, signature, arguments),
        ActionFormula::Junction { parts, .. } => {
            let parts: Vec<ExpressionId> =
                parts.iter().map(|part| is_named(program, part, signature, arguments)).collect();
            expression::any(program, &parts)
        }
        ActionFormula::Quantifier { variables, body, .. } => {
            let body = is_named(program, body, signature, arguments);
            if let Expression::Bool(_) = program.expression(body) {
                return body;
            }
            let whole = Expression::Binder { binder: Binder::Exists, variables: variables.clone(), body };
            program.add_expression(whole, SortId::BOOL, Span::default())
        }
    }
}

/// An action of a formula with its arguments.
type Wanted<'a> = (SignatureAction, &'a [ExpressionId]);

/// Matches the wanted actions with those of the label in any order.
fn multi_action(
    program: &mut Program,
    wanted: &[Wanted<'_>],
    signature: &Signature,
    arguments: &[VariableId],
) -> ExpressionId {
    if wanted.len() != signature.actions.len() {
        return expression::boolean(program, false);
    }
    let mut starts = Vec::new();
    let mut start = 0;
    for action in &signature.actions {
        starts.push(start);
        start += action.arity();
    }
    let mut orders = Vec::new();
    assign(wanted, signature, &mut Vec::new(), &mut orders);
    let mut choices = Vec::new();
    for order in orders {
        let mut parts = Vec::new();
        for (&at, (_, data)) in order.iter().zip(wanted) {
            for (&argument, &value) in arguments[starts[at]..].iter().zip(*data) {
                let argument = expression::variable(program, argument);
                parts.push(expression::equal(program, argument, value));
            }
        }
        choices.push(expression::all(program, &parts));
    }
    expression::any(program, &choices)
}

/// Lists all assignments of wanted actions to actions of the label with the same name and sorts.
fn assign(wanted: &[Wanted<'_>], signature: &Signature, chosen: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    let Some((action, _)) = wanted.get(chosen.len()) else {
        return out.push(chosen.clone());
    };
    for (at, other) in signature.actions.iter().enumerate() {
        if !chosen.contains(&at) && other == action {
            chosen.push(at);
            assign(wanted, signature, chosen, out);
            chosen.pop();
        }
    }
}
