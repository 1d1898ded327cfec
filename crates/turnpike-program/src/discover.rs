//! Which plain memory accesses are steps: found by trial before the search begins.
//!
//! A program whose memory accesses all were steps would have a hundred times more of them, nearly
//! all useless: code without data races needs none. So the program is first executed a number of
//! times with a race detector. The code locations of the races that it finds become steps at once,
//! which brings other orders and perhaps further races, until a number of executions in a row find
//! nothing new. Then the set stays as it is.
//!
//! The trial executions have plans of their own, which depend on nothing. So the set is a function
//! of the program and its arguments: every worker, every replay of a schedule and every day finds
//! the same one. A race that is only found later, by the search, is reported, and the execution then
//! says that it proves nothing.

use std::collections::BTreeSet;

use turnpike_preload::protocol::RECYCLES;
use turnpike_scheduler::{
    Detail, End, Execution, Finding, GuestError, Plan, Policy, Reduction, Site, Timeouts,
};

/// Trial executions, at most.
const MOST: u64 = 400;
/// The set is complete when so many executions in a row were known already,
const QUIET: u64 = 24;
/// or found no new race, and had so many steps together: short executions are cheap, and races in
/// them may need many.
const QUIET_STEPS: u64 = 4_000;
/// An execution counts as this many steps at least: starting it costs as much.
const LEAST: u64 = 20;
/// Executions that hang take long: after so many it is enough.
const HUNG: u64 = 3;
/// Steps after which a trial execution is cut.
const STEPS: u32 = 5_000;

/// Finds the code locations that race. `run` executes the program with the accesses at these
/// locations visible.
pub(crate) fn discover(
    mut run: impl FnMut(&[Site], &Plan<'_>, &mut Execution) -> Result<(), GuestError>,
) -> Result<Vec<Site>, GuestError> {
    let mut sites: Vec<Site> = Vec::new();
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
        run(&sites, &plan(policy), &mut execution)?;
        length = u32::try_from(execution.steps.len()).unwrap_or(u32::MAX).max(4);
        let known = sites.len();
        for finding in &execution.findings {
            match finding {
                Finding::Race { first, second, .. } => sites.extend([*first, *second]),
                Finding::Reuse { freed, allocated } => {
                    sites.extend([*freed, *allocated].map(|site| Site(site.0 | RECYCLES)));
                }
                Finding::Leak(_) | Finding::Uncontrolled(_) => {}
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
    Ok(sites)
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
        let sites = discover(|visible, _, out| {
            runs += 1;
            let next = visible.len() as u64;
            out.findings.clear();
            if next < 10 {
                out.findings.push(race(next + 1, 100));
            }
            Ok(())
        });
        let expected: Vec<Site> = [1].into_iter().chain(3..=10).chain([100]).map(Site).collect();
        assert_eq!(sites, Ok(expected));
        assert_eq!(runs, 8 + QUIET);
    }

    #[test]
    fn a_program_without_races_is_soon_done() {
        let mut runs = 0;
        let sites = discover(|_, plan, _| {
            runs += 1;
            assert_eq!(plan.max_steps, STEPS);
            Ok(())
        });
        assert_eq!((sites, runs), (Ok(Vec::new()), 1 + QUIET));
    }

    #[test]
    fn a_race_in_short_executions_may_take_many() {
        let mut runs = 0;
        let sites = discover(|_, _, out| {
            runs += 1;
            out.fingerprint = runs;
            out.findings = if runs == 150 { vec![race(1, 2)] } else { Vec::new() };
            Ok(())
        });
        assert_eq!(sites, Ok(vec![Site(1), Site(2)]));
        assert_eq!(runs, u128::from(149 + QUIET_STEPS / LEAST));
    }

    #[test]
    fn a_program_that_hangs_is_not_tried_long() {
        let mut runs = 0;
        let sites = discover(|_, _, out| {
            runs += 1;
            out.end = End::Hung;
            Ok(())
        });
        assert_eq!((sites, runs), (Ok(Vec::new()), HUNG));
    }

    #[test]
    fn endless_news_ends() {
        let mut runs = 0;
        let sites = discover(|_, _, out| {
            runs += 1;
            out.findings = vec![race(runs, runs)];
            Ok(())
        });
        assert_eq!(sites.map(|sites| sites.len() as u64), Ok(MOST));
    }

    #[test]
    fn what_cannot_be_executed_is_an_error() {
        let error = GuestError::new("no such file");
        assert_eq!(discover(|_, _, _| Err(error.clone())), Err(error));
    }
}
