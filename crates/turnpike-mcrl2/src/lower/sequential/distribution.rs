//! Combines the probabilistic choices between an action and a location into one distribution.

use turnpike_model::diagnostic::Diagnostic;

use super::terms::error;
use crate::lower::Distribution;
use crate::syntax::Span;
use crate::typed::expression::{all, equal, representative, variable};
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId, Variable, VariableId};

/// The choices so far. They are independent, so probabilities multiply.
#[derive(Default)]
pub(super) struct PendingChoices {
    variables: Vec<VariableId>,
    weight: Option<ExpressionId>,
    conditions: Vec<ExpressionId>,
    /// With `keep_dead`: variables of the source with the values that the choices give them.
    kept: Vec<(VariableId, ExpressionId)>,
}

impl PendingChoices {
    /// The following choices happen only if a condition holds.
    pub(super) fn under(&mut self, condition: ExpressionId) {
        self.conditions.push(condition);
    }

    /// Ends the scope of [`PendingChoices::under`].
    pub(super) fn leave(&mut self) {
        self.conditions.pop();
    }

    /// Adds a choice that happens only if all of `conditions` hold, too. Otherwise its variables
    /// have a fixed value with certainty.
    pub(super) fn add(
        &mut self,
        program: &mut Program,
        variables: Vec<VariableId>,
        weight: ExpressionId,
        conditions: &[ExpressionId],
    ) -> Result<(), Diagnostic> {
        let conditions: Vec<ExpressionId> = self.conditions.iter().chain(conditions).copied().collect();
        let mut weight = weight;
        if !conditions.is_empty() {
            let mut fixed = Vec::new();
            for &one in &variables {
                let value = some_value(program, one)?;
                let one = variable(program, one);
                fixed.push(equal(program, one, value));
            }
            let (condition, fixed) = (all(program, &conditions), all(program, &fixed));
            let (one, zero) = (number(program, "1"), number(program, "0"));
            let certain = choice(program, fixed, one, zero);
            weight = choice(program, condition, weight, certain);
        }
        self.weight = Some(match self.weight {
            None => weight,
            Some(other) => {
                let sorts = [SortId::REAL, SortId::REAL];
                call(program, Builtin::Multiply, "*", &sorts, &[other, weight])
            }
        });
        self.variables.extend(variables);
        Ok(())
    }

    /// Adds a variable of the source to the values that the next state holds, even if it is dead.
    pub(super) fn keep(&mut self, one: VariableId, value: ExpressionId) {
        self.kept.push((one, value));
    }

    /// The values that the next state holds even if they are dead.
    pub(super) fn kept(&self) -> &[(VariableId, ExpressionId)] {
        &self.kept
    }

    /// The product of all choices.
    pub(super) fn distribution(self) -> Option<Distribution> {
        let variables = self.variables;
        self.weight.map(|weight| Distribution { variables, weight })
    }
}

/// A value for a variable of a choice that does not happen.
pub(super) fn some_value(program: &mut Program, one: VariableId) -> Result<ExpressionId, Diagnostic> {
    let Variable { sort, span, .. } = *program.variable(one);
    let message = "a probabilistic choice below a condition needs a sort with a known value";
    representative(program, sort).ok_or_else(|| error(span, message))
}

fn number(program: &mut Program, digits: &str) -> ExpressionId {
    let digits = program.words.intern(digits);
    program.add_expression(Expression::Number(digits), SortId::REAL, Span::default())
}

fn choice(
    program: &mut Program,
    condition: ExpressionId,
    then: ExpressionId,
    otherwise: ExpressionId,
) -> ExpressionId {
    let sorts = [SortId::BOOL, SortId::REAL, SortId::REAL];
    call(program, Builtin::If, "if", &sorts, &[condition, then, otherwise])
}

/// A built-in function with result `Real`.
fn call(
    program: &mut Program,
    builtin: Builtin,
    name: &str,
    sorts: &[SortId],
    arguments: &[ExpressionId],
) -> ExpressionId {
    let (name, sort) = (program.words.intern(name), program.sorts.function(sorts, SortId::REAL));
    let symbol = program.builtin(builtin, name, sort);
    let call = Expression::Call { symbol, arguments: arguments.into() };
    program.add_expression(call, SortId::REAL, Span::default())
}
