//! Executes a schedule again, from its positions alone, before it is reported.

use turnpike_model::paths::{Chooser, Detail, PathEnd, Paths, Request};
use turnpike_model::{Model, Step, Trace};

use super::super::Witness;
use crate::error::SearchError;
use crate::objective::{Judge, Objective};

/// Whether a path alone shows if the objective is met.
pub(crate) fn is_judged_by_paths(objective: &Objective) -> bool {
    Judge::new(std::slice::from_ref(objective)).is_ok()
}

/// Follows a witness on a fresh view of the system, strictly, and writes it down. The view is
/// returned with it.
///
/// A search of states stops at the state that shows an error, a race for example, although the
/// program goes on from there: such a witness is continued to the end of its execution.
pub(crate) fn confirm_schedule<'m>(
    model: &'m dyn Model,
    witness: &mut Witness,
    objective: &Objective,
) -> Result<(Trace, Box<dyn Paths + 'm>), SearchError> {
    let Some(mut paths) = model.paths() else {
        return Err(SearchError::Replay("this model is not a program that can be executed".into()));
    };
    let judge = Judge::new(std::slice::from_ref(objective))?;
    let longest = paths.info().max_steps;
    let mut met = follow(&mut *paths, witness, longest, &judge)?;
    if !met {
        let shown = follow(&mut *paths, witness, witness.len() as u32, &judge)?;
        // Also to be asked about the whole execution.
        met = follow(&mut *paths, witness, longest, &judge)?;
        if shown && !judge.needs_labels() {
            witness.choices = (0..paths.len()).map(|at| paths.step(at).taken).collect();
            witness.stem = witness.choices.len();
            met = shows(&mut *paths, witness, &judge);
        }
    }
    if !met {
        return Err(SearchError::Nondeterministic(format!(
            "the schedule that was found does not show '{objective}' again, it ends otherwise: {}",
            paths.describe_end()
        )));
    }
    let info = model.info();
    let mut trace = Trace {
        model: info.name.clone(),
        fingerprint: info.fingerprint,
        objective: objective.text().to_owned(),
        ..Trace::default()
    };
    for (index, &choice) in witness.choices.iter().enumerate() {
        let label = paths.label(index).text;
        trace.steps.push(Step { label, choice: Some(choice), ..Step::default() });
    }
    Ok((trace, paths))
}

/// Follows a witness, and then goes on up to so many steps; whether the witness meets the objective.
fn follow(
    paths: &mut dyn Paths,
    witness: &Witness,
    max_steps: u32,
    judge: &Judge,
) -> Result<bool, SearchError> {
    let chooser = Chooser::Continue;
    let request =
        Request { prefix: &witness.choices, chooser, max_steps, detail: Detail::Full, reduced: true };
    paths.follow(&request).map_err(SearchError::from_replay_failure)?;
    if let PathEnd::Diverged(step) = paths.end() {
        let step = step + 1;
        return Err(SearchError::Nondeterministic(format!(
            "step {step} of the schedule that was found cannot be taken again"
        )));
    }
    Ok(shows(paths, witness, judge))
}

/// Whether the path that was followed meets the objective within the witness.
fn shows(paths: &mut dyn Paths, witness: &Witness, judge: &Judge) -> bool {
    judge.hits(paths).iter().any(|hit| hit.steps <= witness.len())
}
