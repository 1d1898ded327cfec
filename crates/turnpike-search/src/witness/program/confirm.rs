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
pub(crate) fn confirm_schedule<'m>(
    model: &'m dyn Model,
    witness: &Witness,
    objective: &Objective,
) -> Result<(Trace, Box<dyn Paths + 'm>), SearchError> {
    let Some(mut paths) = model.paths() else {
        return Err(SearchError::Replay("this model is not a program that can be executed".into()));
    };
    let request = Request {
        prefix: &witness.choices,
        chooser: Chooser::Continue,
        max_steps: paths.info().max_steps,
        detail: Detail::Full,
        reduced: true,
    };
    paths.follow(&request).map_err(SearchError::from_replay_failure)?;
    if let PathEnd::Diverged(step) = paths.end() {
        let step = step + 1;
        return Err(SearchError::Nondeterministic(format!(
            "step {step} of the schedule that was found cannot be taken again"
        )));
    }
    let judge = Judge::new(std::slice::from_ref(objective))?;
    let met = judge.hits(&mut *paths).iter().any(|hit| hit.steps <= witness.len());
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
