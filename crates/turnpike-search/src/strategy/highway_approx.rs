//! Approximate highway search: algorithm 1 of the paper by Engels, Groote, van Weerdenburg and
//! Willemse, literally.
//!
//! It keeps a reservoir of N states per level. A state that was skipped or evicted is considered
//! again when it is met again within the level, so states with many predecessors (funnels) are
//! preferred: property 8 of the paper. It reproduces the published figures; `highway` uses the same
//! memory without the bias.

use rustc_hash::FxHashSet;
use turnpike_model::Successors;

use super::descriptor::{Descriptor, Parallel, Setting};
use super::highway::{Variant, WIDTH};
use super::level_set::{Considered, Level, Selection, by_levels, distinct_targets};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::Rng;
use crate::run::Run;
use crate::store::Visited;

/// Q_{d+1} under construction: algorithm 1, lines 3 to 13.
pub(crate) struct Reservoir {
    width: u64,
    /// `c`: how many states were considered for addition.
    considered: u64,
    members: FxHashSet<Box<[u32]>>,
    /// Members by slot, with predecessor and choice.
    slots: Vec<(Box<[u32]>, u32, u32)>,
}

impl Reservoir {
    pub(crate) fn new(width: u64) -> Self {
        Reservoir { width, considered: 0, members: FxHashSet::default(), slots: Vec::new() }
    }

    /// Lines 6 to 12 for one `t` that is not in V.
    pub(crate) fn consider(&mut self, rng: &mut Rng, target: &[u32], parent: u32, choice: u32) {
        if self.members.contains(target) {
            return;
        }
        self.considered += 1;
        if self.considered <= self.width {
            self.members.insert(target.into());
            self.slots.push((target.into(), parent, choice));
        } else if rng.chance(self.width, self.considered) {
            let slot = rng.index(self.slots.len());
            self.members.remove(&self.slots[slot].0);
            self.members.insert(target.into());
            self.slots[slot] = (target.into(), parent, choice);
        }
    }

    #[cfg(test)]
    pub(crate) fn contains(&self, target: &[u32]) -> bool {
        self.members.contains(target)
    }
}

/// Highway search by reservoir, duplicates considered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighwayApprox {
    /// States kept per level.
    pub width: u64,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "highway-approx",
    summary: "highway with a reservoir of N states, which prefers states with many predecessors",
    guarantee: "as highway",
    memory: "visited states and N candidates",
    when: "to reproduce the papers",
    options: &[WIDTH],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Successors,
    build: |given| Ok(HighwayApprox { width: given.width()? }.into()),
};

impl Variant for HighwayApprox {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn width(&self) -> u64 {
        self.width
    }

    fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
        search(run, width)
    }
}

pub(crate) fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    by_levels(run, &mut Reservoir::new(width))
}

impl Selection for Reservoir {
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        _: u32,
        (successors, parent): (&Successors, u32),
    ) {
        let mut distinct = Vec::new();
        distinct_targets(successors, &mut distinct);
        for choice in distinct {
            let target = successors.state(choice as usize);
            considered.add(run.view.explorer.content_hash(target));
            if !visited.contains(&mut *run.view.explorer, target) {
                self.consider(&mut run.rng, target, parent, choice);
            }
        }
    }

    fn held(&self) -> usize {
        self.slots.len()
    }

    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        _: &mut Considered,
    ) -> bool {
        let chosen = std::mem::replace(self, Reservoir::new(self.width));
        for (state, parent, choice) in &chosen.slots {
            level.enter(&mut *run.view.explorer, visited, state, *parent, *choice);
        }
        chosen.considered > chosen.width
    }
}
