//! All paths of a program under a bound on preemptions or delays.
//!
//! A bound makes partial-order reduction unsound: of two orders of independent steps, the one that
//! is explored may need a preemption more than the one that it stands for, and be left out. So
//! nothing is reduced here. But states are remembered by all that decides on what follows: the
//! happens-before order so far, the last thread, and what is left of the bound. A path that comes to
//! a state that was met before is not branched off any further.
//!
//! **Guarantee**: all errors within the bound and the limit on steps. **Memory**: 16 bytes a state.

use rustc_hash::FxHashSet;
use turnpike_model::paths::{Chooser, Detail, Request};

use super::Chosen;
use crate::error::Halt;
use crate::follow::summary::Summarise;
use crate::limits::StopReason;
use crate::run::Run;

/// Explores all executions of at most `depth` steps.
pub(super) fn search(run: &mut Run<'_>, depth: u32) -> Result<StopReason, Halt> {
    let Some(info) = run.paths_info() else { return Ok(StopReason::Finished) };
    let max_steps = info.max_steps.min(run.view.max_depth).min(depth);
    let mut summarise = Summarise::new(run)?;
    let mut met: FxHashSet<u128> = FxHashSet::default();
    let (mut path, mut prefix): (Vec<Chosen>, Vec<u32>) = (Vec::new(), Vec::new());
    loop {
        prefix.clear();
        prefix.extend(path.iter().map(|chosen| chosen.position));
        let detail = summarise.detail().max(Detail::Steps);
        let request = Request { prefix: &prefix, chooser: Chooser::First, max_steps, detail, reduced: true };
        let paths = summarise.follow(run, &request)?;
        // The last choice of the prefix is new, those before it are not.
        path.truncate(prefix.len().saturating_sub(1));
        for at in path.len()..paths.len() {
            let step = paths.step(at);
            path.push(Chosen { position: step.taken, count: step.count });
            if !met.insert(paths.state_behind(at)) {
                break;
            }
        }
        while path.pop_if(|last| last.position + 1 == last.count).is_some() {}
        let Some(last) = path.last_mut() else { break };
        last.position += 1;
    }
    let counts = &run.counters.executions;
    Ok(match () {
        () if counts.cut > 0 => StopReason::MaxDepth,
        () if counts.incomplete => StopReason::Finished,
        () => StopReason::Exhausted,
    })
}
