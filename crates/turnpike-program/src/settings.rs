//! How a program is executed, and what executions left out.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use turnpike_scheduler::{Bounds, End, Execution, Finding, MayAccess, Memory, Plan, Reduction, Timeouts};

/// The default of [`ProgramOptions::max_steps`].
pub const DEFAULT_MAX_STEPS: u32 = 20_000;
/// The default of [`ProgramOptions::check_every`].
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
    /// What atomic operations may see.
    pub memory: Memory,
    /// Which schedules are left out. Replaces every reduction.
    pub bounds: Bounds,
    /// What [`Bounds::around`] refers to, for the user: `calls of pop`.
    pub around: Option<String>,
    /// Signatures of errors that the search ignores.
    pub suppress: Vec<String>,
    /// One of this many executions is repeated, to see whether the program is deterministic; 0 =
    /// none.
    pub check_every: u64,
    /// What no execution shows, such as memory accesses that are not visible. If nothing is found,
    /// that is then a statement about synchronisation only.
    pub unseen: Option<String>,
    /// What was requested but no execution explores, so that finding nothing proves nothing.
    pub unexplored: Option<String>,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        ProgramOptions {
            max_steps: DEFAULT_MAX_STEPS,
            sleep: false,
            persistent: None,
            timeouts: Timeouts::default(),
            spurious: 0,
            memory: Memory::Sc,
            bounds: Bounds::default(),
            around: None,
            suppress: Vec::new(),
            check_every: DEFAULT_CHECK_EVERY,
            unseen: None,
            unexplored: None,
        }
    }
}

impl ProgramOptions {
    /// The plan that all executions share. A strategy sets its own prefix, policy and detail in it.
    pub fn plan(&self) -> Plan<'_> {
        Plan {
            max_steps: self.max_steps,
            reduction: Reduction { sleep: self.sleep, persistent: self.persistent.as_ref() },
            timeouts: self.timeouts,
            spurious: self.spurious,
            memory: self.memory,
            bounds: self.bounds,
            ..Plan::new(&[])
        }
    }
}

/// Why nothing is proved when the scheduler does not choose when time limits run out.
const TIMEOUTS: &str = "time limits could have run out earlier: set the option `timeouts` to `always`";

/// What executions left out, so that all of them together prove nothing.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    reasons: Mutex<BTreeSet<String>>,
    /// The most steps after which executions were cut; 0 if none was.
    cut: AtomicU32,
    /// Whether a bound left out a choice.
    bounded: AtomicBool,
    /// Whether a thread entered the part in which threads are scheduled.
    entered: AtomicBool,
    /// Signatures of errors that were suppressed.
    passed_over: Mutex<BTreeSet<String>>,
}

impl LeftOut {
    /// Notes what no execution shows.
    pub(crate) fn never_seen(&self, what: Vec<String>) {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner).extend(what);
    }

    /// Notes what an execution left out.
    pub(crate) fn note(&self, execution: &Execution, max_steps: u32) {
        let cut = execution.end == End::StepLimit;
        let hung = execution.end == End::Hung;
        if execution.bounded {
            self.bounded.store(true, Ordering::Relaxed);
        }
        if execution.entered {
            self.entered.store(true, Ordering::Relaxed);
        }
        if !cut && !hung && !execution.incomplete {
            return;
        }
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        if cut {
            self.cut.fetch_max(max_steps, Ordering::Relaxed);
        }
        if hung {
            reasons.insert("an execution hung".to_owned());
        }
        if execution.incomplete {
            let named = execution.findings.iter().any(|finding| matches!(finding, Finding::Uncontrolled(_)));
            let calls = execution.findings.iter().filter_map(|finding| match finding {
                Finding::Uncontrolled(call) => Some(format!("{call} is not under control")),
                // If racing accesses that are steps leave something out, another finding says why.
                Finding::Race { .. } if named => None,
                Finding::Race { .. } => {
                    Some("data races were found where memory accesses are not steps".to_owned())
                }
                Finding::Reuse { .. } => {
                    Some("something may depend on whether freed memory is handed out again".to_owned())
                }
                Finding::Leak(_) => None,
            });
            reasons.extend(calls);
            if execution.timeouts_left_out {
                reasons.insert(TIMEOUTS.to_owned());
            }
            if reasons.is_empty() && self.cut.load(Ordering::Relaxed) == 0 {
                reasons.insert("a loop that waits was cut".to_owned());
            }
        }
    }

    /// Steps after which executions were cut, if some were.
    pub(crate) fn steps_when_cut(&self) -> Option<u32> {
        Some(self.cut.load(Ordering::Relaxed)).filter(|&steps| steps > 0)
    }

    /// Notes errors that an execution shows and that are suppressed.
    pub(crate) fn pass_over(&self, signatures: &[String]) {
        let mut passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        for signature in signatures {
            if !passed_over.contains(signature) {
                passed_over.insert(signature.clone());
            }
        }
    }

    /// Whether an error with this signature was suppressed.
    pub(crate) fn was_passed_over(&self, signature: &str) -> bool {
        self.passed_over.lock().unwrap_or_else(PoisonError::into_inner).contains(signature)
    }

    /// The bound within which everything was searched, if it left out anything: `2 preemptions`.
    pub(crate) fn bound(&self, options: &ProgramOptions) -> Option<String> {
        if !self.bounded.load(Ordering::Relaxed) {
            return None;
        }
        let Bounds { preemptions, delays, .. } = options.bounds;
        let counted = |number: Option<u32>, what: &str| {
            number.map(|number| format!("{number} {what}{}", if number == 1 { "" } else { "s" }))
        };
        let parts = [counted(preemptions, "preemption"), counted(delays, "delay"), options.around.clone()];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }

    /// Everything that was left out.
    pub(crate) fn describe(&self, options: &ProgramOptions) -> Option<String> {
        let bound = self.bound(options).map(|bound| format!("schedules beyond {bound} were not tried"));
        match (bound, self.describe_besides_bound(options)) {
            (Some(bound), Some(others)) => Some(format!("{bound}; {others}")),
            (bound, others) => bound.or(others),
        }
    }

    /// Everything that was left out for other reasons than a bound.
    pub(crate) fn describe_besides_bound(&self, options: &ProgramOptions) -> Option<String> {
        let reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let mut described: Vec<String> = Vec::new();
        match self.cut.load(Ordering::Relaxed) {
            0 => {}
            steps => described.push(format!("executions were cut after {steps} steps")),
        }
        described.extend(reasons.iter().cloned());
        described.extend(options.unexplored.clone());
        if let Some(around) = options.around.as_ref().filter(|_| !self.entered.load(Ordering::Relaxed)) {
            described.push(format!("no execution came to {around}"));
        }
        if options.persistent.as_ref().is_some_and(|table| !table.proved) {
            described.push("the table behind persistent sets comes from recorded executions".to_owned());
        }
        // If this is the only reason, the verdict mentions it instead.
        if !described.is_empty() {
            described.extend(options.unseen.clone());
        }
        (!described.is_empty()).then(|| described.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_described_once() {
        let options = ProgramOptions::default();
        let left_out = LeftOut::default();
        assert_eq!(left_out.describe(&options), None);
        left_out.note(&Execution { end: End::Finished, ..Execution::default() }, 7);
        assert_eq!(left_out.describe(&options), None);
        for steps in [7, 5, 7] {
            left_out.note(&Execution { end: End::StepLimit, ..Execution::default() }, steps);
        }
        assert_eq!(left_out.describe(&options).as_deref(), Some("executions were cut after 7 steps"));
        let poll = Finding::Uncontrolled("poll".to_owned());
        left_out.note(&Execution { incomplete: true, findings: vec![poll], ..Execution::default() }, 7);
        assert!(left_out.describe(&options).is_some_and(|text| text.contains("poll is not under control")));
        let limit = Execution { incomplete: true, timeouts_left_out: true, ..Execution::default() };
        left_out.note(&limit, 7);
        assert!(left_out.describe(&options).is_some_and(|text| text.contains("`timeouts` to `always`")));
        left_out.note(&Execution { end: End::Hung, ..Execution::default() }, 7);
        assert!(left_out.describe(&options).is_some_and(|text| text.contains("an execution hung")));
    }
}
