//! How a program is executed, and what executions left out.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use turnpike_scheduler::{End, Execution, Finding, MayAccess, Plan, Policy, Reduction, Timeouts};

/// Steps after which an execution is cut, when nothing else is said.
pub const DEFAULT_MAX_STEPS: u32 = 20_000;
/// Of so many executions one is checked by executing it again.
pub const DEFAULT_CHECK_EVERY: u64 = 100;

/// How the program is executed.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// Steps after which an execution is cut.
    pub max_steps: u32,
    /// Sleep sets on the choice list of every strategy.
    pub sleep: bool,
    /// Persistent sets on the choice list of every strategy, by this table.
    pub persistent: Option<MayAccess>,
    /// When timed operations time out.
    pub timeouts: Timeouts,
    /// Spurious wake-ups that an execution may have.
    pub spurious: u32,
    /// Of so many executions one is executed again, to see whether the program is deterministic; 0 = none.
    pub check_every: u64,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        ProgramOptions {
            max_steps: DEFAULT_MAX_STEPS,
            sleep: false,
            persistent: None,
            timeouts: Timeouts::default(),
            spurious: 0,
            check_every: DEFAULT_CHECK_EVERY,
        }
    }
}

impl ProgramOptions {
    /// The plan as these options want it. A strategy that reduces by itself keeps its own way.
    pub(crate) fn applied<'a>(&'a self, plan: &Plan<'a>) -> Plan<'a> {
        let own = plan.reduction.sleep
            || plan.reduction.persistent.is_some()
            || matches!(plan.policy, Policy::Awake { .. });
        let reduction = if own {
            plan.reduction
        } else {
            Reduction { sleep: self.sleep, persistent: self.persistent.as_ref() }
        };
        let max_steps = if plan.max_steps == 0 { self.max_steps } else { plan.max_steps.min(self.max_steps) };
        Plan { reduction, max_steps, timeouts: self.timeouts, spurious: self.spurious, ..*plan }
    }
}

/// What executions left out, so that all of them together prove nothing.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    reasons: Mutex<BTreeSet<String>>,
}

impl LeftOut {
    /// Takes note of what an execution left out.
    pub(crate) fn note(&self, execution: &Execution, options: &ProgramOptions) {
        let cut = execution.end == End::StepLimit;
        if !cut && !execution.incomplete {
            return;
        }
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        if cut {
            reasons.insert(format!("executions were cut after {} steps", options.max_steps));
        }
        if execution.incomplete {
            let calls = execution.findings.iter().filter_map(|finding| match finding {
                Finding::Uncontrolled(call) => Some(format!("{call} is not under control")),
                _ => None,
            });
            let before = reasons.len();
            reasons.extend(calls);
            if reasons.len() == before && reasons.is_empty() {
                reasons.insert("a spin loop was cut, or a time limit was not explored".to_owned());
            }
        }
    }

    /// Everything that was left out.
    pub(crate) fn told(&self, options: &ProgramOptions) -> Option<String> {
        let reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told: Vec<String> = reasons.iter().cloned().collect();
        if options.persistent.as_ref().is_some_and(|table| !table.proved) {
            told.push("the table behind persistent sets comes from recorded executions".to_owned());
        }
        (!told.is_empty()).then(|| told.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_once() {
        let options = ProgramOptions::default();
        let left_out = LeftOut::default();
        assert_eq!(left_out.told(&options), None);
        left_out.note(&Execution { end: End::Finished, ..Execution::default() }, &options);
        assert_eq!(left_out.told(&options), None);
        for _ in 0..2 {
            left_out.note(&Execution { end: End::StepLimit, ..Execution::default() }, &options);
        }
        assert_eq!(left_out.told(&options).as_deref(), Some("executions were cut after 20000 steps"));
        let poll = Finding::Uncontrolled("poll".to_owned());
        left_out
            .note(&Execution { incomplete: true, findings: vec![poll], ..Execution::default() }, &options);
        assert!(left_out.told(&options).is_some_and(|text| text.contains("poll is not under control")));
    }

    #[test]
    fn plans_follow_the_options_but_keep_a_reduction_of_their_own() {
        let options = ProgramOptions { sleep: true, spurious: 2, max_steps: 10, ..ProgramOptions::default() };
        let plan = Plan {
            prefix: &[],
            policy: Policy::Stop,
            max_steps: 0,
            detail: Default::default(),
            predict: false,
            reduction: Reduction::default(),
            timeouts: Timeouts::Always,
            spurious: 0,
        };
        let applied = options.applied(&plan);
        assert_eq!((applied.max_steps, applied.spurious, applied.reduction.sleep), (10, 2, true));
        assert_eq!(applied.timeouts, Timeouts::WhenStuck);
        let awake = options.applied(&Plan { policy: Policy::Awake { sleep: &[] }, max_steps: 5, ..plan });
        assert_eq!((awake.max_steps, awake.reduction.sleep), (5, false));
    }
}
