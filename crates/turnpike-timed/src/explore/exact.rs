//! The states along a path with exact zones, for display.
//!
//! Extrapolation makes the zone graph finite, but an extrapolated zone shows what no run can do,
//! such as `0<=x` in a location whose invariant is `x<=5`. So the edges of the path are taken again
//! from the exact initial zone, without extrapolation. A transition may lead to several parts of a
//! state; the first choice of parts that reaches the end is used.

use rustc_hash::FxHashSet;
use turnpike_model::{ExactStates, StepError, StepErrorKind, Successors};

use super::TimedModel;
use super::walker::Walker;
use crate::evaluate::{Fault, FaultKind, Outcome};

/// Limit on the transitions taken for one path. Far more than the length of the path are needed
/// only where states have many parts.
const MOST_TRANSITIONS: usize = 200_000;

/// The states of the path `explored` with exact zones in their last word. `successors` adds the
/// exact transitions of a state at the given index of the path; transitions to other discrete
/// states are dropped here. `None` if no choice of parts reaches the end.
pub(crate) fn follow(
    explored: &[Vec<u32>],
    initial: Vec<Vec<u32>>,
    mut successors: impl FnMut(usize, &[u32], &mut Successors) -> Result<(), StepError>,
) -> Result<Option<Vec<Vec<u32>>>, StepError> {
    let width = explored[0].len();
    let mut out = Successors::new(width);
    // The alternatives at each step, the next one last, and the states known to be dead ends.
    let mut open = vec![initial];
    let mut path: Vec<Vec<u32>> = Vec::with_capacity(explored.len());
    let mut failed: FxHashSet<(usize, Vec<u32>)> = FxHashSet::default();
    let mut taken = 0;
    while let Some(alternatives) = open.last_mut() {
        let Some(state) = alternatives.pop() else {
            open.pop();
            if let Some(state) = path.pop() {
                failed.insert((path.len(), state));
            }
            continue;
        };
        if failed.contains(&(path.len(), state.clone())) {
            continue;
        }
        let step = path.len();
        if step + 1 == explored.len() {
            path.push(state);
            return Ok(Some(path));
        }
        taken += 1;
        if taken > MOST_TRANSITIONS.max(4 * explored.len()) {
            return Ok(None);
        }
        out.clear();
        match successors(step, &state, &mut out) {
            // Bounds of exact zones can grow along a path until they overflow.
            Err(error) if error.kind == StepErrorKind::TooLarge => return Ok(None),
            other => other?,
        }
        let discrete = &explored[step + 1][..width - 1];
        let fits = |&at: &usize| out.state(at)[..width - 1] == *discrete;
        open.push((0..out.len()).filter(fits).rev().map(|at| out.state(at).to_vec()).collect());
        path.push(state);
    }
    Ok(None)
}

impl ExactStates for TimedModel {
    fn states_along(&self, choices: &[u32]) -> Result<Option<Vec<Vec<u32>>>, StepError> {
        let recorded = self.recorded(choices)?;
        if let Some(known) = recorded.exact.get() {
            return Ok(known.clone());
        }
        let mut walker = Walker::exact(self);
        let initial = walker.exact_initial(&recorded.states[0])?;
        let found = follow(&recorded.states, initial, |step, state, out| {
            if walker.is_root(state) {
                return walker.initial_states(out);
            }
            let taken = walker.take_exactly(state, &recorded.steps[step], out);
            walker.machine.undo();
            taken.map_err(|fault| self.error(&fault))
        })?;
        Ok(recorded.exact.get_or_init(|| found).clone())
    }

    fn abstracted_parameters(&self) -> Vec<usize> {
        vec![self.info.parameters.len() - 1]
    }
}

impl<'a> Walker<'a> {
    /// A walker that does not extrapolate.
    pub(crate) fn exact(model: &'a TimedModel) -> Self {
        Walker { exact: true, ..Walker::new(model) }
    }

    /// The exact states that an explored initial state represents, the first one last.
    pub(crate) fn exact_initial(&mut self, explored: &[u32]) -> Result<Vec<Vec<u32>>, StepError> {
        if self.is_root(explored) {
            return Ok(vec![explored.to_vec()]);
        }
        let mut out = Successors::new(explored.len());
        self.initial_states(&mut out)?;
        Ok((0..out.len()).rev().map(|at| out.state(at).to_vec()).collect())
    }

    /// Adds the targets of the transition that takes these edges.
    fn take_exactly(&mut self, state: &[u32], steps: &[u32], out: &mut Successors) -> Outcome<()> {
        self.load(state)?;
        self.only = Some(steps.to_vec());
        let taken = if self.model.quick {
            // Exactly one zone follows, so other transitions need not be tried.
            self.participants.clear();
            self.participants.extend_from_slice(steps);
            self.take(out)
        } else if self.model.tables.has_priorities {
            self.by_priority(out)
        } else {
            self.transitions(out)
        };
        self.only = None;
        taken
    }

    /// The error for a difference of clocks that overflows.
    pub(super) fn too_large() -> Box<Fault> {
        let message = "a difference of clocks became too large for exact bounds".to_owned();
        Box::new(Fault { message, place: 0..0, kind: FaultKind::TooLarge })
    }
}
