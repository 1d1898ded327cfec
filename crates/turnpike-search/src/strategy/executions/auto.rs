//! The portfolio for programs of unknown shape.
//!
//! It runs rounds with doubling numbers of executions. Each round divides them between source-DPOR
//! (which covers everything if that is little), partial order sampling, PCT for bugs of depth 2 and
//! 3, and uniform and weighted sampling; later rounds add genetic search and highway search. The
//! first hit ends the search, and the schedule is shortened.
//!
//! If many threads wait for their turn, systematic search permutes a few of them for a long time,
//! while the error may need any two. So it gets a smaller share there, and sampling, in which each
//! thread may come first, gets a larger one.
//!
//! In a program that never ends, every execution takes all the steps it may, although errors may
//! lie near the beginning. So shares are also limited in steps, to few once executions were cut,
//! and genetic search then follows short paths: a few rounds of every thread.

use super::sampling::{Extent, Sampler};
use super::{dpor, genetic, sampling};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::strategy::genetic::{Fitness, Genetic};
use crate::strategy::highway;

/// Executions of the first round's unit.
const FIRST_UNIT: u64 = 4;
/// Steps of a share for each of its executions, of which one may be longer.
const STEPS: u64 = 1000;
/// The same where executions do not end by themselves.
const CUT_STEPS: u64 = 100;
/// And steps of each thread in the shortest paths that are bred there.
const BRED_STEPS: u32 = 8;

#[derive(Clone, PartialEq)]
enum Member {
    Explore,
    Sample(Sampler),
    Breed(Fitness),
    Highway,
}

/// So many threads are a crowd.
const CROWD: u32 = 16;

/// A member, its share of a round's units, and the first round in which it takes part.
type Share = (Member, u64, u32);

const MEMBERS: [Share; 9] = [
    (Member::Explore, 8, 0),
    (Member::Sample(Sampler::Pos), 4, 0),
    (Member::Sample(Sampler::Pct { depth: 3 }), 4, 0),
    (Member::Sample(Sampler::Pct { depth: 2 }), 2, 0),
    (Member::Sample(Sampler::Uniform), 2, 0),
    (Member::Sample(Sampler::Weighted), 2, 0),
    (Member::Breed(Fitness::Enabled), 8, 2),
    (Member::Breed(Fitness::Novelty), 3, 3),
    (Member::Highway, 4, 4),
];

/// The same where threads are a crowd.
const CROWDED: [Share; 9] = [
    (Member::Sample(Sampler::Uniform), 8, 0),
    (Member::Sample(Sampler::Pos), 6, 0),
    (Member::Explore, 2, 0),
    (Member::Sample(Sampler::Pct { depth: 3 }), 2, 0),
    (Member::Sample(Sampler::Pct { depth: 2 }), 1, 0),
    (Member::Sample(Sampler::Weighted), 3, 0),
    (Member::Breed(Fitness::Enabled), 8, 1),
    (Member::Breed(Fitness::Novelty), 3, 3),
    (Member::Highway, 4, 4),
];

/// Searches until something is found, everything was seen, or a limit is reached.
pub(crate) fn search(run: &mut Run<'_>) -> Result<StopReason, Halt> {
    let seed = run.seed;
    let outcome = rounds(run, seed);
    run.seed = seed;
    outcome
}

fn rounds(run: &mut Run<'_>, seed: u64) -> Result<StopReason, Halt> {
    let at_first = threads_at_first(run)?;
    for round in 0u32.. {
        let unit = FIRST_UNIT << round.min(40);
        let crowded = at_first.max(run.counters.executions.threads) > CROWD;
        let members = if crowded { CROWDED } else { MEMBERS };
        for (index, (member, share, first)) in members.into_iter().enumerate() {
            if round < first {
                continue;
            }
            let number = u64::from(round) * MEMBERS.len() as u64 + index as u64;
            run.seed = derive(seed, Purpose::Round, number);
            run.rng = Rng::new(run.seed);
            let executions = unit.saturating_mul(share);
            let steps = member.steps(run, round);
            run.cap_states(run.counters.states.saturating_add(executions.saturating_mul(steps)));
            run.cap_executions(run.counters.executions.total.saturating_add(executions));
            let outcome = member.search(run, round, executions);
            run.cap_states(u64::MAX);
            run.cap_executions(u64::MAX);
            match outcome {
                Ok(StopReason::Exhausted) => return Ok(StopReason::Exhausted),
                Ok(_) | Err(Halt::Stop(StopReason::MaxStates | StopReason::MaxExecutions)) => {}
                Err(halt) => {
                    run.counters.forget_sets();
                    return Err(halt);
                }
            }
            run.counters.forget_sets();
            // The limits themselves, not the shares.
            run.admit_execution()?;
        }
    }
    Ok(StopReason::Finished)
}

/// How many threads can go first.
fn threads_at_first(run: &mut Run<'_>) -> Result<u32, Halt> {
    let Some(paths) = &mut run.paths else { return Ok(0) };
    let actors = paths.actors_at_start();
    actors.map_err(|error| run.execution_error(error))
}

/// The longest path that is bred.
fn bred_depth(run: &Run<'_>, round: u32) -> u32 {
    match &run.counters.executions {
        counts if counts.cut == 0 => u32::MAX,
        counts => counts.threads.saturating_mul(BRED_STEPS << (round % 3)),
    }
}

impl Member {
    /// Steps of its share for each execution.
    fn steps(&self, run: &Run<'_>, round: u32) -> u64 {
        match self {
            // An expansion is an execution here, though a short one.
            Member::Highway => 1,
            _ if run.counters.executions.cut == 0 => STEPS,
            Member::Breed(_) => bred_depth(run, round).into(),
            _ => CUT_STEPS,
        }
    }

    fn search(self, run: &mut Run<'_>, round: u32, executions: u64) -> Result<StopReason, Halt> {
        match self {
            Member::Explore => dpor::search(run, u32::MAX),
            Member::Sample(sampler) => sampling::search(run, sampler, Extent::default()),
            Member::Breed(fitness) => {
                // A population that sees some generations within its share.
                let population = usize::try_from(executions / 8).unwrap_or(200).clamp(10, 200);
                let parents = population / if fitness == Fitness::Novelty { 5 } else { 2 };
                let depth = bred_depth(run, round);
                let options = Genetic { population, parents, depth, fitness, ..Genetic::default() };
                genetic::search(run, &options)
            }
            Member::Highway => highway::search(run, 2 << (round / 2).min(40)),
        }
    }
}
