//! Beam search: highway search whose next level is the N most promising successors instead of a random draw.
//!
//! The guide is a measure of the model; chance only breaks ties. Level by level, so witnesses tend to be short; finds
//! nothing the guide leads away from.

use turnpike_model::Successors;

use super::Guide;
use super::candidates::{Candidates, Priority};
use super::highway::chance;
use super::level_set::{Considered, Level, Selection, by_levels};
use crate::error::{Halt, SearchError};
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::Visited;

pub(crate) fn search(run: &mut Run<'_>, width: u64, guide: &Guide) -> Result<StopReason, Halt> {
    let measure = guide.resolve(run.model.info()).map_err(SearchError::from)?;
    let next = Candidates::new(width, run.width());
    by_levels(run, &mut Beam { next, guide, measure })
}

struct Beam<'g> {
    next: Candidates,
    guide: &'g Guide,
    measure: usize,
}

impl Selection for Beam<'_> {
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        depth: u32,
        from: (&Successors, u32),
    ) {
        let (guide, measure) = (self.guide, self.measure);
        self.next.offer(run, visited, considered, from, |run, target, content_hash| Priority {
            rank: guide.rank(run, measure, target),
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
