//! What a run counts. [`Counters::report`] is the one place where it becomes a report.

use crate::follow::summary::{Ending, Summary};
use crate::report::{ExecutionCounts, Generation, RunReport};
use crate::store::Fingerprints;

/// Counters of a run.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) depth: u32,
    pub(crate) considered: Option<u64>,
    pub(crate) generated: Option<u64>,
    /// Most candidates held for a level, by strategies that go by levels.
    pub(crate) held: Option<u64>,
    pub(crate) generations: Vec<Generation>,
    /// States that no other covers, when such states are left out.
    pub(crate) stored: Option<u64>,
    pub(crate) odds: Option<String>,
    /// Transitions of the witness as it was found, when the strategy itself made it shorter.
    pub(crate) original_length: Option<usize>,
    pub(crate) executions: Executions,
}

/// Counters of executions of a program.
#[derive(Default)]
pub(crate) struct Executions {
    pub(crate) total: u64,
    /// Came to an end by themselves.
    completed: u64,
    /// Pruned as redundant.
    blocked: u64,
    /// Cut at the limit on steps.
    pub(crate) cut: u64,
    /// Something was bounded or outside control.
    pub(crate) incomplete: bool,
    /// Threads of an execution, at most.
    pub(crate) threads: u32,
    /// Steps whose fingerprints were compared, and how many of these were new.
    pub(crate) sampled: u64,
    distinct: u64,
    seen: Fingerprints,
}

impl Counters {
    /// Books an expansion.
    #[inline]
    pub(super) fn expand(&mut self, depth: u32, transitions: usize) {
        self.states += 1;
        self.transitions += transitions as u64;
        self.depth = self.depth.max(depth);
    }

    /// Books an execution, whose steps count as states.
    pub(crate) fn execute(&mut self, summary: &Summary) {
        let executions = &mut self.executions;
        executions.total += 1;
        executions.incomplete |= summary.incomplete;
        match summary.ending {
            Ending::Completed => executions.completed += 1,
            Ending::Asleep => executions.blocked += 1,
            Ending::Cut => executions.cut += 1,
            Ending::Diverged(_) => {}
        }
        for &print in &summary.prints {
            executions.sampled += 1;
            executions.distinct += u64::from(executions.seen.insert(print));
        }
        let threads = u32::try_from(summary.events.len()).unwrap_or(u32::MAX);
        executions.threads = executions.threads.max(threads);
        let steps = summary.steps as u64;
        self.states = self.states.saturating_add(steps);
        self.transitions += steps;
        self.depth = self.depth.max(u32::try_from(summary.steps).unwrap_or(u32::MAX));
    }

    /// Forgets the sizes of sets that only one member of a portfolio knew.
    pub(crate) fn forget_sets(&mut self) {
        (self.considered, self.generated, self.held) = (None, None, None);
    }

    /// Writes what was counted into a report. States on levels that do not count were
    /// stored all the same.
    pub(crate) fn report(&self, uncounted_levels: u32, report: &mut RunReport) {
        let proper = |count: u64| count.saturating_sub(uncounted_levels.into());
        report.states = self.states;
        report.considered = self.considered.map(proper);
        report.generated = self.generated.map(proper);
        report.held = self.held;
        report.stored = self.stored;
        report.transitions = self.transitions;
        report.depth = self.depth;
        report.generations.clone_from(&self.generations);
        report.executions = self.executions.report();
        report.odds.clone_from(&self.odds);
    }
}

impl Executions {
    fn report(&self) -> Option<ExecutionCounts> {
        let Executions { total: executions, completed, blocked, cut, .. } = *self;
        let distinct = (self.sampled > 0).then(|| self.distinct as f64 / self.sampled as f64);
        (executions > 0).then_some(ExecutionCounts { executions, completed, blocked, cut, distinct })
    }
}
