//! One attempt: a schedule, followed as far as it goes, and whether the failure is still the same.

use turnpike_model::StepError;
use turnpike_model::paths::{Chooser, Detail, PathEnd, Paths, Request};

use crate::objective::{Judge, Objective};

/// A schedule that shows the failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Positions among the choices.
    pub(crate) positions: Vec<u32>,
    /// Thread and alternative of each step.
    pub(crate) order: Vec<(u32, u32)>,
    /// How unusual these alternatives are.
    pub(crate) unusual: Vec<u32>,
}

impl Schedule {
    /// Steps whose thread is another one than that of the step before.
    pub(crate) fn switches(&self) -> usize {
        self.order.windows(2).filter(|pair| pair[0].0 != pair[1].0).count()
    }

    /// Smaller is better: few switches, then few steps, then usual alternatives.
    pub(crate) fn cost(&self) -> (usize, usize, u64) {
        let unusual = self.unusual.iter().map(|&unusual| u64::from(unusual)).sum();
        (self.switches(), self.order.len(), unusual)
    }
}

/// Executions that may hang before no more are tried: the one that shows the failure.
const HANGS: u32 = 1;

/// Tries schedules, within a budget.
pub(crate) struct Attempts<'r> {
    pub(crate) paths: &'r mut dyn Paths,
    judge: Judge,
    /// Of the failure that is to stay.
    signature: Option<u64>,
    budget: u64,
    pub(crate) spent: u64,
    /// Executions that hung: each takes as long as thousands of others.
    hung: u32,
}

impl<'r> Attempts<'r> {
    /// Attempts to show an objective. The failure becomes that of the first attempt.
    pub(crate) fn new(paths: &'r mut dyn Paths, objective: &Objective, budget: u64) -> Option<Self> {
        let judge = Judge::new(std::slice::from_ref(objective)).ok()?;
        Some(Attempts { paths, judge, signature: None, budget, spent: 0, hung: 0 })
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
        self.run(positions, Chooser::Continue)
    }

    /// Follows an order loosely.
    pub(crate) fn follow(&mut self, order: &[(u32, u32)]) -> Result<Option<Schedule>, StepError> {
        self.run(&[], Chooser::Follow { order })
    }

    /// Executes; the schedule up to where the objective is met, if the failure is the same.
    pub(crate) fn run(
        &mut self,
        prefix: &[u32],
        chooser: Chooser<'_>,
    ) -> Result<Option<Schedule>, StepError> {
        self.spent += 1;
        let max_steps = self.paths.info().max_steps;
        self.paths.follow(&Request { prefix, chooser, max_steps, detail: Detail::Full, reduced: true })?;
        self.hung += u32::from(self.paths.end() == PathEnd::Hung);
        let hits = self.judge.hits(self.paths);
        let Some(hit) = hits.first() else { return Ok(None) };
        let at_end = hit.steps == self.paths.len() && !self.judge.needs_labels();
        let mark = if at_end { self.paths.signature() } else { 0 };
        if *self.signature.get_or_insert(mark) != mark {
            return Ok(None);
        }
        let steps: Vec<_> = (0..hit.steps).map(|at| self.paths.step(at)).collect();
        Ok(Some(Schedule {
            positions: steps.iter().map(|step| step.taken).collect(),
            order: steps.iter().map(|step| (step.actor, step.alternative)).collect(),
            unusual: steps.iter().map(|step| step.unusual).collect(),
        }))
    }
}
