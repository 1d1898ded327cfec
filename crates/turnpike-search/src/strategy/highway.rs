//! Highway search, exact and streaming: definition 5's distribution in algorithm 1's memory.
//!
//! Each eligible successor t of level j has the priority H(seed, j, content hash of t); the N smallest are the next
//! level. The same state has the same priority however often it is met, so funnels are not favoured, and the order in
//! which states arrive does not matter: any number of threads or machines gives the same levels. The level is part of H,
//! so a state passed over has a fresh chance when it comes back. Needs an exact store for the claim.

use turnpike_model::hash;

use super::candidates::{Priority, Smallest};
use super::level_set::by_levels;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, derive};
use crate::run::Run;

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
    let mut smallest = Smallest::new(width, run.width(), |run, depth, _, content_hash| Priority {
        rank: 0.0,
        chance: chance(run.seed, depth, content_hash),
    });
    by_levels(run, &mut smallest)
}
