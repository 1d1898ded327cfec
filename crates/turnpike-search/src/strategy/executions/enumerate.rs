//! Plain enumeration: every position of every choice list, as the model gives them. With sleep sets in the model, these
//! are the executions that sleep sets leave.

use turnpike_model::scheduler::{Execution, Plan, Policy};

use super::execute;
use super::summary::Summarise;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;

/// Follows every schedule of at most `depth` steps.
pub(crate) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let Some(base) = run.plan else { return Ok(StopReason::Finished) };
    let max_steps = base.max_steps.min(run.max_depth).min(depth);
    let mut summarise = Summarise::new(run)?;
    let mut execution = Execution::default();
    let mut prefix: Vec<u32> = Vec::new();
    loop {
        run.admit_execution()?;
        let detail = summarise.detail();
        let plan = Plan { prefix: &prefix, policy: Policy::First, max_steps, detail, ..base };
        let outcome = execute(&mut *run.explorer, &plan, &mut execution);
        outcome.map_err(|error| run.execution_error(error))?;
        let summary = summarise.of(&mut *run.explorer, &execution);
        run.book_execution(&summary)?;
        summarise.refresh(run);
        let steps = &execution.steps;
        let Some(last) = (0..steps.len()).rev().find(|&at| steps[at].taken + 1 < steps[at].count) else {
            let counts = &run.counters.executions;
            let unproved = base.reduction.persistent.is_some_and(|table| !table.proved);
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
