//! Advice for when executions are cut: which loop takes the steps, and how many steps would
//! suffice.

use std::collections::BTreeMap;

use turnpike_scheduler::{Detail, End, Execution, Executor, GuestError, Plan, Policy};

use crate::model::ProgramModel;
use crate::texts;

/// The most steps for which a schedule is followed, to see whether it ends.
const LONGEST: u32 = 200_000;
/// Random schedules that are tried until one is cut.
const SCHEDULES: u64 = 4;
/// The most lines of a function that are named.
const LINES: usize = 3;

/// What makes executions long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Steps after which executions are cut.
    pub steps: u32,
    /// The function with most of the steps of such an execution, or the file if it has no name.
    pub function: String,
    /// Its share of the steps, in percent.
    pub percent: u32,
    /// Its lines with most steps, in order: `queue.c:57`.
    pub lines: Vec<String>,
    /// Steps of the execution when it is not cut; `None` when it is longer than anything tried.
    pub needed: Option<u32>,
}

impl Advice {
    /// What was found and what to try, line by line.
    pub fn sentences(&self) -> Vec<String> {
        let Advice { steps, function, percent, lines, needed } = self;
        let mut out = vec![format!(
            "{percent}% of the {steps} steps of an execution that was cut are in {function} ({})",
            lines.join(", ")
        )];
        out.push(match needed {
            Some(needed) => {
                let most = round_up(*needed);
                format!("it would have ended after {needed} steps: set the option `max-steps` to {most}")
            }
            None => format!("it does not end within {LONGEST} steps: the loop may wait for another thread, or run for ever"),
        });
        out.push("try the smallest inputs that matter: two threads, one or two rounds, few items".to_owned());
        out.push(
            "or schedule a part only, with the option `around`: calls of a function, or `marks` for what is between \
             tp_begin() and tp_end()"
                .to_owned(),
        );
        out
    }
}

/// A number with two significant digits that is at least a tenth larger.
fn round_up(steps: u32) -> u64 {
    let enough = u64::from(steps) + u64::from(steps.div_ceil(10));
    let unit = 10u64.pow(enough.max(10).ilog10() - 1);
    enough.div_ceil(unit) * unit
}

impl ProgramModel {
    /// What makes executions long, if some were cut. Executes the program a few times.
    pub fn advise(&self) -> Result<Option<Advice>, GuestError> {
        let Some(steps) = self.steps_when_cut() else { return Ok(None) };
        let mut executor = self.probe()?;
        let mut execution = Execution::default();
        let random = (0..SCHEDULES).map(|seed| Policy::Uniform { seed });
        let common = Plan { max_steps: steps, detail: Detail::Steps, ..self.options().plan() };
        for policy in [Policy::Continue].into_iter().chain(random) {
            executor.run(&Plan { policy, ..common }, &mut execution)?;
            if execution.end == End::StepLimit {
                let (function, percent, lines) = busiest(&execution, &mut executor);
                let longer = Plan { policy, detail: Detail::Positions, max_steps: LONGEST, ..common };
                // A longer record may not fit.
                let ended = executor.run(&longer, &mut execution).is_ok() && execution.end != End::StepLimit;
                let needed = ended.then_some(execution.steps.len() as u32);
                return Ok(Some(Advice { steps, function, percent, lines, needed }));
            }
        }
        Ok(None)
    }
}

/// The function with most steps, its share, and its busiest lines.
fn busiest(execution: &Execution, executor: &mut dyn Executor) -> (String, u32, Vec<String>) {
    let mut sites: BTreeMap<u64, u32> = BTreeMap::new();
    for step in &execution.steps {
        *sites.entry(step.choice.site.0).or_default() += 1;
    }
    let mut functions: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for (site, count) in sites {
        let place =
            texts::place(executor, turnpike_scheduler::Site(site)).unwrap_or_else(|| "unknown".to_owned());
        let file = place.split(':').next().unwrap_or_default().to_owned();
        let frames = executor.frames(site).unwrap_or_default();
        let function = frames.iter().find_map(|frame| frame.function.clone()).unwrap_or(file);
        *functions.entry(function).or_default().entry(place).or_default() += count;
    }
    let most = functions.into_iter().max_by_key(|(_, lines)| lines.values().sum::<u32>());
    let (function, lines) = most.unwrap_or_default();
    let share = u64::from(lines.values().sum::<u32>()) * 100 / execution.steps.len().max(1) as u64;
    let mut lines: Vec<(String, u32)> = lines.into_iter().collect();
    lines.sort_by(|(one, few), (other, many)| many.cmp(few).then(one.cmp(other)));
    lines.truncate(LINES);
    let mut lines: Vec<String> = lines.into_iter().map(|(line, _)| line).collect();
    lines.sort();
    (function, share as u32, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_limits_are_round_and_leave_room() {
        for (needed, suggested) in [(5, 6), (99, 110), (20_001, 23_000), (41_233, 46_000), (100_000, 110_000)]
        {
            assert_eq!(round_up(needed), suggested);
        }
    }

    #[test]
    fn advice_says_what_to_type() {
        let lines = vec!["queue.c:57".to_owned(), "queue.c:60".to_owned()];
        let advice =
            Advice { steps: 20_000, function: "pop".to_owned(), percent: 93, lines, needed: Some(41_233) };
        let text = advice.sentences().join("; ");
        assert!(text.contains("93% of the 20000 steps"), "{text}");
        assert!(text.contains("in pop (queue.c:57, queue.c:60)"), "{text}");
        assert!(text.contains("`max-steps` to 46000") && text.contains("`around`"), "{text}");
        let endless = Advice { needed: None, ..advice };
        assert!(endless.sentences()[1].contains("does not end within 200000 steps"));
    }
}
