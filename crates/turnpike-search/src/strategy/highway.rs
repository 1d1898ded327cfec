//! Highway search, exact and streaming: definition 5's distribution in algorithm 1's memory.
//!
//! Each eligible successor t of level j has the priority H(seed, j, content hash of t); the N smallest are the next
//! level. The same state has the same priority however often it is met, so funnels are not favoured, and the order in
//! which states arrive does not matter: any number of threads or machines gives the same levels. The level is part of H,
//! so a state passed over has a fresh chance when it comes back. Needs an exact store for the claim.

use turnpike_model::{Successors, hash};

use super::candidates::{Candidates, Priority};
use super::level_set::{Considered, Level, Selection, by_levels};
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
    let next = Candidates::new(width, run.width());
    by_levels(run, &mut Highway { next, chance })
}

struct Highway {
    next: Candidates,
    chance: Chance,
}

impl Selection for Highway {
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        depth: u32,
        from: (&Successors, u32),
    ) {
        let chance = self.chance;
        self.next.offer(run, visited, considered, from, |run, _, content_hash| Priority {
            rank: 0.0,
            chance: chance(run.seed, depth, content_hash),
        });
    }

    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        self.next.settle(run, visited, considered);
    }

    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        considered: &mut Considered,
    ) -> bool {
        self.next.choose(run, level, visited, considered)
    }
}
