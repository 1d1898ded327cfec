//! Runs with delays chosen by the user.

use turnpike_model::{Delay, Delays, Explorer, Outlook, Schedule, StepError, Successors};

use super::TimedModel;
use super::walker::Walker;
use crate::schedule;

impl TimedModel {
    /// The delays before edges; the choice of an initial state has no delay.
    fn delays_of_edges<'d>(&self, delays: &'d [Option<Delay>]) -> &'d [Option<Delay>] {
        delays.get(usize::from(self.info.virtual_root)..).unwrap_or_default()
    }
}

impl Delays for TimedModel {
    fn schedule_with(&self, choices: &[u32], delays: &[Option<Delay>]) -> Result<Schedule, StepError> {
        let path = self.recorded(choices)?.path(self);
        let delays = self.delays_of_edges(delays);
        let mut schedule = schedule::schedule_with(&self.network, &path, None, delays, self.unit)?;
        self.add_beginning(choices, &mut schedule);
        Ok(schedule)
    }

    fn outlook(
        &self,
        choices: &[u32],
        delays: &[Option<Delay>],
        next: &[u32],
    ) -> Result<Option<Outlook>, StepError> {
        let recorded = self.recorded(choices)?;
        let state = &recorded.states[choices.len()];
        let mut walker = Walker::new(self);
        if walker.is_root(state) {
            return Ok(None);
        }
        let steps = match next.iter().max() {
            Some(&most) => walker.edges_of_successors(state, most as usize)?,
            None => Vec::new(),
        };
        let missing = |choice: u32| StepError::new(format!("there is no transition at position {choice}"));
        let mut found = Vec::with_capacity(next.len());
        for &choice in next {
            let edges = steps.get(choice as usize).ok_or_else(|| missing(choice))?;
            found.push(self.edges(edges));
        }
        let delays = self.delays_of_edges(delays);
        schedule::outlook(&self.network, &recorded.path(self), delays, &found, self.unit).map(Some)
    }
}

impl Walker<'_> {
    /// The edges of each successor of a state, up to the one at position `most`.
    pub(super) fn edges_of_successors(
        &mut self,
        state: &[u32],
        most: usize,
    ) -> Result<Vec<Vec<u32>>, StepError> {
        let mut out = Successors::new(self.model.info.width);
        self.record = Some(Vec::new());
        let outcome = self.successors_up_to(state, most, &mut out);
        let record = self.record.take().unwrap_or_default();
        outcome.map(|()| record)
    }
}
