//! The edges behind a sequence of choices.

use std::sync::{Arc, OnceLock, PoisonError};

use turnpike_model::{Explorer, StepError, Successors};

use super::TimedModel;
use super::walker::Walker;
use crate::network::{LocationId, ProcessId};
use crate::schedule::Path;

/// A path that was followed: its states, and the steps of each of its transitions. The transition
/// from the virtual root has no steps.
#[derive(Debug)]
pub(super) struct Recorded {
    choices: Vec<u32>,
    pub(super) states: Vec<Vec<u32>>,
    pub(super) steps: Vec<Vec<u32>>,
    /// The same states with exact zones, computed on demand; `None` if there is no such path.
    pub(super) exact: OnceLock<Option<Vec<Vec<u32>>>>,
}

impl TimedModel {
    /// Follows choices among successors from the initial state. A path is requested several times
    /// in a row, so the last one is cached.
    pub(super) fn recorded(&self, choices: &[u32]) -> Result<Arc<Recorded>, StepError> {
        let last = || self.last_path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last().as_ref().filter(|known| known.choices == choices) {
            return Ok(Arc::clone(known));
        }
        let recorded = Arc::new(Walker::new(self).record(choices)?);
        *last() = Some(Arc::clone(&recorded));
        Ok(recorded)
    }
}

impl Recorded {
    /// The edges of the path.
    pub(super) fn path(&self, model: &TimedModel) -> Path {
        let virtual_root = usize::from(model.info.virtual_root);
        let steps = self.steps.iter().skip(virtual_root).map(|steps| model.edges(steps)).collect();
        let first = self.states.get(virtual_root);
        Path { initial: first.map_or(Vec::new(), |state| model.locations_of(state)), steps }
    }
}

impl Walker<'_> {
    fn record(&mut self, choices: &[u32]) -> Result<Recorded, StepError> {
        let model = self.model;
        let mut state = Vec::new();
        let mut out = Successors::new(model.info.width);
        self.initial(&mut state)?;
        let mut recorded = Recorded {
            choices: choices.to_vec(),
            states: vec![state.clone()],
            steps: Vec::new(),
            exact: OnceLock::new(),
        };
        for (number, &choice) in choices.iter().enumerate() {
            self.record = Some(Vec::new());
            let outcome = self.successors_up_to(&state, choice as usize, &mut out);
            let mut record = self.record.take().unwrap_or_default();
            outcome?;
            if choice as usize >= out.len() {
                return Err(StepError::new(format!("step {} has no choice {choice}", number + 1)));
            }
            recorded.steps.push(record.get_mut(choice as usize).map(std::mem::take).unwrap_or_default());
            state.clear();
            state.extend_from_slice(out.state(choice as usize));
            recorded.states.push(state.clone());
        }
        Ok(recorded)
    }
}

impl TimedModel {
    /// The edges of a transition, by process.
    pub(crate) fn edges(&self, steps: &[u32]) -> Vec<(ProcessId, u32)> {
        let edge = |&step: &u32| {
            let step = &self.tables.steps[step as usize];
            (ProcessId(step.process), step.index)
        };
        steps.iter().map(edge).collect()
    }

    /// The locations of the processes in a state.
    pub(crate) fn locations_of(&self, state: &[u32]) -> Vec<LocationId> {
        let processes = 0..self.network.processes.len();
        processes.map(|process| LocationId(self.layout.location(state, process))).collect()
    }
}
