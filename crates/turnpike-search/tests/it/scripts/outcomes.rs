//! What programs can come to, as exhaustive search sees it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::{End, Execution, Executor, GuestError, Plan, Site};
use turnpike_search::strategy::Exhaustive;
use turnpike_search::{RunReport, SearchOptions, StopReason, Strategy};

use super::one;

/// Exhaustive search for errors, by source-DPOR or by plain enumeration.
pub(crate) fn exhaustive(source_dpor: bool) -> SearchOptions {
    let mut options = SearchOptions::new(Exhaustive { depth: u32::MAX });
    options.objectives.push("any-error".parse().unwrap());
    options.source_dpor = Some(source_dpor);
    options.shorten = false;
    options
}

/// No execution is checked by another.
pub(crate) fn quiet() -> ProgramOptions {
    ProgramOptions { check_every: 0, ..ProgramOptions::default() }
}

/// Notes how executions end.
struct Noting {
    inner: Box<dyn Executor>,
    ends: Arc<Mutex<Vec<(End, u128)>>>,
}

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(plan, out)?;
        if !matches!(out.end, End::Asleep | End::Stopped | End::Diverged(_)) {
            self.ends.lock().unwrap().push((out.end.clone(), out.fingerprint));
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }
}

/// What a program can come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) finished: BTreeSet<u128>,
    pub(crate) deadlocked: BTreeSet<u128>,
    pub(crate) failures: BTreeSet<String>,
    /// States at the bound.
    pub(crate) cut: BTreeSet<u128>,
    /// Other ends.
    pub(crate) others: BTreeSet<String>,
}

/// All that exhaustive search sees in executions of at most `depth` steps, with its counts; `None` when it takes too
/// many executions.
pub(crate) fn explore(
    model: ProgramModel,
    source_dpor: bool,
    depth: u32,
    limit: u64,
) -> Option<(Outcomes, RunReport)> {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let (log, inner) = (Arc::clone(&ends), Arc::new(model));
    let settings = inner.options().clone();
    let launch = move || {
        let inner = inner.executor()?;
        Ok(Box::new(Noting { inner, ends: Arc::clone(&log) }) as Box<dyn Executor>)
    };
    let model = ProgramModel::new("noted", 1, Box::new(launch), settings).unwrap();
    ends.lock().unwrap().clear();
    let mut options = exhaustive(source_dpor);
    options.strategy = Strategy::from(Exhaustive { depth });
    // Nothing stops the search.
    options.objectives = vec!["race".parse().unwrap()];
    options.limits.executions = Some(limit);
    let report = one(&model, &options);
    if report.stop == StopReason::MaxExecutions {
        return None;
    }
    let mut outcomes = Outcomes::default();
    for (end, fingerprint) in ends.lock().unwrap().drain(..) {
        match end {
            End::Finished => drop(outcomes.finished.insert(fingerprint)),
            End::Deadlock => drop(outcomes.deadlocked.insert(fingerprint)),
            End::StepLimit => drop(outcomes.cut.insert(fingerprint)),
            End::Failed(failure) => drop(outcomes.failures.insert(failure.message)),
            other => drop(outcomes.others.insert(format!("{other:?}"))),
        }
    }
    Some((outcomes, report))
}
