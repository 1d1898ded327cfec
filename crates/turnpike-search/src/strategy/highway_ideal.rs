//! Highway search, literally definition 5 of seed paper 000. The oracle for the other two.
//!
//! Q₀ = {s₀}; Q_{j+1} is a uniform draw among the subsets of size min(N, ·) of succ(Q_j) \ ⋃_{k≤j} Q_k. All eligible
//! successors of a level are held in memory.

use super::level_set::{Considered, Level};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ExactStore, Visited};

/// succ(Q_j) \ ⋃ Q_k as a set, in order of arrival, each state with its first predecessor.
struct Eligible {
    states: ExactStore,
    origins: Vec<(u32, u32)>,
}

pub(crate) fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    let (mut visited, mut considered) = (run.visited(), Considered::new());
    let outcome = levels(run, width, &mut visited, &mut considered);
    run.counters.considered = considered.count();
    run.counters.odds = visited.odds();
    outcome
}

fn levels(
    run: &mut Run<'_>,
    width: u64,
    visited: &mut Visited,
    considered: &mut Considered,
) -> Result<StopReason, Halt> {
    let mut level = Level::first(run, visited)?;
    considered.add(run.explorer.content_hash(&level.states));
    let (mut depth, mut passed_over) = (0, false);
    while !level.is_empty() {
        if depth == run.max_depth {
            return Ok(StopReason::MaxDepth);
        }
        let mut eligible = Eligible { states: ExactStore::new(run.width()), origins: Vec::new() };
        let ids = &level.ids;
        run.expand_level(
            &level.states,
            depth,
            visited,
            |visited, index| visited.path(ids[index]),
            |run, visited, index, state, successors| {
                for choice in 0..successors.len() {
                    let target = successors.state(choice);
                    considered.add(run.explorer.content_hash(target));
                    if !visited.contains(&mut *run.explorer, target) && eligible.states.insert(target).1 {
                        eligible.origins.push((ids[index], choice as u32));
                    }
                }
                run.check(state, successors, &|| visited.path(ids[index]))
            },
        )?;
        level.leave(visited);
        // A uniform subset: the first `width` places of a shuffle.
        let mut drawn: Vec<u32> = (0..eligible.origins.len() as u32).collect();
        let keep = drawn.len().min(usize::try_from(width).unwrap_or(usize::MAX));
        passed_over |= keep < drawn.len();
        for place in 0..keep {
            let other = place + run.rng.index(drawn.len() - place);
            drawn.swap(place, other);
        }
        level = Level::default();
        for &index in &drawn[..keep] {
            let (parent, choice) = eligible.origins[index as usize];
            level.enter(run, visited, eligible.states.get(index), parent, choice);
        }
        depth += 1;
    }
    Ok(if passed_over { StopReason::Finished } else { StopReason::Exhausted })
}
