//! The portfolio for programs: what to use when nothing is known about them.
//!
//! Rounds with doubling numbers of executions. In each, source-DPOR (which covers everything when that is little), partial
//! order sampling, PCT for bugs of depth 2 and 3, uniform and weighted sampling get their share; later also genetic search
//! and highway search. The first hit ends the search, and the schedule is shortened.

use super::sampling::{Extent, Sampler};
use super::{dpor, genetic, sampling};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;
use crate::strategy::genetic::{Fitness, GeneticOptions};
use crate::strategy::highway;

/// Executions of the first round's unit.
const FIRST_UNIT: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Explore,
    Sample(Sampler),
    Breed,
    Highway,
}

/// A member, its share of a round's units, and the first round in which it takes part.
const MEMBERS: [(Member, u64, u32); 8] = [
    (Member::Explore, 8, 0),
    (Member::Sample(Sampler::Pos), 4, 0),
    (Member::Sample(Sampler::Pct { depth: 3 }), 4, 0),
    (Member::Sample(Sampler::Pct { depth: 2 }), 2, 0),
    (Member::Sample(Sampler::Uniform), 2, 0),
    (Member::Sample(Sampler::Weighted), 2, 0),
    (Member::Breed, 4, 4),
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
    for round in 0u32.. {
        let unit = FIRST_UNIT << round.min(40);
        for (index, (member, share, first)) in MEMBERS.into_iter().enumerate() {
            if round < first {
                continue;
            }
            let number = u64::from(round) * MEMBERS.len() as u64 + index as u64;
            run.seed = derive(seed, Purpose::Round, number);
            run.rng = Rng::new(run.seed);
            let executions = unit.saturating_mul(share);
            if member == Member::Highway {
                // An expansion is an execution here, though a short one.
                run.cap_states(run.counters.states.saturating_add(executions));
            } else {
                run.cap_executions(run.counters.executions.total.saturating_add(executions));
            }
            let outcome = member.search(run, round, executions);
            run.cap_states(u64::MAX);
            run.cap_executions(u64::MAX);
            match outcome {
                Ok(StopReason::Exhausted) => return Ok(StopReason::Exhausted),
                Ok(_) | Err(Halt::Stop(StopReason::MaxStates | StopReason::MaxExecutions)) => {}
                Err(halt) => return Err(halt),
            }
            run.counters.considered = None;
            run.counters.generated = None;
            // The limits themselves, not the shares.
            run.admit_execution()?;
        }
    }
    Ok(StopReason::Finished)
}

impl Member {
    fn search(self, run: &mut Run<'_>, round: u32, executions: u64) -> Result<StopReason, Halt> {
        match self {
            Member::Explore => dpor::search(run, u32::MAX),
            Member::Sample(sampler) => sampling::search(run, sampler, Extent::default()),
            Member::Breed => {
                // A population that sees some generations within its share.
                let population = usize::try_from(executions / 8).unwrap_or(200).clamp(10, 200);
                let fitness = if round.is_multiple_of(2) { Fitness::Enabled } else { Fitness::Novelty };
                let parents = population / if fitness == Fitness::Novelty { 5 } else { 2 };
                let depth = u32::MAX;
                let options =
                    GeneticOptions { population, parents, depth, fitness, ..GeneticOptions::default() };
                genetic::search(run, &options)
            }
            Member::Highway => highway::search(run, 2 << (round / 2).min(40)),
        }
    }
}
