//! Best-first search towards deadlocks: the state with the fewest transitions first.
//!
//! How many transitions a state has is known once it was expanded, so every state is expanded when it
//! is met, and once more when its turn comes. Among equals, later arrivals come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::ROOT;

/// Successors are met in the order of the model, or `at_random`.
pub(super) fn search(run: &mut Run<'_>, at_random: bool) -> Result<StopReason, Halt> {
    let mut visited = run.visited();
    let mut queue = BTreeMap::new();
    let (mut state, mut successors, mut further) = (run.initial()?, run.buffer(), run.buffer());
    let (mut order, mut arrival, mut cut) = (Vec::new(), 0u64, false);
    visited.insert(&mut *run.view.explorer, &state, ROOT, 0);
    queue.insert((0, Reverse(arrival)), (0, 0));
    while let Some((_, (id, depth))) = queue.pop_first() {
        if depth == run.view.max_depth {
            cut = true;
            continue;
        }
        visited.load(id, &mut state);
        run.expand(&state, depth, &mut successors, &|| visited.path(id))?;
        if id == 0 {
            run.check(&state, &successors, &|| visited.path(id))?;
        }
        order.clear();
        order.extend(0..successors.len());
        if at_random {
            run.rng.shuffle(&mut order);
        }
        for &choice in &order {
            let target = successors.state(choice);
            let Some(child) = visited.insert(&mut *run.view.explorer, target, id, choice as u32) else {
                continue;
            };
            if depth + 1 == run.view.max_depth {
                cut = true;
                continue;
            }
            run.expand(target, depth + 1, &mut further, &|| visited.path(child))?;
            run.check(target, &further, &|| visited.path(child))?;
            arrival += 1;
            queue.insert((further.len(), Reverse(arrival)), (child, depth + 1));
        }
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}
