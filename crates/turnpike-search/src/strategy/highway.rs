//! Highway search, exact and streaming: the distribution of definition 5 in the memory of algorithm 1.
//!
//! Each eligible successor t of level j has the priority H(seed, j, content hash of t); the N
//! smallest form the next level. A state has the same priority however often it is met, so funnels
//! have no advantage, and the order of arrival does not matter: any number of threads or machines
//! gives the same levels. The level is part of H, so a skipped state has a fresh chance when it
//! returns. The claim requires an exact store.

use std::fmt;

use turnpike_model::{Diagnostic, hash};

use super::Search;
use super::candidates::{Preference, Smallest};
use super::descriptor::{Descriptor, Given, OptionInfo, Parallel, Setting, ValueKind};
use super::level_set::by_levels;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::rng::{Purpose, derive};
use crate::run::Run;

/// H: the priority of a state in the level after `depth`.
#[derive(Clone, Copy)]
pub(crate) struct Chance {
    /// Binds seed and depth.
    pub(crate) key: fn(seed: u64, depth: u32) -> u64,
    /// Draws for a state, under the key.
    pub(crate) draw: fn(key: u64, content_hash: u64) -> u64,
}

/// A keyed mixer of full avalanche.
pub(crate) const CHANCE: Chance = Chance { key: level_key, draw: hash::mix };

pub(crate) fn level_key(seed: u64, depth: u32) -> u64 {
    derive(seed, Purpose::Level, u64::from(depth))
}

/// States kept per level unless a width is given.
const DEFAULT_WIDTH: u64 = 32;

/// The option of strategies that keep so many states per level.
pub(super) const WIDTH: OptionInfo =
    OptionInfo { name: "width", value: ValueKind::LARGE, default: "32", doc: "states kept per level" };

impl Given<'_> {
    pub(super) fn width(&self) -> Result<u64, Diagnostic> {
        Ok(self.count(&WIDTH)?.unwrap_or(DEFAULT_WIDTH))
    }
}

/// A variant of highway search: how the states of the next level are drawn.
pub(super) trait Variant: fmt::Debug + Send + Sync {
    const DESCRIPTOR: &'static Descriptor;
    /// Whether workers can own the states of its levels.
    const SHARES_OUT_STATES: bool = false;

    /// States kept per level.
    fn width(&self) -> u64;

    fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt>;
}

impl<V: Variant> Search for V {
    fn descriptor(&self) -> &'static Descriptor {
        V::DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        V::search(run, self.width())
    }

    fn shares_out_states(&self) -> bool {
        V::SHARES_OUT_STATES
    }

    fn check(&self, _: &SearchOptions) -> Result<(), Diagnostic> {
        check_width(self.width())
    }
}

pub(super) fn check_width(width: u64) -> Result<(), Diagnostic> {
    if width == 0 { Err(Diagnostic::error("the width must be at least 1")) } else { Ok(()) }
}

/// Exact highway search in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highway {
    /// States kept per level.
    pub width: u64,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "highway",
    summary: "breadth-first with at most N states per level, drawn uniformly from a stream",
    guarantee: "complete only while no level exceeds the width",
    memory: "visited states (at most N per level) and 2N candidates",
    when: "short witnesses in state spaces that do not fit",
    options: &[WIDTH],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Levels,
    build: |given| Ok(Highway { width: given.width()? }.into()),
};

impl Variant for Highway {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;
    const SHARES_OUT_STATES: bool = true;

    fn width(&self) -> u64 {
        self.width
    }

    fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
        search(run, width)
    }
}

pub(crate) fn search(run: &mut Run<'_>, width: u64) -> Result<StopReason, Halt> {
    search_with(run, width, CHANCE)
}

pub(crate) fn search_with(run: &mut Run<'_>, width: u64, chance: Chance) -> Result<StopReason, Halt> {
    let preference = Preference { seed: run.seed, chance, guide: None };
    by_levels(run, &mut Smallest::new(width, run.width(), preference))
}
