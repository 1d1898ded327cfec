//! The solver: enumerates the values of variables that make a condition true, for sums, quantifiers
//! and probabilistic choices.
//!
//! A [`Plan`] is made once per condition. It binds one variable after another, each in the
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
pub(crate) use self::unfold::add_known_symbols;
use crate::compile::evaluator::{EvaluationError, Machine, Rules, Scope};
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// How many candidates a sum may narrow before the solver gives up.
pub const SUM_LIMIT: usize = 100_000;
/// The same for a quantifier, which is then undecided.
pub const QUANTIFIER_LIMIT: usize = 1_000;

/// A plan to enumerate the values of some variables: from an equation, a list or set, an interval,
/// the values of a finite sort, or by building them constructor by constructor.
#[derive(Clone, Debug)]
pub struct Plan {
    steps: Arc<[Step]>,
    limit: usize,
    /// Limits the enumeration of an interval to this many values from the least of the sort.
    most: Option<u32>,
}

/// The problem to plan for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The variables to enumerate.
    pub variables: &'a [VariableId],
    /// The conditions, each with the truth value that it must have.
    pub conditions: &'a [(ExpressionId, bool)],
    /// Whether only the existence of a solution matters. Variables that occur in no condition get
    /// no value then.
    pub witness: bool,
    /// How many candidates may be tried when nothing bounds their number.
    pub limit: usize,
}

/// Why an enumeration stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerationError {
    /// A part of the condition is neither true nor false.
    Stuck {
        /// The part of the condition.
        condition: ExpressionId,
        /// The value of that part, or of the component of it that is stuck.
        value: Value,
    },
    /// This variable cannot be enumerated, or the limit was reached.
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
    /// Plans for the values of `variables`, which get slots in `scope`, for which all `conditions`
    /// hold. The other variables of the conditions get slots too, and the caller sets them.
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

    /// Plans for a query. See [`Plan::new`] for the slots.
    pub fn for_query(rules: &Arc<Rules>, program: &Program, query: &Query, scope: &mut Scope) -> Plan {
        let steps =
            Planner::new(rules, program, scope).plan(query.variables, query.conditions, query.witness);
        // The user's setting applies to quantifiers only.
        let most = program.execution.quantifier_limit.filter(|_| query.witness);
        let limit = most.map_or(query.limit, |most| query.limit.min(most as usize));
        Plan { steps: steps.into(), limit, most }
    }

    /// Plans for a probabilistic choice: the values of `variables` for which `weight` is not 0, as
    /// `possible` states. Also returns the slot that holds the weight of each solution. `None` if
    /// [`Plan::new`] suits better.
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

    /// Calls `visit` for every solution, with the variables set in the frame at `base`. Each
    /// solution is visited once, in an order that depends on the values of the frame only.
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
