//! Independent random executions: `random`, `pct`, `pos`, `weighted`.
//!
//! **Guarantee**: `pct` finds a bug that needs d ordering constraints with probability at least
//! 1/(n·k^(d-1)) in each execution of n threads and k steps; the others have no guarantee.
//! **Memory**: constant.
//!
//! Each execution has its own seed. PCT and weighted sampling estimate a program's length from
//! earlier batches, whose sizes do not depend on the number of threads; so no result does either.

use turnpike_model::paths::{Chooser, Request};

use super::pool::Batch;
use super::summary::{Ending, Summarise, Summary};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::rng::{Purpose, derive};
use crate::run::Run;

/// How executions are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampler {
    /// Each choice equally likely.
    Uniform,
    /// Random priorities with change points: bugs of this depth.
    Pct { depth: u32 },
    /// Random priorities of operations.
    Pos,
    /// Each interleaving about equally likely.
    Weighted,
}

/// How many executions, and how long they may be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// One execution, not as many as the limits allow.
    pub(crate) once: bool,
    /// Steps of an execution.
    pub(crate) steps: Option<u32>,
}

/// The largest batch: estimates are renewed at least this often.
const LARGEST: usize = 1024;

/// What earlier executions tell about the program.
#[derive(Debug, Default)]
struct Estimate {
    /// Steps with more than one choice, at most.
    contested: u32,
    /// Steps of each thread in the first execution.
    events: Vec<u32>,
    known: bool,
}

impl Sampler {
    /// How one execution is drawn. Without an estimate it is uniform.
    fn chooser<'e>(self, seed: u64, estimate: &'e Estimate) -> Chooser<'e> {
        match self {
            Sampler::Pos => Chooser::Pos { seed },
            Sampler::Pct { depth } if estimate.known => {
                Chooser::Pct { seed, depth, length: estimate.contested.max(1) }
            }
            Sampler::Weighted if estimate.known => Chooser::Weighted { seed, steps: &estimate.events },
            _ => Chooser::Uniform { seed },
        }
    }
}

/// Executes until a limit is reached or the objective is met.
pub(crate) fn search(run: &mut Run<'_>, sampler: Sampler, extent: Extent) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info() else { return Ok(StopReason::Finished) };
    let mut summarise = Summarise::new(run)?;
    let mut estimate = Estimate::default();
    let max_steps = info.max_steps.min(run.max_depth).min(extent.steps.unwrap_or(u32::MAX));
    let (mut first, mut count) = (0u64, 1);
    loop {
        let seed = run.seed;
        let mut learned = Estimate { known: true, ..Estimate::default() };
        let mut only = None;
        {
            let (estimate, summarise) = (&estimate, &summarise);
            let request = |index: usize| {
                let seed = derive(seed, Purpose::Execution, first + index as u64);
                let (chooser, detail) = (sampler.chooser(seed, estimate), summarise.detail());
                Request { prefix: &[], chooser, max_steps, detail, reduced: true }
            };
            let batch = Batch {
                count,
                request: &request,
                digest: &|paths| summarise.of(paths),
                last: &|summary: &Summary| !summary.hits.is_empty(),
            };
            batch.execute(run, &mut |run, index, summary| {
                run.book_execution(&summary)?;
                learned.contested = learned.contested.max(summary.contested);
                if first == 0 && index == 0 {
                    only = (summary.contested == 0).then_some(summary.ending);
                    learned.events = summary.events;
                }
                Ok(())
            })?;
        }
        if let Some(ending) = only {
            // Nothing was ever to be chosen: there is no other execution.
            let whole = ending == Ending::Completed && !run.counters.executions.incomplete;
            return Ok(if whole { StopReason::Exhausted } else { StopReason::Finished });
        }
        if extent.once {
            return Ok(if run.counters.executions.cut > 0 && max_steps == run.max_depth {
                StopReason::MaxDepth
            } else {
                StopReason::Finished
            });
        }
        estimate.contested = estimate.contested.max(learned.contested);
        if first == 0 {
            estimate.events = learned.events;
        }
        estimate.known = true;
        first += count as u64;
        count = (count * 2).min(LARGEST);
        summarise.refresh(run);
    }
}
