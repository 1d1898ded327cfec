//! Which plain memory accesses are steps: found by trial before the search begins.
//!
//! If all memory accesses of a program were steps, it would have a hundred times more of them,
//! nearly all useless: code without data races needs none. So the program is first executed a
//! number of times with a race detector. The code locations of the races that it finds become steps
//! at once, which brings other orders and perhaps further races, until a number of executions in a
//! row find nothing new. Then the set stays as it is.
//!
//! The trial executions have fixed plans of their own. So the set is a function of the program and
//! its arguments: every worker and every replay of a schedule finds the same one. A race that is
//! only found later, by the search, is reported, and the execution then says that it proves
//! nothing.

use std::collections::BTreeSet;

use turnpike_preload::protocol::{AUDIT, RECYCLES};
use turnpike_scheduler::{
    Detail, End, Execution, Finding, GuestError, Plan, Policy, Reduction, Site, Timeouts,
};

/// The most trial executions.
const MOST: u64 = 400;
/// The set is complete when this many executions in a row were known already, or found no new race.
const QUIET: u64 = 24;
/// Steps that executions without a new race must have together: short executions are cheap, and it
/// may take many to find a race.
const QUIET_STEPS: u64 = 4_000;
/// The fewest steps that an execution counts as: starting it costs as much.
const LEAST: u64 = 20;
/// Trials end after this many executions that hang, because each takes long.
const HUNG: u64 = 3;
/// Steps after which a trial execution is cut.
const STEPS: u32 = 5_000;

/// How many trial executions look for writes that nothing reports: comparing memory takes long.
const AUDITED: u64 = 40;

/// What trial executions found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Discovered {
    /// Code locations that race.
    pub sites: Vec<Site>,
    /// Messages about memory that the search cannot follow.
    pub unreported: BTreeSet<String>,
}

/// Finds the code locations that race, and writes that nothing reports. `run` executes the program
/// with the accesses at these locations visible, and looks for such writes if its second argument
/// is true.
pub(crate) fn discover(
    mut run: impl FnMut(&[Site], bool, &Plan<'_>, &mut Execution) -> Result<(), GuestError>,
) -> Result<Discovered, GuestError> {
    let mut sites: Vec<Site> = Vec::new();
    let mut unreported = BTreeSet::new();
    let mut execution = Execution::default();
    let mut seen = BTreeSet::new();
    let (mut known_already, mut quiet, mut steps, mut hung) = (0, 0, 0, 0);
    let mut length = 20;
    for seed in 0..MOST {
        let policy = match seed % 4 {
            0 if seed == 0 => Policy::Continue,
            0 | 2 => Policy::Uniform { seed },
            1 => Policy::Pct { seed, depth: 3, length },
            _ => Policy::Pos { seed },
        };
        run(&sites, seed < AUDITED, &plan(policy), &mut execution)?;
        length = u32::try_from(execution.steps.len()).unwrap_or(u32::MAX).max(4);
        let known = sites.len();
        for finding in &execution.findings {
            match finding {
                Finding::Race { first, second, .. } => sites.extend([*first, *second]),
                Finding::Reuse { freed, allocated } => {
                    sites.extend([*freed, *allocated].map(|site| Site(site.0 | RECYCLES)));
                }
                Finding::Uncontrolled(what) => {
                    unreported.extend(what.strip_prefix(AUDIT).map(str::to_owned));
                }
                Finding::Leak(_) => {}
            }
        }
        sites.sort_unstable();
        sites.dedup();
        hung += u64::from(execution.end == End::Hung);
        if sites.len() > known {
            (known_already, quiet, steps) = (0, 0, 0);
        }
        known_already = if seen.insert(execution.fingerprint) { 0 } else { known_already + 1 };
        quiet += 1;
        steps += (execution.steps.len() as u64).max(LEAST);
        let enough = known_already >= QUIET || (quiet >= QUIET && steps >= QUIET_STEPS);
        if enough || hung >= HUNG {
            break;
        }
    }
    Ok(Discovered { sites, unreported })
}

/// Why nothing is proved, from the messages of [`Discovered::unreported`]; `None` if there are
/// none.
pub(crate) fn tell_unreported(places: &BTreeSet<String>) -> Option<String> {
    /// The most that are listed; the others are counted.
    const MOST: usize = 3;
    let list: Vec<&str> = places.iter().take(MOST).map(String::as_str).collect();
    let more = match places.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    (!list.is_empty()).then(|| format!("{}{more}", list.join("; ")))
}

fn plan(policy: Policy<'_>) -> Plan<'_> {
    Plan {
        prefix: &[],
        policy,
        max_steps: STEPS,
        detail: Detail::Positions,
        predict: false,
        reduction: Reduction::default(),
        timeouts: Timeouts::WhenStuck,
        spurious: 0,
        memory: turnpike_scheduler::Memory::Sc,
        bounds: turnpike_scheduler::Bounds::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(first: u64, second: u64) -> Finding {
        Finding::Race { first: Site(first), second: Site(second), message: String::new() }
    }

    #[test]
    fn races_bring_further_races() {
        let mut runs = 0;
        // The next race is only found when the one before is a step.
        let sites = discover(|visible, _, _, out| {
            runs += 1;
            let next = visible.len() as u64;
            out.findings.clear();
            if next < 10 {
                out.findings.push(race(next + 1, 100));
            }
            Ok(())
        });
        let expected: Vec<Site> = [1].into_iter().chain(3..=10).chain([100]).map(Site).collect();
        assert_eq!(sites.map(|found| found.sites), Ok(expected));
        assert_eq!(runs, 8 + QUIET);
    }

    #[test]
    fn a_program_without_races_is_soon_done() {
        let mut runs = 0;
        let sites = discover(|_, _, plan, _| {
            runs += 1;
            assert_eq!(plan.max_steps, STEPS);
            Ok(())
        });
        assert_eq!((sites, runs), (Ok(Discovered::default()), 1 + QUIET));
    }

    #[test]
    fn a_race_in_short_executions_may_take_many() {
        let mut runs = 0;
        let sites = discover(|_, _, _, out| {
            runs += 1;
            out.fingerprint = runs;
            out.findings = if runs == 150 { vec![race(1, 2)] } else { Vec::new() };
            Ok(())
        });
        assert_eq!(sites.map(|found| found.sites), Ok(vec![Site(1), Site(2)]));
        assert_eq!(runs, u128::from(149 + QUIET_STEPS / LEAST));
    }

    #[test]
    fn a_program_that_hangs_is_not_tried_long() {
        let mut runs = 0;
        let sites = discover(|_, _, _, out| {
            runs += 1;
            out.end = End::Hung;
            Ok(())
        });
        assert_eq!((sites, runs), (Ok(Discovered::default()), HUNG));
    }

    #[test]
    fn endless_news_ends() {
        let mut runs = 0;
        let sites = discover(|_, _, _, out| {
            runs += 1;
            out.findings = vec![race(runs, runs)];
            Ok(())
        });
        assert_eq!(sites.map(|found| found.sites.len() as u64), Ok(MOST));
    }

    #[test]
    fn writes_without_a_report_are_collected_from_the_first_executions() {
        let mut audited = 0;
        let found = discover(|_, audit, _, out| {
            audited += u64::from(audit);
            out.fingerprint += 1;
            let what = |text: &str| Finding::Uncontrolled(text.to_owned());
            out.findings = vec![what("a timer"), what(&format!("{AUDIT}a write to x is not visible"))];
            Ok(())
        });
        let places = found.map(|found| found.unreported).unwrap_or_default();
        assert_eq!(audited, AUDITED);
        let told = tell_unreported(&places);
        assert_eq!(told.as_deref(), Some("a write to x is not visible"));
        assert_eq!(tell_unreported(&BTreeSet::new()), None);
        let many = tell_unreported(&["a", "b", "c", "d"].map(str::to_owned).into());
        assert_eq!(many.as_deref(), Some("a; b; c (and 1 more)"));
    }

    #[test]
    fn what_cannot_be_executed_is_an_error() {
        let error = GuestError::new("no such file");
        assert_eq!(discover(|_, _, _, _| Err(error.clone())), Err(error));
    }
}
