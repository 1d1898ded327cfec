//! An executor that notes what was left out and executes some plans again: unless the same plan
//! gives the same execution, the program is not deterministic, and no result can be trusted.

use std::sync::{Arc, OnceLock};

use turnpike_scheduler::{Detail, End, Execution, Executor, Finding, Frame, GuestError, Plan, Site};

use crate::names::Names;
use crate::settings::{LeftOut, ProgramOptions};
use crate::signature::{end_signature, finding_signature};
use crate::texts;

/// Why a program may not be deterministic.
const CAUSES: &str =
    "it may depend on addresses, uninitialised memory, real time, files, or data that survives an execution";

/// Pairs of executions with full detail that are compared to explain a difference.
const EXPLAINING: usize = 8;

pub(crate) struct Guarded {
    inner: Box<dyn Executor>,
    check_every: u64,
    suppress: Vec<String>,
    left_out: Arc<LeftOut>,
    names: Arc<OnceLock<Names>>,
    executions: u64,
    /// Whether executions only gather names: one that is cut then leaves nothing out.
    probing: bool,
    once: Execution,
    again: Execution,
}

impl Guarded {
    pub(crate) fn new(
        inner: Box<dyn Executor>,
        options: &ProgramOptions,
        left_out: Arc<LeftOut>,
        names: Arc<OnceLock<Names>>,
    ) -> Self {
        Guarded {
            inner,
            check_every: options.check_every,
            suppress: options.suppress.clone(),
            left_out,
            names,
            executions: 0,
            probing: false,
            once: Execution::default(),
            again: Execution::default(),
        }
    }

    /// Suppresses the errors of an execution that the options list.
    fn suppress(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        out.suppressed.clear();
        out.end_is_suppressed = false;
        if self.suppress.is_empty() {
            return Ok(());
        }
        let suppressed = |signature: &String| self.suppress.contains(signature);
        let stuck = match out.end {
            End::Deadlock | End::Livelock => true,
            // Reproducing it takes long.
            End::Hung => self.suppress.iter().any(|signature| signature.starts_with("hang@")),
            _ => false,
        };
        let leaks = out.findings.iter().any(|finding| matches!(finding, Finding::Leak(_)));
        if plan.detail < Detail::Full && (stuck || leaks) {
            self.inner.run(&Plan { detail: Detail::Full, ..*plan }, &mut self.once)?;
        }
        let detailed = plan.detail >= Detail::Full || !(stuck || leaks);
        let shown = if detailed { &*out } else { &self.once };
        let end = end_signature(shown, &mut *self.inner).filter(suppressed);
        let mut found = Vec::new();
        for finding in &shown.findings {
            found.push(finding_signature(shown, finding, &mut *self.inner).filter(suppressed));
        }
        let mut known = found.iter();
        out.findings.retain(|_| known.next().is_none_or(Option::is_none));
        out.end_is_suppressed = end.is_some();
        for signature in end.into_iter().chain(found.into_iter().flatten()) {
            if !out.suppressed.contains(&signature) {
                out.suppressed.push(signature);
            }
        }
        if !out.suppressed.is_empty() && !self.probing {
            self.left_out.pass_over(&out.suppressed);
        }
        Ok(())
    }

    /// Begins or ends a phase in which executions only gather names.
    pub(crate) fn set_probing(&mut self, probing: bool) {
        self.probing = probing;
    }

    /// Executes the plan again and compares. A difference is explained with full detail.
    fn check(&mut self, plan: &Plan<'_>, out: &Execution) -> Result<(), GuestError> {
        self.inner.run(plan, &mut self.again)?;
        if same(out, &self.again) {
            return Ok(());
        }
        let unexplained = format!("{} once and {} another time", ended(out), ended(&self.again));
        let plan = Plan { detail: Detail::Full, ..*plan };
        for _ in 0..EXPLAINING {
            self.inner.run(&plan, &mut self.once)?;
            self.inner.run(&plan, &mut self.again)?;
            if let Some(difference) = difference(&self.once, &self.again, &mut *self.inner) {
                return Err(not_deterministic(&difference));
            }
        }
        Err(not_deterministic(&unexplained))
    }
}

/// Whether two executions took the same choices to the same end; their fingerprints cover
/// everything in between.
pub(crate) fn same(one: &Execution, other: &Execution) -> bool {
    let choices = |execution: &Execution| {
        execution.steps.iter().map(|step| (step.taken, step.count)).collect::<Vec<_>>()
    };
    one.end == other.end && one.fingerprint == other.fingerprint && choices(one) == choices(other)
}

impl Executor for Guarded {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.inner.run(plan, out)?;
        if !(self.probing && out.end == End::StepLimit) {
            self.left_out.note(out, plan.max_steps);
        }
        // The first execution is checked, so that a nondeterministic program is reported at once.
        let due = self.check_every > 0 && self.executions.is_multiple_of(self.check_every);
        self.executions += 1;
        if due && out.end != End::Hung {
            self.check(plan, out)?;
        }
        if let Some(names) = self.names.get() {
            names.apply(out);
        }
        self.suppress(plan, out)
    }

    fn site(&mut self, site: Site) -> String {
        self.inner.site(site)
    }

    fn frames(&mut self, address: u64) -> Option<Vec<Frame>> {
        self.inner.frames(address)
    }

    fn unseen(&self) -> Vec<String> {
        self.inner.unseen()
    }

    fn asks_for_weaker_orders(&self) -> bool {
        self.inner.asks_for_weaker_orders()
    }
}

/// The error for a program that behaves differently when it is executed in the same way.
pub(crate) fn not_deterministic(difference: &str) -> GuestError {
    GuestError::nondeterministic(format!("with the same schedule, {difference} ({CAUSES})"))
}

/// How an execution ended, in words.
pub(crate) fn ended(execution: &Execution) -> String {
    let steps = execution.steps.len();
    let how = match &execution.end {
        End::Finished => "it finished".to_owned(),
        End::Deadlock => "it deadlocked".to_owned(),
        End::Livelock => "it ended in a livelock".to_owned(),
        End::Failed(failure) => format!("it failed ({})", failure.message),
        End::StepLimit => "it was cut".to_owned(),
        End::Stopped => "it went on".to_owned(),
        End::Asleep => "all its choices slept".to_owned(),
        End::Diverged(_) => "it did not offer the choice".to_owned(),
        End::Hung => "it hung".to_owned(),
    };
    format!("{how} after {steps} steps")
}

/// The first difference of two executions with full detail, in words.
fn difference(once: &Execution, again: &Execution, executor: &mut dyn Executor) -> Option<String> {
    let pairs = once.steps.iter().zip(&again.steps).enumerate();
    for (index, (one, other)) in pairs {
        let number = index + 1;
        let labels = [(once, one), (again, other)]
            .map(|(execution, step)| texts::label(execution, &step.choice, executor).text);
        if labels[0] != labels[1] {
            return Some(format!("step {number} was {} once and {} another time", labels[0], labels[1]));
        }
        if one.count != other.count || one.taken != other.taken {
            let (one, other) = (one.count, other.count);
            return Some(format!(
                "step {number}, {}, was one of {one} choices once and of {other} another time",
                labels[0]
            ));
        }
        if one.fingerprint != other.fingerprint {
            return Some(format!("the threads had another past after step {number}, {}", labels[0]));
        }
    }
    (!same(once, again)).then(|| format!("{} once and {} another time", ended(once), ended(again)))
}
