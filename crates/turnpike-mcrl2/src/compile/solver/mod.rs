//! The solver: enumerates the values of variables that make a condition true, for sums, quantifiers
//! and probabilistic choices.
//!
//! A [`Plan`] is made once. It splits the condition and binds one variable after another in the
//! cheapest way: by solving an equation (`x == e`, `x + k == e`, `e == c(x, y)`, `e == x |> l`), by
//! the elements of a list, set or bag (`x in e`), by the integers between bounds (`x < e`), or by
//! all values of a finite sort. The rest of the condition is tested as soon as its variables are
//! bound. If nothing else helps, a disjunction or a variable of a structured sort is split into
//! branches. The remaining variables are built constructor by constructor (`narrow`).
//!
//! Every solution is found once, in an order that depends only on the values. A condition that is
//! neither true nor false for some candidate is an error, which is reported after all solutions:
//! `exists` is true as soon as one solution is found.
//!
//! Quantifiers: `exists x. b` is [`Plan::for_query`] with the condition `(b, true)`, `forall x. b`
//! with `(b, false)`, both with `witness` set and [`QUANTIFIER_LIMIT`]. The visitor breaks.
//! `Ok(Break)` means that there is a witness, `Ok(Continue)` that there is none, and an error that
//! the quantifier is not decided.

mod choice;
mod finite;
mod functions;
mod linear_form;
mod literal;
mod matching;
mod narrow;
mod nonzero;
mod number;
mod outcomes;
mod pattern;
mod planner;
mod run;
mod step;
#[cfg(test)]
mod tests;
mod unfold;
mod values;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use self::finite::{LIST_LIMIT, Sizes, finite_size, is_finite};
use self::planner::Planner;
use self::run::Run;
use self::step::Step;
use crate::compile::evaluator::{EvaluationError, Machine, Rules, Scope};
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// How many candidates the variables of a sum may be narrowed to before the solver gives up.
pub const SUM_LIMIT: usize = 100_000;
/// The same for a quantifier, which is then not decided.
pub const QUANTIFIER_LIMIT: usize = 1_000;

/// How the values of some variables are found, decided once: bound by an equation, taken from a
/// list or set, an interval, all values of a finite sort, or built constructor by constructor.
#[derive(Clone, Debug)]
pub struct Plan {
    steps: Arc<[Step]>,
    limit: usize,
    /// So many values of a bounded number are tried, from the least of its sort on.
    most: Option<u32>,
}

/// What to find.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The variables.
    pub variables: &'a [VariableId],
    /// Truth values, each with what it must be.
    pub conditions: &'a [(ExpressionId, bool)],
    /// Whether it only matters if there is a solution: variables that occur in no condition get no
    /// value.
    pub witness: bool,
    /// How many candidates may be looked at where nothing bounds their number.
    pub limit: usize,
}

/// Why an enumeration stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerationError {
    /// A part of the condition is neither true nor false; the culprit.
    Stuck {
        /// The part of the condition.
        condition: ExpressionId,
        /// What it became, or the part of it that has no value.
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

impl From<EvaluationError> for EnumerationError {
    fn from(error: EvaluationError) -> Self {
        EnumerationError::Evaluation(error)
    }
}

impl Plan {
    /// Plans for `variables`, which get slots in `scope`, such that all of `conditions` hold. All
    /// other variables of the conditions have slots already, or get them, and are filled in by the
    /// caller.
    pub fn new(
        rules: &Arc<Rules>,
        program: &Program,
        variables: &[VariableId],
        conditions: &[ExpressionId],
        scope: &mut Scope,
    ) -> Plan {
        let conditions: Vec<(ExpressionId, bool)> =
            conditions.iter().map(|&condition| (condition, true)).collect();
        let query = Query { variables, conditions: &conditions, witness: false, limit: SUM_LIMIT };
        Plan::for_query(rules, program, &query, scope)
    }

    /// Plans for a query; otherwise as [`Plan::new`].
    pub fn for_query(rules: &Arc<Rules>, program: &Program, query: &Query, scope: &mut Scope) -> Plan {
        let steps =
            Planner::new(rules, program, scope).plan(query.variables, query.conditions, query.witness);
        // The user's wish is about quantifiers.
        let most = program.execution.quantifier_limit.filter(|_| query.witness);
        let limit = most.map_or(query.limit, |most| query.limit.min(most as usize));
        Plan { steps: steps.into(), limit, most }
    }

    /// Plans for a probabilistic choice: all values of `variables` for which `weight` is not 0,
    /// which is what `possible` says. Also gives the slot that the weight stands in then. `None` if
    /// that is best left to [`Plan::new`].
    pub fn weighted(
        rules: &Arc<Rules>,
        program: &Program,
        variables: &[VariableId],
        weight: ExpressionId,
        possible: ExpressionId,
        scope: &mut Scope,
    ) -> Option<(Plan, u32)> {
        let (steps, slot) = Planner::new(rules, program, scope).product(variables, weight, possible)?;
        Some((Plan { steps: steps.into(), limit: SUM_LIMIT, most: None }, slot))
    }

    /// Calls `visit` for every solution, with the variables' slots of the frame at `base` filled.
    /// Solutions come in an order that depends on the values of the frame only, each once.
    pub fn run(
        &self,
        machine: &mut Machine,
        base: usize,
        visit: &mut dyn FnMut(&mut Machine) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EnumerationError> {
        let mut run = Run { machine, base, visit, limit: self.limit, most: self.most, first: None };
        let flow = run.steps(&self.steps, None)?;
        match run.first {
            Some(error) if flow.is_continue() => Err(error),
            _ => Ok(flow),
        }
    }
}
