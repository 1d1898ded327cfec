//! From what a strategy found to what is reported: shortened, confirmed and written down.
//!
//! A witness of a system with states is a path through states, and is short if it has few steps. A
//! witness of a program is a schedule, and is short if it has few context switches. Both are
//! confirmed on a fresh view of the system, where the objective is judged again.

use super::program::{finish_schedule, is_judged_by_paths};
use super::{
    Shortened, TraceDetail, Witness, add_obstacles, add_participants, add_times, confirm, is_real, shorten,
    shorten_budget,
};
use crate::error::SearchError;
use crate::event::Event;
use crate::limits::StopReason;
use crate::report::WitnessReport;
use crate::run::Run;

/// Shortens, confirms and writes down a witness; returns the expansions spent on shortening too.
pub(crate) fn finish(
    run: &mut Run<'_>,
    witness: Witness,
    stop: StopReason,
) -> Result<(WitnessReport, u64), SearchError> {
    if run.paths.is_some() && is_judged_by_paths(&run.objectives[witness.objective]) {
        return Ok((finish_schedule(run, witness)?, 0));
    }
    finish_path(run, witness, stop)
}

fn finish_path(
    run: &mut Run<'_>,
    mut witness: Witness,
    stop: StopReason,
) -> Result<(WitnessReport, u64), SearchError> {
    let (options, model) = (run.options, run.model);
    let objective = &run.objectives[witness.objective];
    let original = run.counters.original_length.unwrap_or(witness.len());
    let mut spent = 0;
    let mut shortest = is_found_shortest(run, &witness);
    // A lasso was made short from what its search stored.
    let is_short = objective.is_accepting();
    if !is_short && options.shorten && options.strategy.wants_shortening(stop, options.cover) {
        (run.control.events)(&Event::Shortening { run: run.number, length: original });
        let budget = shorten_budget(run);
        let Shortened { witness: shorter, states, proved } = shorten(run, witness.clone(), budget);
        // A shorter path need not be a real run.
        if is_real(model, &shorter, objective).map_err(SearchError::from_replay_failure)? {
            (witness, shortest) = (shorter, proved);
        }
        spent = states;
    }
    let alone = options.runs == 1;
    let detail = TraceDetail {
        states: options.states_in_witness && alone,
        participants: alone && model.paths().is_none(),
    };
    let mut trace = confirm(model, &witness, objective, options, detail)?;
    trace.strategy = options.strategy.name().to_owned();
    trace.seed = Some(run.seed);
    if alone {
        let timed = add_times(model, &mut trace, Some(objective));
        timed.map_err(SearchError::from_replay_failure)?;
        let explained = add_obstacles(model, &mut trace, objective);
        explained.map_err(SearchError::from_replay_failure)?;
        // A program knows them only of a whole path.
        if model.paths().is_some() {
            add_participants(model, &mut trace).map_err(SearchError::from_replay_failure)?;
        }
    }
    let report = WitnessReport::new(objective.text(), original, trace);
    Ok((WitnessReport { shortest: Some(shortest), ..report }, spent))
}

/// Whether a witness is shortest by the way in which it was found.
fn is_found_shortest(run: &Run<'_>, witness: &Witness) -> bool {
    let breadth_first = run.options.strategy.finds_shortest() && !run.options.cover;
    let exact = run.options.store.is_exact();
    let objective = &run.objectives[witness.objective];
    objective.is_met_at_one_depth()
        && (witness.len() == 0 || breadth_first && exact && run.objectives.len() == 1)
}
