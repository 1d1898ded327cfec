//! Makes a schedule that a search found into what is reported.

use turnpike_model::paths::{PathEnd, Paths};

use super::super::Witness;
use super::super::participants::add_from_path;
use super::{Attempts, confirm_schedule, explain, shorten_schedule};
use crate::error::SearchError;
use crate::event::Event;
use crate::objective::Judge;
use crate::report::{Explanation, ScheduleReport, WitnessReport};
use crate::rng::{Purpose, derive};
use crate::run::Run;

/// By default, shortening takes half as many executions as the search, within these bounds.
const LEAST_ATTEMPTS: u64 = 500;
const MOST_ATTEMPTS: u64 = 1_000;

/// Shortens, explains and confirms a schedule of a program.
pub(crate) fn finish_schedule(run: &mut Run<'_>, mut witness: Witness) -> Result<WitnessReport, SearchError> {
    let failed = SearchError::from_replay_failure;
    let (options, model) = (run.options, run.model);
    let objective = &run.objectives[witness.objective];
    let (mut trace, mut paths) = confirm_schedule(model, &mut witness, objective)?;
    let original = witness.len();
    let original_context_switches = count_switches(&*paths, original);
    let mut executions = 0;
    let mut decisive = None;
    // Every attempt to shorten a hang takes as long as a hang does.
    if options.shorten && paths.end() != PathEnd::Hung {
        (run.control.events)(&Event::Shortening { run: run.number, length: original });
        let budget = options
            .shorten_budget
            .unwrap_or_else(|| (run.counters.executions.total / 2).clamp(LEAST_ATTEMPTS, MOST_ATTEMPTS));
        if let Some(mut attempts) = Attempts::new(&mut *paths, objective, budget) {
            let best = shorten_schedule(&mut attempts, &witness.choices).map_err(failed)?;
            if let Some(best) = best {
                let seed = derive(run.seed, Purpose::Explain, 0);
                attempts.allow(budget / 2);
                decisive = explain(&mut attempts, &best, seed).map_err(failed)?;
                witness.stem = best.positions.len();
                witness.choices = best.positions;
            }
            executions = attempts.spent;
        }
        (trace, paths) = confirm_schedule(model, &mut witness, objective)?;
    }
    add_from_path(&*paths, &mut trace);
    trace.strategy = options.strategy.name().to_owned();
    trace.seed = Some(run.seed);
    let explanation = decisive.map(|decisive| {
        let label = |index: usize| trace.steps.get(index).map_or_else(String::new, |step| step.label.clone());
        let (second, second_label) = match decisive.second {
            Ok(index) => (Some(index), label(index)),
            Err(actor) => (None, paths.describe_pending(actor)),
        };
        let (first, first_label) = (decisive.first, label(decisive.first));
        Explanation { first, first_label, second, second_label, tried: decisive.tried }
    });
    let schedule = ScheduleReport {
        end: paths.describe_end(),
        context_switches: count_switches(&*paths, witness.len()),
        original_context_switches,
        executions,
        signatures: Judge::new(std::slice::from_ref(objective))?.signatures(&mut *paths),
        explanation,
    };
    let mut report = WitnessReport::new(objective.text(), original, trace);
    report.schedule = Some(schedule);
    Ok(report)
}

/// Counts the context switches among the first steps of a path.
fn count_switches(paths: &dyn Paths, steps: usize) -> usize {
    let actors: Vec<u32> = (0..steps.min(paths.len())).map(|at| paths.step(at).actor).collect();
    actors.windows(2).filter(|pair| pair[0] != pair[1]).count()
}
