//! The portfolio, for systems of unknown shape.
//!
//! It runs rounds with growing budgets, each of which is divided between the members of a table. The
//! first hit ends the search, and the witness is shortened. If a member covers everything within its
//! share, so does the portfolio. The cost is at most a small multiple of that of the cheapest
//! member.
//!
//! **State spaces.** Budgets are expansions. The members are depth-first search in the model's own
//! order, randomised depth-first search (the cheapest on most systems), highway search (the best when
//! depth-first search gets lost), random walks (the best where revisiting helps, as with dining
//! philosophers), Deep Random Search, for deadlocks a search that prefers states with few transitions
//! and, for timed automata, walks on single clock values (the best with many clocks).
//!
//! Depth-first searches go on in the next round where they stopped in the last one, so nothing that
//! they did is done again, and for longer if little is left to do. All others begin again: what one
//! attempt misses another may find soon (`attempts`).
//!
//! **Programs.** Budgets are executions. In the first one all threads go on in turn, which shows many
//! deadlocks and broken orders at once. One draws random priorities. Then come DPOR (which covers everything if that is little),
//! partial order sampling, PCT for bugs of depth 2 and 3, uniform and weighted sampling; later rounds
//! add genetic search, highway search and schedules that continue what was new.
//!
//! If many threads wait for their turn, systematic search permutes a few of them for a long time,
//! while the error may need any two. So it gets a smaller share there, and sampling, in which each
//! thread may come first, gets a larger one; the first samples draw few threads of each kind, and let
//! these go first.
//!
//! A program that a few rounds did not cover is large. Sampling, which costs less for each
//! execution, then gets more of them.
//!
//! In a program that never ends, every execution takes all the steps it may, although errors may
//! lie near the beginning. So shares are also limited in steps, to few once executions were cut,
//! and genetic search then follows short paths: a few rounds of every thread.

mod attempts;
mod few_transitions;

use std::ops::Range;

use self::attempts::Paused;
use super::descriptor::{Descriptor, Parallel};
use super::drs::{self, Drs};
use super::exhaustive::reduced;
use super::genetic::{self, Fitness, Genetic};
use super::lasso::Cycles;
use super::sampling::{self, Extent, Over, Sampler};
use super::{Search, concrete, dfs, frontier, highway};
use crate::error::Halt;
use crate::follow;
use crate::limits::StopReason;
use crate::objective::Objective;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;

/// The portfolio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "auto",
    summary: "a portfolio with growing budgets: rdfs, dfs, highway, random and drs (deadlocks: also best-first to states with few transitions; timed automata: also walks on clock values; programs: DPOR, pos, pct, random, weighted, genetic, highway, frontier)",
    guarantee: "complete when one of its members covers everything",
    memory: "that of two depth-first searches, and of the running member",
    when: "you do not know the shape of the state space",
    options: &[],
    settings: &[],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Everything,
    build: |_| Ok(Auto.into()),
};

impl Search for Auto {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let seed = run.seed;
        let outcome = rounds(run, seed);
        run.seed = seed;
        outcome
    }

    fn cycles(&self) -> Option<Cycles> {
        Some(Cycles::Portfolio)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Member {
    Dfs,
    Rdfs,
    Highway,
    Drs,
    /// Best-first, to states with few transitions.
    Narrow,
    /// Walks on single states.
    Concrete,
    Sample(Sampler),
    /// One path, as a sampler draws it.
    Once(Sampler),
    /// Exhaustive search with DPOR.
    Explore,
    Breed(Fitness),
    /// Continues schedules that led to something new.
    Frontier,
}

/// A member, its share of a round's units, and the rounds in which it takes part.
type Share = (Member, u64, Range<u32>);

const ALWAYS: Range<u32> = 0..u32::MAX;
const UNIFORM: Member = Member::Sample(Sampler::Uniform(Over::States));
const POS: Member = Member::Sample(Sampler::Pos);
const FEW: Member = Member::Sample(Sampler::Few);
const TURNS: Member = Member::Once(Sampler::Turns);
const PCT_2: Member = Member::Sample(Sampler::Pct { depth: 2 });
const PCT_3: Member = Member::Sample(Sampler::Pct { depth: 3 });
const WEIGHTED: Member = Member::Sample(Sampler::Weighted);

/// Who searches a state space.
const STATES: &[Share] = &[
    // What the order in which the model is written does not lead to soon, chance finds earlier.
    (Member::Dfs, 2, 0..1),
    (Member::Dfs, 3, 1..2),
    (Member::Rdfs, 8, ALWAYS),
    (Member::Highway, 4, ALWAYS),
    (UNIFORM, 1, ALWAYS),
    (Member::Drs, 2, ALWAYS),
    (Member::Narrow, 1, ALWAYS),
    (Member::Dfs, 1, 2..6),
    // A step on single clock values costs far less than one on zones, so these walks get a large share.
    (Member::Concrete, 8, 2..u32::MAX),
];

/// Who searches a program.
const PROGRAMS: &[Share] = &[
    (TURNS, 1, 0..1),
    (Member::Once(Sampler::Pos), 1, 0..1),
    (Member::Explore, 8, ALWAYS),
    (POS, 4, ALWAYS),
    (PCT_3, 4, ALWAYS),
    (PCT_2, 2, ALWAYS),
    (UNIFORM, 2, ALWAYS),
    (WEIGHTED, 2, ALWAYS),
    (Member::Breed(Fitness::Enabled), 8, 2..u32::MAX),
    (Member::Breed(Fitness::Novelty), 3, 3..u32::MAX),
    (Member::Highway, 4, 4..u32::MAX),
    (Member::Frontier, 24, 4..u32::MAX),
];

/// The same where threads are a crowd.
const CROWDED: &[Share] = &[
    (TURNS, 1, 0..1),
    (FEW, 8, ALWAYS),
    (UNIFORM, 8, ALWAYS),
    (POS, 6, ALWAYS),
    (Member::Explore, 2, ALWAYS),
    (PCT_3, 2, ALWAYS),
    (PCT_2, 1, ALWAYS),
    (WEIGHTED, 3, ALWAYS),
    (Member::Breed(Fitness::Enabled), 8, 1..u32::MAX),
    (Member::Breed(Fitness::Novelty), 3, 3..u32::MAX),
    (Member::Highway, 4, 4..u32::MAX),
    (Member::Frontier, 4, 4..u32::MAX),
];

/// From this round on, sampling gets [`CHEAPER`] times as many executions.
const LARGE: u32 = 5;
/// So many sampled executions cost about as much as one whose races are analysed.
const CHEAPER: u64 = 8;
/// So many threads are a crowd.
const CROWD: u32 = 8;
/// Steps of a share for each of its executions, of which one may be longer.
const STEPS: u64 = 1000;
/// The same where executions do not end by themselves.
const CUT_STEPS: u64 = 100;
/// And steps of each thread in the shortest paths that are bred there.
const BRED_STEPS: u32 = 8;

/// What the system is like, as far as the choice of members goes.
enum System {
    /// A state space, of which single states may be walked on.
    States { concrete: bool },
    /// A program, in which so many threads can go first.
    Program { actors: u32 },
}

impl System {
    fn of(run: &mut Run<'_>) -> Result<Self, Halt> {
        if !follow::natively(run) {
            return Ok(System::States { concrete: run.offers_concrete() });
        }
        let Some(paths) = &mut run.paths else { return Ok(System::Program { actors: 0 }) };
        match paths.actors_at_start() {
            Ok(actors) => Ok(System::Program { actors }),
            Err(error) => Err(run.execution_error(error)),
        }
    }

    fn members(&self, run: &Run<'_>) -> &'static [Share] {
        match self {
            System::States { .. } => STATES,
            System::Program { actors } if run.counters.executions.threads.max(*actors) > CROWD => CROWDED,
            System::Program { .. } => PROGRAMS,
        }
    }

    fn has(&self, run: &Run<'_>, member: &Member) -> bool {
        match (self, member) {
            (System::States { concrete }, Member::Concrete) => *concrete,
            // It keeps states in full.
            (_, Member::Drs) => run.options.store.is_exact(),
            // It would remember and continue longer and longer schedules.
            (_, Member::Frontier) => run.counters.executions.cut == 0,
            // Few threads that never end keep all others waiting.
            (_, Member::Sample(Sampler::Few)) => run.counters.executions.cut == 0,
            (_, Member::Narrow) => {
                run.options.store.is_exact() && run.objectives.iter().any(Objective::is_met_by_deadlock)
            }
            _ => true,
        }
    }

    /// The first round's unit, in expansions or executions.
    fn first_unit(&self) -> u64 {
        match self {
            System::States { .. } => 8,
            System::Program { .. } => 4,
        }
    }

    /// By how much, as a power of two, budgets have grown in a round.
    ///
    /// Fourfold on states: what earlier rounds took in vain is then a third of the round's budget, and the first member
    /// finds what it can find at two to five times its own cost.
    fn doublings(&self, round: u32) -> u32 {
        match self {
            System::States { .. } => round.saturating_mul(2).min(40),
            System::Program { .. } => round.min(40),
        }
    }

    /// Which seed a member gets.
    fn number(&self, round: u32, index: usize, member: &Member) -> u64 {
        let members = match self {
            System::States { .. } => STATES.len(),
            System::Program { .. } => PROGRAMS.len() - 1,
        };
        match member {
            // Other members draw the same as if there were none.
            Member::Frontier => (1 << 63) - u64::from(round),
            _ => u64::from(round) * members as u64 + index as u64,
        }
    }

    /// Keeps the run within a member's share.
    fn cap(&self, run: &mut Run<'_>, member: &Member, share: u64, round: u32) {
        let mut expansions = share;
        if let System::Program { .. } = self {
            expansions = share.saturating_mul(member.steps(run, round));
            run.cap_executions(run.counters.executions.total.saturating_add(share));
        }
        run.cap_states(run.counters.states.saturating_add(expansions));
    }
}

fn rounds(run: &mut Run<'_>, seed: u64) -> Result<StopReason, Halt> {
    let system = System::of(run)?;
    let mut known = frontier::Known::default();
    let mut paused = Paused::default();
    for round in 0u32.. {
        let doublings = system.doublings(round);
        let mut curtailed = false;
        for (index, (member, share, rounds)) in system.members(run).iter().enumerate() {
            if !rounds.contains(&round) || !system.has(run, member) {
                continue;
            }
            run.seed = derive(seed, Purpose::Round, system.number(round, index, member));
            run.rng = Rng::new(run.seed);
            let mut share = (system.first_unit() << doublings).saturating_mul(*share);
            let ends = run.counters.executions.cut == 0;
            if matches!(system, System::Program { .. }) && ends && round >= LARGE && member.is_endless() {
                share = share.saturating_mul(CHEAPER);
            }
            let alone = run.counters.states == 0;
            system.cap(run, member, share, round);
            run.member = Some(member.name());
            let narrowest = if matches!(system, System::Program { .. }) { 2 } else { 4 };
            let outcome = match (member, member.depth_first()) {
                // These go on where they were.
                (Member::Frontier, _) => frontier::search(run, &mut known),
                (_, Some(order)) if run.options.store.is_exact() => paused.go_on(run, order, share),
                _ => member.search(run, round, share, narrowest << (doublings / 2)),
            };
            run.cap_states(u64::MAX);
            run.cap_executions(u64::MAX);
            if let Ok(StopReason::Exhausted) = outcome {
                return outcome;
            }
            if !alone {
                // The states that this member met are not all that the portfolio met.
                run.counters.forget_sets();
            }
            match outcome {
                Ok(_) => {}
                Err(Halt::Stop(StopReason::MaxStates | StopReason::MaxExecutions)) => {
                    curtailed |= !member.is_endless();
                }
                Err(halt) => return Err(halt),
            }
            run.counters.forget_sets();
            // The limits themselves, not the shares.
            run.admit_execution()?;
        }
        // Without curtailment the depth limit is what keeps the members from more, and no budget changes that. Of a
        // program later members may still cover what the first ones cannot.
        if !curtailed && matches!(system, System::States { .. }) {
            return Ok(StopReason::MaxDepth);
        }
    }
    Ok(StopReason::Finished)
}

/// The longest path that is bred.
fn bred_depth(run: &Run<'_>, round: u32) -> u32 {
    match &run.counters.executions {
        counts if counts.cut == 0 => u32::MAX,
        counts => counts.threads.saturating_mul(BRED_STEPS << (round % 3)),
    }
}

impl Member {
    /// The name of the strategy that it is.
    fn name(&self) -> &'static str {
        match self {
            Member::Dfs => "dfs",
            Member::Rdfs => "rdfs",
            Member::Highway => "highway",
            Member::Drs => "drs",
            Member::Narrow => "best-first",
            Member::Concrete => "random on clock values",
            Member::Sample(sampler) | Member::Once(sampler) => match sampler {
                Sampler::Uniform(_) => "random",
                Sampler::Pos => "pos",
                Sampler::Few => "pos with few threads at once",
                Sampler::Turns => "threads in turn",
                Sampler::Pct { .. } => "pct",
                Sampler::Weighted => "weighted",
            },
            Member::Explore => "exhaustive",
            Member::Breed(_) => "genetic",
            Member::Frontier => "frontier",
        }
    }

    /// Whether it begins again for ever: only the others tell whether a larger budget would make a difference.
    fn is_endless(&self) -> bool {
        matches!(self, Member::Sample(_) | Member::Once(_) | Member::Concrete | Member::Frontier)
    }

    /// The order of a depth-first search, which can be interrupted.
    fn depth_first(&self) -> Option<dfs::Order> {
        match self {
            Member::Dfs => Some(dfs::Order::Given),
            Member::Rdfs => Some(dfs::Order::Random),
            _ => None,
        }
    }

    /// Steps of a program of its share for each execution.
    fn steps(&self, run: &Run<'_>, round: u32) -> u64 {
        match self {
            // An expansion is an execution here, though a short one.
            Member::Highway => 1,
            _ if run.counters.executions.cut == 0 => STEPS,
            Member::Breed(_) => bred_depth(run, round).into(),
            _ => CUT_STEPS,
        }
    }

    /// Searches with its share. Widths grow with the square root of the budget, so that levels get wider and searches
    /// deeper.
    fn search(&self, run: &mut Run<'_>, round: u32, share: u64, width: u64) -> Result<StopReason, Halt> {
        match self {
            Member::Dfs => dfs::search(run, dfs::Order::Given, dfs::Seen::Expanded),
            Member::Rdfs => dfs::search(run, dfs::Order::Random, dfs::Seen::Expanded),
            Member::Highway if follow::natively(run) => highway::search(run, width),
            Member::Highway => attempts::ever_wider(run, width, share),
            Member::Drs => attempts::restart(run, share, |run| drs::search(run, &Drs::default())),
            Member::Narrow => few_transitions::search(run, round % 2 == 1),
            Member::Concrete => concrete::search(run, None),
            Member::Sample(sampler) if follow::natively(run) => {
                sampling::search(run, *sampler, Extent::default())
            }
            Member::Once(sampler) => {
                sampling::search(run, *sampler, Extent { once: true, ..Extent::default() })
            }
            Member::Sample(sampler) => {
                attempts::restart(run, share, |run| sampling::search(run, *sampler, Extent::default()))
            }
            Member::Explore => reduced::search(run, u32::MAX),
            Member::Frontier => frontier::search(run, &mut frontier::Known::default()),
            Member::Breed(fitness) => {
                // A population that sees some generations within its share.
                let population = usize::try_from(share / 8).unwrap_or(200).clamp(10, 200);
                let parents = population / if *fitness == Fitness::Novelty { 5 } else { 2 };
                let (depth, fitness) = (bred_depth(run, round), fitness.clone());
                let options = Genetic { population, parents, depth, fitness, ..Genetic::default() };
                genetic::search(run, &options)
            }
        }
    }
}
