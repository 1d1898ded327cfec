//! The values of a quantified variable that matter in a state.
//!
//! `forall d. F` is false exactly if F is false for some value. F can only be false for values that
//! satisfy one of its *alternatives*: conditions on data, and action formulas of boxes that match
//! some step of the state. Any other value makes F true and can be skipped. Dually for `exists`.
//! Alternatives describe a superset, so parts that cannot be used may be dropped.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnpike_model::formula::{ANY_ACTION, Node};

use super::{Requirement, matching};
use crate::compile::solver::Plan;
use crate::typed::expression::{self, free_variables};
use crate::typed::formula::TypedFormula;
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// Products with more alternatives than this are not expanded.
const MOST_ALTERNATIVES: usize = 32;
/// With more steps in one alternative there would be too many combinations of labels.
const MOST_STEPS: usize = 2;

/// Values for which the body may decide the quantifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Alternative {
    /// Conditions with their truth values.
    conditions: Vec<(ExpressionId, bool)>,
    /// Action formulas, each of which matches a step of the state.
    pub(super) steps: Vec<u32>,
}

/// The alternatives of every quantifier.
pub(super) fn alternatives(program: &Program, formula: &TypedFormula) -> Vec<Vec<Alternative>> {
    let analysis = |number: usize| {
        let Node::Quantifier { all, body, .. } =
            formula.graph.nodes[formula.quantifiers[number].node as usize]
        else {
            return Vec::new();
        };
        let inner = bound_below(formula, body);
        Analysis { program, formula, all, inner }.of(body)
    };
    (0..formula.quantifiers.len()).map(analysis).collect()
}

/// The variables that are bound between a node and the modalities below it.
fn bound_below(formula: &TypedFormula, root: u32) -> Vec<VariableId> {
    let (mut found, mut rest) = (Vec::new(), vec![root]);
    while let Some(id) = rest.pop() {
        match &formula.graph.nodes[id as usize] {
            Node::Junction { parts, .. } => rest.extend_from_slice(parts),
            Node::Quantifier { quantifier, body, .. } => {
                found.extend_from_slice(&formula.quantifiers[*quantifier as usize].variables);
                rest.push(*body);
            }
            _ => {}
        }
    }
    found
}

struct Analysis<'a> {
    program: &'a Program,
    formula: &'a TypedFormula,
    all: bool,
    /// Variables without a value at the quantifier.
    inner: Vec<VariableId>,
}

impl Analysis<'_> {
    /// The alternatives in which a node may be false (under `forall`) or true (under `exists`).
    fn of(&self, node: u32) -> Vec<Alternative> {
        let anything = || vec![Alternative::default()];
        match &self.formula.graph.nodes[node as usize] {
            Node::Constant(value) => {
                if *value == self.all {
                    Vec::new()
                } else {
                    anything()
                }
            }
            Node::Condition { condition, expected } => {
                let condition = self.formula.conditions[*condition as usize];
                let conditions = match self.is_usable(condition) {
                    true => vec![(condition, *expected != self.all)],
                    false => Vec::new(),
                };
                vec![Alternative { conditions, steps: Vec::new() }]
            }
            Node::Junction { all, parts } if *all == self.all => {
                let mut union: Vec<Alternative> = Vec::new();
                for alternative in parts.iter().flat_map(|&part| self.of(part)) {
                    if !union.contains(&alternative) {
                        union.push(alternative);
                    }
                }
                union
            }
            Node::Junction { parts, .. } => {
                parts.iter().fold(anything(), |product, &part| multiply(product, self.of(part)))
            }
            Node::Quantifier { body, .. } => self.of(*body),
            Node::Modality { all, action, .. } if *all == self.all && *action != ANY_ACTION => {
                let mut usable = true;
                let formula = &self.formula.actions[*action as usize];
                formula.for_each_expression(&mut |one| usable &= self.is_usable(one));
                let steps = if usable { vec![*action] } else { Vec::new() };
                vec![Alternative { conditions: Vec::new(), steps }]
            }
            Node::Modality { .. } | Node::Call { .. } => anything(),
        }
    }

    fn is_usable(&self, condition: ExpressionId) -> bool {
        free_variables(self.program, condition).iter().all(|variable| !self.inner.contains(variable))
    }
}

/// The conjunction of alternatives. If there would be too many, the shorter list alone is a
/// superset.
fn multiply(left: Vec<Alternative>, right: Vec<Alternative>) -> Vec<Alternative> {
    if left.len() * right.len() > MOST_ALTERNATIVES {
        return if left.len() <= right.len() { left } else { right };
    }
    let mut product = Vec::new();
    for one in &left {
        for other in &right {
            let mut joined = one.clone();
            joined.conditions.extend(other.conditions.iter().filter(|pair| !one.conditions.contains(pair)));
            let steps = other.steps.iter().filter(|step| !one.steps.contains(step));
            joined.steps.extend(steps);
            joined.steps.truncate(MOST_STEPS);
            product.push(joined);
        }
    }
    product
}

/// Finders by quantifier, alternative and label signatures.
pub(super) type Finders = FxHashMap<(u32, u32, Box<[u32]>), Arc<Finder>>;

/// Finds the values of an alternative, given labels for its steps.
#[derive(Debug)]
pub(super) struct Finder {
    pub(super) plan: Plan,
    pub(super) frame: usize,
    /// The slots of the arguments of all labels, in order.
    pub(super) arguments: Vec<u32>,
    pub(super) constants: Vec<(u32, Value)>,
    /// The slots of the quantified variables.
    pub(super) found: Vec<u32>,
}

/// Compiles the finder of an alternative.
pub(super) fn finder(
    requirement: &Requirement,
    program: &mut Program,
    quantifier: u32,
    alternative: u32,
    signatures: &[u32],
) -> Finder {
    let formula = &requirement.formula;
    let alternative = &requirement.alternatives[quantifier as usize][alternative as usize];
    let mut conditions = Vec::new();
    for &(condition, value) in &alternative.conditions {
        conditions.push(if value { condition } else { expression::not(program, condition) });
    }
    let mut labels: Vec<VariableId> = Vec::new();
    for (&step, &signature) in alternative.steps.iter().zip(signatures) {
        let signature = requirement.model.network.signatures.get(signature);
        let arguments = matching::argument_variables(program, &signature);
        let action = &formula.actions[step as usize];
        conditions.push(matching::condition(program, action, &signature, &arguments));
        labels.extend(arguments);
    }
    let (mut scope, constants) = requirement.scope();
    let arguments = labels.iter().map(|&one| scope.slot(one)).collect();
    let variables = &formula.quantifiers[quantifier as usize].variables;
    let plan = Plan::new(&requirement.model.network.rules, program, variables, &conditions, &mut scope);
    let found = variables.iter().map(|&one| scope.slot(one)).collect();
    Finder { plan, frame: scope.size(), arguments, constants, found }
}
