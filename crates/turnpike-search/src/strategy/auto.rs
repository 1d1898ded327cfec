//! The portfolio, for state spaces of unknown shape.
//!
//! It runs rounds with growing budgets. The first rounds include depth-first search in the model's
//! own order. Each round divides its budget between randomised depth-first search (the cheapest on
//! most systems), highway search (the best when depth-first search gets lost), random walks (the
//! best where revisiting helps, as with dining philosophers), Deep Random Search and, for timed
//! automata, walks on single clock values (the best with many clocks). The first hit ends the
//! search, and the witness is shortened. If a member covers everything within its share, so does
//! the portfolio. The cost is at most a small multiple of that of the cheapest member.

use super::descriptor::{Descriptor, Parallel};
use super::drs::{self, Drs};
use super::lasso::Cycles;
use super::random::{self, RandomWalk};
use super::{Search, concrete, dfs, executions, highway};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, Rng, derive};
use crate::run::Run;

/// The portfolio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto;

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "auto",
    summary: "portfolio of rdfs, highway, random and drs with growing budgets (timed automata: also walks on clock values; programs: source-DPOR, pos, pct, random, weighted, genetic, highway), then witness shortening",
    guarantee: "complete when one of its members covers everything",
    memory: "that of the member running",
    when: "by default: you do not know the shape of the state space",
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
        if executions::applies(run) { executions::portfolio(run) } else { search(run) }
    }

    fn cycles(&self) -> Option<Cycles> {
        Some(Cycles::Portfolio)
    }
}

/// Expansions of the first round's depth-first search.
const FIRST_BUDGET: u64 = 64;

/// By how much, as a power of two, budgets grow from round to round. Fourfold: what earlier rounds took in vain is then a third of the
/// round's budget, and the first member finds what it can find at two to five times its own cost.
const GROWTH: u32 = 2;

/// Depth-first search in the order in which the model is written takes part in so many rounds: what that order does not lead to soon, chance
/// finds earlier.
const DFS_ROUNDS: u32 = 2;

/// A member and its share of the round's budget, in eighths.
#[derive(Clone, Copy)]
enum Member {
    Dfs,
    Rdfs,
    Highway,
    Random,
    Drs,
    Concrete,
}

/// A step on single clock values costs far less than one on zones, so these walks get the largest share.
const MEMBERS: [(Member, u64); 6] = [
    (Member::Dfs, 4),
    (Member::Rdfs, 8),
    (Member::Highway, 6),
    (Member::Random, 3),
    (Member::Drs, 3),
    (Member::Concrete, 16),
];

fn search(run: &mut Run<'_>) -> Result<StopReason, Halt> {
    let (seed, exact) = (run.seed, run.options.store.is_exact());
    let outcome = rounds(run, seed, exact);
    run.seed = seed;
    outcome
}

fn rounds(run: &mut Run<'_>, seed: u64, exact: bool) -> Result<StopReason, Halt> {
    let limit = run.state_limit();
    let concrete = run.offers_concrete();
    for round in 0u32.. {
        let doublings = round.saturating_mul(GROWTH);
        let budget = FIRST_BUDGET
            .checked_shl(doublings)
            .filter(|&budget| budget >> doublings == FIRST_BUDGET)
            .unwrap_or(limit);
        let mut curtailed = false;
        for (index, (member, share)) in MEMBERS.into_iter().enumerate() {
            let takes_part = match member {
                Member::Drs => exact,
                Member::Dfs => round < DFS_ROUNDS,
                Member::Concrete => concrete,
                _ => true,
            };
            if !takes_part {
                continue;
            }
            // Models without such walks have the same results as if there were none.
            let number = match member {
                Member::Concrete => u64::MAX - u64::from(round),
                _ => u64::from(round) * (MEMBERS.len() as u64 - 1) + index as u64,
            };
            run.seed = derive(seed, Purpose::Round, number);
            run.rng = Rng::new(run.seed);
            let share = (budget / 8).saturating_mul(share);
            run.cap_states(run.counters.states.saturating_add(share));
            let alone = run.counters.states == 0;
            let outcome = member.search(run, round);
            run.cap_states(u64::MAX);
            if let Ok(StopReason::Exhausted) = outcome {
                return outcome;
            }
            if !alone {
                // The states that this member met are not all that the portfolio met.
                run.counters.forget_sets();
            }
            match outcome {
                Ok(_) => {}
                // Walks restart for ever: only the others tell whether a larger budget would make a difference.
                Err(Halt::Stop(StopReason::MaxStates)) => {
                    curtailed |= !matches!(member, Member::Random | Member::Concrete);
                }
                Err(halt) => return Err(halt),
            }
            run.counters.forget_sets();
            if run.counters.states >= limit {
                return Err(Halt::Stop(StopReason::MaxStates));
            }
        }
        // Without curtailment the depth limit is what keeps the members from more, and no budget changes that.
        if !curtailed {
            return Ok(StopReason::MaxDepth);
        }
    }
    Ok(StopReason::Finished)
}

impl Member {
    fn search(self, run: &mut Run<'_>, round: u32) -> Result<StopReason, Halt> {
        match self {
            Member::Dfs => dfs::search(run, dfs::Order::Given),
            Member::Rdfs => dfs::search(run, dfs::Order::Random),
            // Widths grow with the square root of the budget, so that levels get wider and searches deeper.
            Member::Highway => highway::search(run, 2 << (round * GROWTH / 2).min(40)),
            Member::Random => random::search(run, &RandomWalk { restart: true, ..RandomWalk::default() }),
            Member::Drs => drs::search(run, &Drs::default()),
            Member::Concrete => concrete::search(run, &RandomWalk::default()),
        }
    }
}
