//! Plain enumeration: every position of every choice list, as the model provides them. With sleep
//! sets in the model, these are the executions that sleep sets do not prune.

use turnpike_model::paths::{Chooser, PathStep, Request};

use super::summary::Summarise;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// Follows every schedule of at most `depth` steps.
pub(crate) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info() else { return Ok(StopReason::Finished) };
    let max_steps = info.max_steps.min(run.max_depth).min(depth);
    let mut summarise = Summarise::new(run)?;
    let mut prefix: Vec<u32> = Vec::new();
    loop {
        run.admit_execution()?;
        let detail = summarise.detail();
        let request = Request { prefix: &prefix, chooser: Chooser::First, max_steps, detail, reduced: true };
        let paths = run.follow(&request)?;
        let summary = summarise.of(paths);
        let steps: Vec<PathStep> = (0..paths.len()).map(|at| paths.step(at)).collect();
        run.book_execution(&summary)?;
        summarise.refresh(run);
        let Some(last) = (0..steps.len()).rev().find(|&at| steps[at].taken + 1 < steps[at].count) else {
            let counts = &run.counters.executions;
            let unproved = !info.reduction_is_proved;
            return Ok(match () {
                () if counts.cut > 0 => StopReason::MaxDepth,
                () if counts.incomplete || unproved => StopReason::Finished,
                () => StopReason::Exhausted,
            });
        };
        prefix.clear();
        prefix.extend(steps[..last].iter().map(|step| step.taken));
        prefix.push(steps[last].taken + 1);
    }
}
