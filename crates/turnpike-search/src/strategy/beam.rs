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
    let initial = run.explorer.content_hash(&level.states);
    considered.add(initial);
    considered.visit(initial);
    let (mut depth, mut passed_over) = (0, false);
    let mut next = Candidates::new(width, run.width());
    while !level.is_empty() {
        if depth == run.max_depth {
            return Ok(StopReason::MaxDepth);
        }
        next.clear();
        let ids = &level.ids;
        let outcome = run.expand_level(
            &level.states,
            depth,
            visited,
            |visited, index| visited.path(ids[index]),
            |run, visited, index, state, successors| {
                let from = (successors, ids[index]);
                next.offer(run, visited, considered, from, |run, target, content_hash| Priority {
                    rank: guide.rank(run, measure, target),
                    chance: chance(run.seed, depth, content_hash),
                });
                run.check(state, successors, &|| visited.path(ids[index]))
            },
        );
        // What was expanded counts, also when a limit ended the level.
        next.settle(run, visited, considered);
        outcome?;
        level.leave(visited);
        level.clear();
        next.finish(&mut *run.explorer);
        next.enter(run, &mut level, visited, considered);
        passed_over |= next.passed_over;
        depth += 1;
    }
    Ok(if passed_over { StopReason::Finished } else { StopReason::Exhausted })
}
