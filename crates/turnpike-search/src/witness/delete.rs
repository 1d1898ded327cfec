//! Leaves steps out of a witness (delta debugging).
//!
//! Steps are known by their labels. When some are left out, the others are taken as far as they are still enabled, and
//! those that are not are left out as well: without the first step of a detour, the rest of it goes by itself. What
//! still meets the objective is kept. Large parts are tried first, then smaller ones.

use turnpike_model::{LabelId, StepError, Successors};

use super::{Path, Witness};
use crate::objective::{HitKind, Monitor};
use crate::run::Run;

/// Each attempt takes the steps that are left: with fewer attempts than this, the budget is better spent otherwise.
const LEAST_ATTEMPTS: u64 = 8;

/// Leaves out steps within a budget of expansions; returns the best witness and the expansions spent.
pub(crate) fn delete_steps(run: &mut Run<'_>, witness: Witness, budget: u64) -> (Witness, u64) {
    if witness.loop_start.is_some() || budget < LEAST_ATTEMPTS * witness.len() as u64 {
        return (witness, 0);
    }
    let mut best = witness;
    let mut spent = 0;
    let mut labels = labels_of(run, &best.choices).unwrap_or_default();
    let mut part = labels.len() / 2;
    while part > 0 {
        let mut start = 0;
        while start < labels.len() && spent + (labels.len() as u64) < budget {
            let end = labels.len().min(start + part);
            let rest: Vec<LabelId> = labels[..start].iter().chain(&labels[end..]).copied().collect();
            match follow(run, &rest, best.objective, &mut spent) {
                Ok(Some(shorter)) if shorter.len() < best.len() => {
                    labels = labels_of(run, &shorter.choices).unwrap_or_default();
                    best = shorter;
                }
                Ok(_) => start += part,
                Err(_) => return (best, spent),
            }
        }
        part /= 2;
    }
    (best, spent)
}

/// The labels of the steps that these choices take.
fn labels_of(run: &mut Run<'_>, choices: &[u32]) -> Result<Vec<LabelId>, StepError> {
    let explorer = &mut *run.explorer;
    let states = Path::Choices(choices.to_vec()).into_states(explorer)?;
    let mut successors = Successors::new(states[0].len());
    let mut labels = Vec::with_capacity(choices.len());
    for (state, &choice) in states.iter().zip(choices) {
        explorer.successors(state, &mut successors)?;
        labels.push(successors.label(choice as usize));
    }
    Ok(labels)
}

/// Takes these steps where they are enabled, until the objective is met.
fn follow(
    run: &mut Run<'_>,
    labels: &[LabelId],
    objective: usize,
    spent: &mut u64,
) -> Result<Option<Witness>, StepError> {
    let (options, info) = (run.options, run.model.info());
    let sought = std::slice::from_ref(&run.objectives[objective]);
    let explorer = &mut *run.explorer;
    let Ok(mut monitor) = Monitor::new(sought, &options.internal, options.lookahead, explorer, info) else {
        return Ok(None);
    };
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let (mut successors, mut choices, mut hits) = (Successors::new(info.width), Vec::new(), Vec::new());
    let mut labels = labels.iter();
    loop {
        explorer.successors(&state, &mut successors)?;
        *spent += 1;
        monitor.examine(explorer, &state, &successors, &mut hits)?;
        if let Some(hit) = hits.first() {
            if matches!(hit.kind, HitKind::Lasso { .. }) {
                return Ok(None);
            }
            return Witness::new(explorer, Path::Choices(choices), objective, &hit.kind).map(Some);
        }
        let enabled =
            |label: &LabelId| (0..successors.len()).find(|&choice| successors.label(choice) == *label);
        let Some(choice) = labels.find_map(enabled) else { return Ok(None) };
        choices.push(choice as u32);
        state.clear();
        state.extend_from_slice(successors.state(choice));
    }
}
