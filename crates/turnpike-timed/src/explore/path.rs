//! The edges behind a sequence of choices.

use turnpike_model::{Explorer, StepError, Successors};

use super::walker::Walker;
use crate::network::LocationId;
use crate::schedule::Path;

impl Walker<'_> {
    /// Follows choices among successors from the initial state, and tells which edges were taken.
    pub(super) fn path(&mut self, choices: &[u32]) -> Result<Path, StepError> {
        let model = self.model;
        let mut state = Vec::new();
        let mut out = Successors::new(model.info.width);
        self.initial(&mut state)?;
        let mut path = Path::default();
        for (number, &choice) in choices.iter().enumerate() {
            self.record = Some(Vec::new());
            let outcome = self.successors_up_to(&state, choice as usize, &mut out);
            let record = self.record.take().unwrap_or_default();
            outcome?;
            if choice as usize >= out.len() {
                return Err(StepError::new(format!("step {} has no choice {choice}", number + 1)));
            }
            // The step from the place before several initial states takes no edges.
            if number > 0 || !model.info.virtual_root {
                path.steps.push(self.edges(&record[choice as usize]));
            }
            if number == 0 {
                let first = if model.info.virtual_root { out.state(choice as usize) } else { &state };
                path.initial = self.locations_of(first);
            }
            state.clear();
            state.extend_from_slice(out.state(choice as usize));
        }
        if path.initial.is_empty() && !model.info.virtual_root {
            path.initial = self.locations_of(&state);
        }
        Ok(path)
    }

    /// Where the processes are in a state.
    pub(crate) fn locations_of(&self, state: &[u32]) -> Vec<LocationId> {
        let processes = 0..self.model.network.processes.len();
        processes.map(|process| LocationId(self.model.layout.location(state, process))).collect()
    }
}
