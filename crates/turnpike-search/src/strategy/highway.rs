//! Highway search, exact and streaming: definition 5's distribution in algorithm 1's memory.
//!
//! Each eligible successor t of level j has the priority H(seed, j, content hash of t); the N smallest are the next
//! level. The same state has the same priority however often it is met, so funnels are not favoured, and the order in
//! which states arrive does not matter: any number of threads or machines gives the same levels. The level is part of H,
//! so a state passed over has a fresh chance when it comes back. Needs an exact store for the claim.

use turnpike_model::hash;

use super::candidates::{Candidates, Priority};
use super::level_set::{Considered, Level};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, derive};
use crate::run::Run;
use crate::store::Visited;

/// H: the priority of a state in the level after `depth`.
pub(crate) type Chance = fn(seed: u64, depth: u32, content_hash: u64) -> u64;

/// A keyed mixer of full avalanche; the key binds seed and level.
pub(crate) fn chance(seed: u64, depth: u32, content_hash: u64) -> u64 {
    hash::mix(derive(seed, Purpose::Level, u64::from(depth)), content_hash)
}

pub(crate) fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    search_with(run, width, chance)
}

pub(crate) fn search_with(run: &mut Run<'_>, width: u64, chance: Chance) -> Result<StopReason, Halt> {
    let (mut visited, mut considered) = (run.visited(), Considered::new());
    let outcome = levels(run, width, chance, &mut visited, &mut considered);
    run.counters.considered = considered.count();
    run.counters.odds = visited.odds();
    outcome
}

fn levels(
    run: &mut Run<'_>,
    width: u64,
    chance: Chance,
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
                next.offer(run, visited, considered, from, |run, _, content_hash| Priority {
                    rank: 0.0,
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
