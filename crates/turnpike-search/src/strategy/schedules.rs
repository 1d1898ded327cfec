//! Strategies that draw schedules of a program's threads: `pct`, `pos` and `weighted`.
//!
//! They differ in how a path is drawn; [`sampling::search`] does the rest.

use super::Search;
use super::descriptor::{Descriptor, OptionInfo, Parallel, Setting, ValueKind};
use super::sampling::{self, Extent, Sampler};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// The bug depth of PCT unless one is given.
const DEFAULT_BUG_DEPTH: u32 = 3;

/// Random priorities of threads with `depth - 1` change points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pct {
    /// How many ordering constraints the bug has.
    pub depth: u32,
}

impl Default for Pct {
    fn default() -> Self {
        Pct { depth: DEFAULT_BUG_DEPTH }
    }
}

/// Random priorities of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pos;

/// Every interleaving about equally likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighted;

const BUG_DEPTH: OptionInfo = OptionInfo {
    name: "bug-depth",
    value: ValueKind::POSITIVE,
    default: "3",
    doc: "orderings that the bug needs",
};

pub(super) static PCT: Descriptor = Descriptor {
    name: "pct",
    summary: "programs: random thread priorities, changed at D - 1 random steps",
    guarantee: "a bug of depth d is found with probability 1/(n k^(d-1)) in each execution of n threads and k steps",
    memory: "constant",
    when: "bugs that need few orderings but many threads",
    options: &[BUG_DEPTH],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: true,
    parallel: Parallel::Executions,
    build: |given| Ok(Pct { depth: given.count(&BUG_DEPTH)?.unwrap_or(DEFAULT_BUG_DEPTH) }.into()),
};

pub(super) static POS: Descriptor = Descriptor {
    name: "pos",
    summary: "programs: random priorities of operations, drawn again when they race",
    guarantee: "none",
    memory: "constant",
    when: "the first thing to try on a program",
    options: &[],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: true,
    parallel: Parallel::Executions,
    build: |_| Ok(Pos.into()),
};

pub(super) static WEIGHTED: Descriptor = Descriptor {
    name: "weighted",
    summary: "programs: threads in proportion to the steps they have left, so that interleavings are about equally likely",
    guarantee: "none",
    memory: "constant",
    when: "threads of very different length",
    options: &[],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: true,
    parallel: Parallel::Executions,
    build: |_| Ok(Weighted.into()),
};

impl Search for Pct {
    fn descriptor(&self) -> &'static Descriptor {
        &PCT
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        sampling::search(run, Sampler::Pct { depth: self.depth }, Extent::default())
    }

    fn shares_out_paths(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        true
    }
}

impl Search for Pos {
    fn descriptor(&self) -> &'static Descriptor {
        &POS
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        sampling::search(run, Sampler::Pos, Extent::default())
    }

    fn shares_out_paths(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        true
    }
}

impl Search for Weighted {
    fn descriptor(&self) -> &'static Descriptor {
        &WEIGHTED
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        sampling::search(run, Sampler::Weighted, Extent::default())
    }

    fn shares_out_paths(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        true
    }
}
