//! One attempt: a schedule, followed as far as it goes, and whether the failure is still the same.

use turnpike_model::scheduler::{Detail, End, Execution, Plan, Policy, ThreadId};
use turnpike_model::{Explorer, StepError};

use super::signature;
use crate::objective::{Judge, Objective};
use crate::strategy::execute;

/// A schedule that shows the failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Positions among the choices.
    pub(crate) positions: Vec<u32>,
    /// Thread and alternative of each step.
    pub(crate) order: Vec<(ThreadId, u32)>,
}

impl Schedule {
    /// Steps whose thread is another one than that of the step before.
    pub(crate) fn switches(&self) -> usize {
        self.order.windows(2).filter(|pair| pair[0].0 != pair[1].0).count()
    }

    /// Smaller is better: few switches, then few steps, then small alternatives.
    pub(crate) fn cost(&self) -> (usize, usize, u64) {
        let alternatives = self.order.iter().map(|&(_, alternative)| u64::from(alternative)).sum();
        (self.switches(), self.order.len(), alternatives)
    }
}

/// Executions that may hang before no more are tried: the one that shows the failure.
const HANGS: u32 = 1;

/// Tries schedules, within a budget.
pub(crate) struct Attempts<'r, 'p> {
    explorer: &'r mut dyn Explorer,
    base: Plan<'p>,
    judge: Judge,
    /// Of the failure that is to stay.
    signature: Option<u64>,
    budget: u64,
    pub(crate) spent: u64,
    /// Executions that hung: each takes as long as thousands of others.
    hung: u32,
    pub(crate) execution: Execution,
}

impl<'r, 'p> Attempts<'r, 'p> {
    /// Attempts to show an objective. The failure becomes that of the first attempt.
    pub(crate) fn new(
        explorer: &'r mut dyn Explorer,
        base: Plan<'p>,
        objective: &Objective,
        budget: u64,
    ) -> Option<Self> {
        let judge = Judge::new(std::slice::from_ref(objective)).ok()?;
        let execution = Execution::default();
        Some(Attempts { explorer, base, judge, signature: None, budget, spent: 0, hung: 0, execution })
    }

    /// Makes room for so many more.
    pub(crate) fn allow(&mut self, more: u64) {
        self.budget = self.spent.saturating_add(more);
    }

    pub(crate) fn exhausted(&self) -> bool {
        self.spent >= self.budget || self.hung >= HANGS
    }

    /// Follows the positions exactly.
    pub(crate) fn replay(&mut self, positions: &[u32]) -> Result<Option<Schedule>, StepError> {
        self.run(positions, Policy::Continue)
    }

    /// Follows an order loosely.
    pub(crate) fn follow(&mut self, order: &[(ThreadId, u32)]) -> Result<Option<Schedule>, StepError> {
        self.run(&[], Policy::Follow { order })
    }

    /// Executes; the schedule up to where the objective is met, if the failure is the same.
    pub(crate) fn run(&mut self, prefix: &[u32], policy: Policy<'_>) -> Result<Option<Schedule>, StepError> {
        self.spent += 1;
        let plan = Plan { prefix, policy, detail: Detail::Full, ..self.base };
        execute(self.explorer, &plan, &mut self.execution)?;
        self.hung += u32::from(self.execution.end == End::Hung);
        let hits = self.judge.hits(self.explorer, &self.execution);
        let Some(hit) = hits.first() else { return Ok(None) };
        let at_end = hit.steps == self.execution.steps.len() && !self.judge.needs_labels();
        let mark = if at_end { signature(&self.execution) } else { 0 };
        if *self.signature.get_or_insert(mark) != mark {
            return Ok(None);
        }
        let steps = &self.execution.steps[..hit.steps];
        Ok(Some(Schedule {
            positions: steps.iter().map(|step| step.taken).collect(),
            order: steps.iter().map(|step| (step.choice.thread, step.choice.alternative)).collect(),
        }))
    }
}
