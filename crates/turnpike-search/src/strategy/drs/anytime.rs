//! Continues after a hit to find ever shorter witnesses.
//!
//! The engine ends a run at its first hit. This module intercepts that end, keeps the shortest
//! witness in the run's own slots, and limits the depth of the rest of the search. Because the best
//! witness lies where the engine expects it, a limit or an interrupt may end the search at any
//! moment.

use turnpike_model::Successors;

use crate::error::Halt;
use crate::limits::StopReason;
use crate::objective::Goal;
use crate::run::Run;
use crate::witness::{Path, Witness};

/// The rules of a search for ever shorter witnesses.
#[derive(Debug)]
pub(super) struct Anytime {
    /// An objective may be met by an expanded state itself, where its path ends, and not only by a step from it.
    meets_here: bool,
}

impl Anytime {
    pub(super) fn new(run: &Run<'_>) -> Self {
        let here = |goal: &Goal| matches!(goal, Goal::Deadlock | Goal::AnyError);
        Anytime { meets_here: run.objectives.iter().any(|objective| here(&objective.goal)) }
    }

    /// Tests an expanded state that lies `transitions` from the initial one, and keeps the shortest witness: of all
    /// with one objective to meet, of each if all are to be met.
    pub(super) fn check(
        run: &mut Run<'_>,
        transitions: u32,
        state: &[u32],
        successors: &Successors,
        path: &dyn Fn() -> Path,
    ) -> Result<(), Halt> {
        // The engine writes a witness only where there is none: those that could be beaten here step aside.
        let beatable = |witness: &mut Witness| witness.len() > transitions as usize;
        let mut parked: Vec<Option<Witness>> = Vec::new();
        if run.findings.first.is_some() {
            parked.extend(run.findings.witnesses.iter_mut().map(|slot| slot.take_if(beatable)));
        }
        let outcome = run.check(state, successors, path);
        for (slot, old) in run.findings.witnesses.iter_mut().zip(parked) {
            if old.as_ref().is_some_and(|old| slot.as_ref().is_none_or(|new| old.len() <= new.len())) {
                *slot = old;
            }
        }
        if !run.options.all {
            keep_shortest(run);
        }
        match outcome {
            Err(Halt::Stop(StopReason::Found)) => Ok(()),
            outcome => outcome,
        }
    }

    /// The smallest depth (the initial state has depth 1) whose states need not be expanded any more, because nothing
    /// shorter than what was found can be met there. `None` while something is still to be found at all.
    pub(super) fn bound(&self, run: &Run<'_>) -> Option<u32> {
        let sought = run
            .objectives
            .iter()
            .zip(&run.findings.witnesses)
            .filter(|(objective, _)| !objective.is_measure());
        let mut lengths = sought.map(|(_, found)| found.as_ref().map(Witness::len));
        let length = if run.options.all {
            lengths.try_fold(0, |longest, length| Some(longest.max(length?)))
        } else {
            lengths.flatten().min()
        }?;
        // A step from depth d makes a witness of d transitions, a state at depth d one of d - 1.
        u32::try_from(length + usize::from(self.meets_here)).ok()
    }
}

/// One objective is enough: of several met, the one with the shortest witness counts.
fn keep_shortest(run: &mut Run<'_>) {
    let length = |index: &usize| run.findings.witnesses[*index].as_ref().map(Witness::len);
    let met = (0..run.findings.witnesses.len()).filter(|index| run.findings.witnesses[*index].is_some());
    let Some(best) = met.min_by_key(length) else { return };
    for (_, slot) in run.findings.witnesses.iter_mut().enumerate().filter(|(index, _)| *index != best) {
        *slot = None;
    }
    run.findings.first = Some(best);
}
