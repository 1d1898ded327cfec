//! Breadth-first and depth-first search that prune covered states.
//!
//! The loop takes a state from the queue and expands it. It compares each successor with the stored
//! states of the same key: either one of them covers it, or the successor is stored too. After all
//! successors, the new ones are queued in order, and each removes the stored states that it covers,
//! even from the queue. This is the loop of TChecker's `covreach` and `aLU-covreach`, so the counts
//! are comparable (`--accept pop`): `states` are its visited states, `transitions` its visited
//! transitions, `stored` its stored states. As in TChecker, depth-first means last in, first out.
//!
//! **What it proves.** A covering state can do what the covered one can, step by step, with the
//! same actions. So whatever a covered state leads to is met from the covering one, and `none` is a
//! proof for objectives on states (which must hold in a covering state if they hold in a covered
//! one) and on actions. It is not a proof for what a state *cannot* do (deadlock), for what it can
//! do in two ways, or for cycles, which may lead through covering only. These objectives are
//! refused.
//!
//! **Witnesses** are real paths, because every stored state is a successor of the state it was
//! reached from. They need not be shortest, even breadth-first: a removed state may have been
//! nearer than the one that covers it.

use std::collections::VecDeque;

use turnpike_model::{Diagnostic, ModelInfo};

use super::Strategy;
use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::{Goal, Objective};
use crate::run::Run;
use crate::store::{CoverStore, ROOT};

/// Which state of the queue is next.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    FirstIn,
    LastIn,
}

pub(crate) fn search(run: &mut Run<'_>, order: Order) -> Result<StopReason, Halt> {
    let mut store = CoverStore::new(run.width(), &mut *run.view.explorer);
    let outcome = covering(run, order, &mut store);
    run.counters.considered = None;
    run.counters.stored = Some((store.alive() as u64).saturating_sub(run.uncounted_levels().into()));
    outcome
}

fn covering(run: &mut Run<'_>, order: Order, store: &mut CoverStore) -> Result<StopReason, Halt> {
    let initial = run.initial()?;
    store.insert(&mut *run.view.explorer, &initial, ROOT);
    let mut queue: VecDeque<u32> = VecDeque::from([0]);
    let (mut state, mut successors) = (Vec::new(), run.buffer());
    let mut cut = false;
    loop {
        let next = match order {
            Order::FirstIn => queue.pop_front(),
            Order::LastIn => queue.pop_back(),
        };
        let Some(id) = next else { break };
        if !store.is_alive(id) {
            continue;
        }
        let depth = store.depth(id);
        if depth == run.view.max_depth {
            cut = true;
            continue;
        }
        state.clear();
        state.extend_from_slice(store.get(id));
        run.expand(&state, depth, &mut successors, &|| store.path(id))?;
        run.check(&state, &successors, &|| store.path(id))?;
        let first = store.len() as u32;
        for (_, target) in successors.iter() {
            store.add(&mut *run.view.explorer, target, id);
        }
        for new in first..store.len() as u32 {
            queue.push_back(new);
            store.leave_out_covered(&mut *run.view.explorer, new);
        }
    }
    Ok(if cut { StopReason::MaxDepth } else { StopReason::Exhausted })
}

/// Refuses what covering would answer wrongly.
pub(crate) fn validate(
    strategy: &Strategy,
    objectives: &[Objective],
    info: &ModelInfo,
) -> Result<(), Diagnostic> {
    strategy.check_covering()?;
    let unfit = |goal: &Goal| match goal {
        Goal::Deadlock | Goal::AnyError | Goal::Livelock | Goal::Nondeterminism | Goal::Accepting(_) => true,
        Goal::Extreme { quantity, .. } => info.measure(quantity).is_some(),
        _ => false,
    };
    match objectives.iter().find(|objective| unfit(&objective.goal)) {
        Some(objective) => Err(Diagnostic::error(format!(
            "'{objective}' cannot be looked for while covered states are left out"
        ))
        .help("a state and one that covers it may differ there: use the covering `none`")),
        None => Ok(()),
    }
}
