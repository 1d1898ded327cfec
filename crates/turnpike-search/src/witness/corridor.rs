//! Searches along a witness for a shorter one.
//!
//! A beam search that prefers states like those of the path, the later ones before the earlier: a state that differs in
//! few entries from a state of the path, and is reached sooner, is on a shorter way to something like the end of the path.
//! Whatever meets the objective below the length at hand ends the search.

use turnpike_model::{StepError, Successors};

use super::{Path, Witness};
use crate::objective::{HitKind, Monitor};
use crate::run::Run;
use crate::store::{ExactStore, ROOT};

/// Looks for a shorter witness with at most `width` states in a level; counts its expansions.
pub(crate) fn search_along(
    run: &mut Run<'_>,
    witness: &Witness,
    width: usize,
    spent: &mut u64,
) -> Result<Option<Witness>, StepError> {
    let (options, info) = (run.options, run.model.info());
    let sought = std::slice::from_ref(&run.objectives[witness.objective]);
    let explorer = &mut *run.explorer;
    let Ok(mut monitor) = Monitor::new(sought, &options.internal, options.lookahead, explorer, info) else {
        return Ok(None);
    };
    let path = Path::Choices(witness.choices[..witness.stem].to_vec()).into_states(explorer)?;
    let (mut seen, mut parents) = (ExactStore::new(info.width), vec![ROOT]);
    seen.insert(&path[0]);
    let (mut successors, mut hits) = (Successors::new(info.width), Vec::new());
    let mut level = vec![0];
    for _ in 0..witness.len() - 1 {
        let mut next: Vec<(usize, u32)> = Vec::new();
        for &id in &level {
            let state = seen.get(id).to_vec();
            explorer.successors(&state, &mut successors)?;
            *spent += 1;
            monitor.examine(explorer, &state, &successors, &mut hits)?;
            if let Some(hit) = hits.first() {
                if matches!(hit.kind, HitKind::Lasso { .. }) {
                    return Ok(None);
                }
                let mut states = vec![state];
                let mut at = id;
                while parents[at as usize] != ROOT {
                    at = parents[at as usize];
                    states.push(seen.get(at).to_vec());
                }
                let flat = states.into_iter().rev().flatten().collect();
                return Witness::new(explorer, Path::States(flat), witness.objective, &hit.kind).map(Some);
            }
            for (_, target) in successors.iter() {
                let (new, is_new) = seen.insert(target);
                if is_new {
                    parents.push(id);
                    next.push((remaining(target, &path), new));
                }
            }
        }
        next.sort_unstable();
        next.truncate(width);
        level.clear();
        level.extend(next.iter().map(|&(_, id)| id));
    }
    Ok(None)
}

/// How far from the end of the path a state seems to be: an entry to be changed counts as a step.
fn remaining(state: &[u32], path: &[Vec<u32>]) -> usize {
    let differences = |other: &[u32]| state.iter().zip(other).filter(|(one, two)| one != two).count();
    let estimates = path.iter().rev().enumerate().map(|(steps, other)| steps + differences(other));
    estimates.min().unwrap_or(0)
}
