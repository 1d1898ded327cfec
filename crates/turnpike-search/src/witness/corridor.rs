//! Searches along a witness for a shorter one.
//!
//! This is a beam search that prefers states similar to those of the path, later ones before
//! earlier ones: a state that differs in few entries from a state of the path, and is reached
//! sooner, is on a shorter path to something like the end. The first hit below the current length
//! ends the search.

use turnpike_model::{StepError, Successors};

use super::budget::Spending;
use super::{Path, Witness};
use crate::objective::{HitKind, Monitor};
use crate::run::Run;
use crate::store::{ExactStore, ROOT};

/// Looks for a shorter witness with at most `width` states in a level, within what `spending`
/// leaves.
pub(crate) fn search_along(
    run: &mut Run<'_>,
    witness: &Witness,
    width: usize,
    spending: &mut Spending,
) -> Result<Option<Witness>, StepError> {
    let (options, info) = (run.options, run.model.info());
    let sought = std::slice::from_ref(&run.objectives[witness.objective]);
    let explorer = &mut *run.view.explorer;
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
            if spending.is_over() {
                return Ok(None);
            }
            explorer.successors(&state, &mut successors)?;
            spending.expand(&successors);
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
    let mut least = usize::MAX;
    for (steps, other) in path.iter().rev().enumerate() {
        // Earlier states of the path are further from its end than that.
        if steps >= least {
            break;
        }
        least = least.min(steps + differences(other));
    }
    least
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::options::SearchOptions;
    use crate::run::Control;
    use crate::strategy::{Bfs, Dfs, Strategy};
    use crate::witness::budget::Budget;
    use crate::witness::{TraceDetail, confirm};

    /// A built-in model with settings, and what to look for.
    type Task = (&'static str, &'static [(&'static str, u32)], &'static str);

    const TASKS: [Task; 3] = [
        ("philosophers", &[("n", 4)], "deadlock"),
        ("sliding-puzzle", &[("width", 3), ("height", 2)], "label solved"),
        ("bakery", &[("n", 2), ("limit", 4)], "assertion"),
    ];

    /// Searches, then searches along the witness with each of `widths`: the lengths before and
    /// after. Whatever is found is re-executed, stays within what the width allows, and is found
    /// once more by a run that knows nothing.
    fn lengths(task: Task, strategy: Strategy, widths: &[usize]) -> (usize, Vec<Option<usize>>) {
        let (name, settings, objective) = task;
        let settings: Vec<(String, String)> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        let model = turnpike_builtin::build(name, &settings).expect("a built-in model");
        let mut options = SearchOptions::new(strategy);
        options.limits.states = Some(100_000);
        let objectives = [objective.parse().expect("an objective")];
        let interrupt = AtomicBool::new(false);
        let control = Control { events: &|_| {}, interrupt: &interrupt };
        let begin = || Run::new(&*model, &options, &objectives, 0, 7, control).expect("a run begins");
        let mut run = begin();
        let _ = options.strategy.search(&mut run);
        let witness = run.findings.witnesses[0].take().expect("a witness");
        let along = |run: &mut Run<'_>, width: usize| {
            let mut spending = Budget::unlimited().share(u64::MAX);
            let found = search_along(run, &witness, width, &mut spending);
            (found.expect("the model takes every step"), spending.spent)
        };
        let after = widths.iter().map(|&width| {
            let (found, spent) = along(&mut run, width);
            assert!(spent <= 1 + (width * witness.len()) as u64, "{spent} expansions");
            assert_eq!((found.clone(), spent), along(&mut begin(), width));
            let found = found?;
            assert!(found.len() < witness.len());
            confirm(&*model, &found, &objectives[0], &options, TraceDetail::default())
                .expect("what was found is a witness");
            Some(found.len())
        });
        (witness.len(), after.collect())
    }

    #[test]
    fn long_witnesses_get_shorter() {
        for task in TASKS {
            let (shortest, _) = lengths(task, Bfs::default().into(), &[]);
            let (before, after) = lengths(task, Dfs::default().into(), &[1, 8, 64, 10_000]);
            assert!(before > shortest, "{task:?}: {before} steps instead of {shortest}");
            assert!(after.iter().flatten().all(|&length| length >= shortest), "{task:?}: {after:?}");
            // A beam that holds every state is breadth-first search.
            assert_eq!(after[3], Some(shortest), "{task:?}");
        }
        let (before, after) = lengths(TASKS[0], Dfs::default().into(), &[8]);
        assert_eq!((before, after), (54, vec![Some(4)]));
    }

    #[test]
    fn nothing_is_shorter_than_the_shortest() {
        for task in TASKS {
            let (_, after) = lengths(task, Bfs::default().into(), &[1, 8, 10_000]);
            assert_eq!(after, [None; 3], "{task:?}");
        }
    }

    #[test]
    fn what_differs_little_from_a_late_state_is_nearly_there() {
        let path = [vec![0, 0, 0], vec![1, 0, 0], vec![1, 1, 0], vec![1, 1, 1]];
        for (state, expected) in [
            ([1, 1, 1], 0),
            ([1, 1, 2], 1),
            ([1, 1, 0], 1),
            ([1, 0, 0], 2),
            ([0, 0, 0], 3),
            // As far from the first state as from the last.
            ([5, 5, 5], 3),
            ([5, 0, 0], 3),
        ] {
            assert_eq!(remaining(&state, &path), expected, "{state:?}");
        }
    }
}
