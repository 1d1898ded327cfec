//! Highway search: definition 5 of the paper by Engels, Groote, van Weerdenburg and Willemse,
//! literally. It is the oracle for the other two variants.
//!
//! Q₀ = {s₀}; Q_{j+1} is a uniform draw among the subsets of size min(N, ·) of succ(Q_j) \ ⋃_{k≤j}
//! Q_k. All eligible successors of a level are held in memory.

use turnpike_model::Successors;

use super::descriptor::{Descriptor, Parallel, Setting};
use super::highway::{Variant, WIDTH};
use super::level_set::{Considered, Level, Selection, by_levels};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{ExactStore, Visited};

/// Highway search by definition: draw from all eligible successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HighwayIdeal {
    /// States kept per level.
    pub width: u64,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "highway-ideal",
    summary: "highway by definition: all eligible successors of a level, then a uniform draw",
    guarantee: "as highway",
    memory: "visited states and all successors of a level",
    when: "as an oracle, and to reproduce the papers",
    options: &[WIDTH],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Successors,
    build: |given| Ok(HighwayIdeal { width: given.width()? }.into()),
};

impl Variant for HighwayIdeal {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn width(&self) -> u64 {
        self.width
    }

    fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
        search(run, width)
    }
}

pub(crate) fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    let states = ExactStore::new(run.width());
    by_levels(run, &mut Eligible { width, states, origins: Vec::new() })
}

/// succ(Q_j) \ ⋃ Q_k as a set, in order of arrival, each state with its first predecessor.
struct Eligible {
    width: u64,
    states: ExactStore,
    origins: Vec<(u32, u32)>,
}

impl Selection for Eligible {
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        _: u32,
        (successors, parent): (&Successors, u32),
    ) {
        for (choice, (_, target)) in (0..).zip(successors.iter()) {
            considered.add(run.view.explorer.content_hash(target));
            if !visited.contains(&mut *run.view.explorer, target) && self.states.insert(target).1 {
                self.origins.push((parent, choice));
            }
        }
    }

    fn held(&self) -> usize {
        self.origins.len()
    }

    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        _: &mut Considered,
    ) -> bool {
        let states = std::mem::replace(&mut self.states, ExactStore::new(run.width()));
        let origins = std::mem::take(&mut self.origins);
        // A uniform subset: the first `width` places of a shuffle.
        let mut drawn: Vec<u32> = (0..origins.len() as u32).collect();
        let keep = drawn.len().min(usize::try_from(self.width).unwrap_or(usize::MAX));
        for place in 0..keep {
            let other = place + run.rng.index(drawn.len() - place);
            drawn.swap(place, other);
        }
        for &index in &drawn[..keep] {
            let (parent, choice) = origins[index as usize];
            level.enter(&mut *run.view.explorer, visited, states.get(index), parent, choice);
        }
        keep < drawn.len()
    }
}
