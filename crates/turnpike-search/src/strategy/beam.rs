//! Beam search: highway search whose next level is the N most promising successors instead of a random draw.
//!
//! The guide is a measure of the model; chance only breaks ties. Level by level, so witnesses tend to be short; finds
//! nothing the guide leads away from.

use super::Guide;
use super::candidates::{Priority, Smallest};
use super::highway::chance;
use super::level_set::by_levels;
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;

pub(crate) fn search(run: &mut Run<'_>, width: u64, guide: &Guide) -> Result<StopReason, Halt> {
    let measure = guide.resolve(run.model.info()).map_err(SearchError::from)?;
    let mut smallest = Smallest::new(width, run.width(), |run, depth, target, content_hash| Priority {
        rank: guide.rank(run, measure, target),
        chance: chance(run.seed, depth, content_hash),
    });
    by_levels(run, &mut smallest)
}
