//! Finding all values of variables that make a condition true: for sums, quantifiers and probabilistic choices.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::evaluate::{EvaluationError, Machine, Rules, Scope};
use crate::sorts::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// How the values of some variables are found, decided once: bound by an equation, taken from a list or set, an interval, all values
/// of a finite sort, or built constructor by constructor.
#[derive(Clone, Debug)]
pub struct Plan {}

/// Why an enumeration stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerationError {
    /// A part of the condition is neither true nor false; the culprit.
    Stuck {
        /// The part of the condition.
        condition: ExpressionId,
        /// What it became.
        value: Value,
    },
    /// The values of this variable cannot be enumerated, or more than the limit were tried.
    Endless {
        /// The variable.
        variable: VariableId,
        /// Why, for the user.
        reason: String,
    },
    /// A part of the condition has no value.
    Evaluation(EvaluationError),
}

impl Plan {
    /// Plans for `variables`, which get slots in `scope`, such that all of `conditions` hold. All other variables of the conditions
    /// have slots already, or get them, and are filled in by the caller.
    pub fn new(
        rules: &Arc<Rules>,
        program: &Program,
        variables: &[VariableId],
        conditions: &[ExpressionId],
        scope: &mut Scope,
    ) -> Plan {
        let _ = (rules, program, variables, conditions, scope);
        unimplemented!()
    }

    /// Calls `visit` for every solution, with the variables' slots of the frame at `base` filled. Solutions come in an order that
    /// depends on the values of the frame only, each once.
    pub fn run(
        &self,
        machine: &mut Machine,
        base: usize,
        visit: &mut dyn FnMut(&mut Machine) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EnumerationError> {
        let _ = (machine, base, visit);
        unimplemented!()
    }
}
