//! Beam search: highway search whose next level is the N most promising successors instead of a
//! random draw.
//!
//! The guide is a measure of the model; the random generator only breaks ties. The search goes
//! level by level, so witnesses tend to be short. It does not find what the guide leads away from.

use turnpike_model::Diagnostic;

use super::candidates::{Preference, Smallest};
use super::descriptor::{Descriptor, Parallel, Setting};
use super::guide::GUIDE;
use super::highway::{CHANCE, WIDTH, check_width};
use super::level_set::by_levels;
use super::{Guide, Search};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::options::SearchOptions;
use crate::run::Run;

/// Highway search with a guide instead of chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beam {
    /// States kept per level.
    pub width: u64,
    /// What to prefer.
    pub guide: Guide,
}

pub(super) static DESCRIPTOR: Descriptor = Descriptor {
    name: "beam",
    summary: "breadth-first with the N most promising states per level",
    guarantee: "complete only while no level exceeds the width",
    memory: "visited states and 2N candidates",
    when: "the model has a measure that leads to the bug, and the witness should be short",
    options: &[WIDTH, GUIDE],
    settings: &[Setting::Threads],
    stores_states: true,
    programs_only: false,
    parallel: Parallel::Levels,
    build: |given| Ok(Beam { width: given.width()?, guide: given.guide()? }.into()),
};

impl Search for Beam {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn search(&self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        search(run, self.width, &self.guide)
    }

    fn shares_out_states(&self) -> bool {
        true
    }

    fn check(&self, _: &SearchOptions) -> Result<(), Diagnostic> {
        check_width(self.width)
    }
}

fn search(run: &mut Run<'_>, width: u64, guide: &Guide) -> Result<StopReason, Halt> {
    let measure = guide.resolve(run.model.info()).map_err(SearchError::from)?;
    let preference = Preference { seed: run.seed, chance: CHANCE, guide: Some((guide.clone(), measure)) };
    by_levels(run, &mut Smallest::new(width, run.width(), preference))
}
