//! Beam search: highway search whose next level is the N most promising successors instead of a random draw.
//!
//! The guide is a measure of the model; chance only breaks ties. Level by level, so witnesses tend to be short; finds
//! nothing the guide leads away from.

use super::Guide;
use super::candidates::{Candidates, Priority};
use super::highway::chance;
use super::level_set::{Considered, Level};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::Visited;

pub(crate) fn search(run: &mut Run<'_>, width: u64, guide: &Guide) -> Result<StopReason, Halt> {
    let measure = guide.resolve(run.model.info()).map_err(SearchError::from)?;
    let (mut visited, mut considered) = (run.visited(), Considered::new());
    let outcome = levels(run, width, (guide, measure), &mut visited, &mut considered);
    run.counters.considered = considered.count();
    run.counters.odds = visited.odds();
    outcome
}

fn levels(
    run: &mut Run<'_>,
    width: u64,
    (guide, measure): (&Guide, usize),
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
        let mut next = Candidates::new(width, run.width());
        let ids = &level.ids;
        run.expand_level(
            &level.states,
            depth,
            visited,
            |visited, index| visited.path(ids[index]),
            |run, visited, index, state, successors| {
                for choice in 0..successors.len() {
                    let target = successors.state(choice);
                    let content_hash = run.explorer.content_hash(target);
                    considered.add(content_hash);
                    let rank = guide.rank(run, measure, target);
                    let priority = Priority { rank, chance: chance(run.seed, depth, content_hash) };
                    if next.admits(priority) && !visited.contains(&mut *run.explorer, target) {
                        next.offer(&mut *run.explorer, priority, target, ids[index], choice as u32);
                    }
                }
                run.check(state, successors, &|| visited.path(ids[index]))
            },
        )?;
        level.leave(visited);
        level = Level::default();
        next.finish(&mut *run.explorer);
        for (state, parent, choice) in next.iter() {
            level.enter(run, visited, state, parent, choice);
        }
        passed_over |= next.passed_over;
        depth += 1;
    }
    Ok(if passed_over { StopReason::Finished } else { StopReason::Exhausted })
}
