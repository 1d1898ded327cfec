//! From what a strategy found to what is reported: shortened, confirmed and written down.
//!
//! A witness of a system with states is a path through states, and is short if it has few steps. A
//! witness of a program is a schedule, and is short if it has few context switches. Both are
//! confirmed on a fresh view of the system, where the objective is judged again.

use super::program::{finish_schedule, is_judged_by_paths};
use super::{Budget, Shortened, Witness, add_obstacles, add_times, confirm, is_real, shorten};
use crate::error::SearchError;
use crate::event::Event;
use crate::limits::StopReason;
use crate::options::SearchOptions;
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
    let with_states = options.states_in_witness && options.runs == 1;
    let mut trace = confirm(model, &witness, objective, options, with_states)?;
    trace.strategy = options.strategy.name().to_owned();
    trace.seed = Some(run.seed);
    if options.runs == 1 {
        let timed = add_times(model, &mut trace, Some(objective));
        timed.map_err(SearchError::from_replay_failure)?;
        let explained = add_obstacles(model, &mut trace, objective);
        explained.map_err(SearchError::from_replay_failure)?;
    }
    let report = WitnessReport::new(objective.text(), original, trace);
    Ok((WitnessReport { shortest: Some(shortest), ..report }, spent))
}

/// Whether a witness is shortest by the way in which it was found.
fn is_found_shortest(run: &Run<'_>, witness: &Witness) -> bool {
    let breadth_first = run.options.strategy.name() == "bfs" && !run.options.cover;
    let exact = run.options.store.is_exact();
    let objective = &run.objectives[witness.objective];
    objective.is_met_at_one_depth()
        && (witness.len() == 0 || breadth_first && exact && run.objectives.len() == 1)
}

/// What shortening may cost, given the expansions of the search.
///
/// It is half of that within bounds, so that a witness costs little more than finding it. Leaving
/// out steps ends by itself and gains most, so it may take one and a half times the search. Someone
/// who limits the states of a search accepts that many expansions, so a long and wasteful witness
/// may use the rest. But people wait half a second gladly for a witness that they can read, so a
/// search on its own always gets that much.
fn shorten_budget(run: &Run<'_>) -> Budget {
    let (options, states) = (run.options, run.counters.states);
    if let Some(budget) = options.shorten_budget {
        return Budget { leaving_out: budget, all: budget, wasteful: budget, pays: false };
    }
    let usual = usual_budget(options, states);
    if !options.thorough || options.runs > 1 {
        return usual;
    }
    // The pace is in transitions: states with many of them take longer.
    let transitions = run.counters.transitions.max(1);
    let least =
        (u128::from(run.model.info().pace) * u128::from(states.max(1)) / u128::from(transitions)) as u64;
    let least = least.clamp(LEAST_EXPANSIONS, run.model.info().pace);
    Budget {
        leaving_out: usual.leaving_out.max(least),
        all: usual.all.max(least),
        wasteful: usual.wasteful.max(least),
        pays: true,
    }
}

/// States with very many transitions get this many expansions all the same.
const LEAST_EXPANSIONS: u64 = 300;

/// What shortening takes where every run counts.
fn usual_budget(options: &SearchOptions, states: u64) -> Budget {
    match options.limits.states {
        Some(limit) => {
            let all = (states / 2).clamp(300, 50_000);
            let left = limit.saturating_sub(states).min(40_000);
            Budget { leaving_out: all.max(3_000), all, wasteful: all.max(left), pays: false }
        }
        None => {
            let all = (states / 2).clamp(48, 50_000);
            Budget { leaving_out: all.max((states + states / 2).min(3_000)), all, wasteful: all, pays: false }
        }
    }
}
