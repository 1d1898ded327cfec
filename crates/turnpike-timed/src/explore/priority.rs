//! Priorities: a transition is not taken where one of a higher level can be.
//!
//! Levels of channels count first, then the highest level among the processes that take part. Where a higher transition is possible is a zone; what is
//! left of the source outside these zones need not be convex, so that a transition may be taken from several parts of it.

use turnpike_model::Successors;

use super::walker::Walker;
use crate::evaluate::Outcome;
use crate::zone::{Dbm, subtract};

impl Walker<'_> {
    /// Takes all transitions of the loaded state that no higher one forbids.
    pub(super) fn by_priority(&mut self, out: &mut Successors) -> Outcome<()> {
        self.collect()?;
        let (pending, ends) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.pending_ends));
        let taken = self.prioritised(&pending, &ends, out);
        (self.pending, self.pending_ends) = (pending, ends);
        taken
    }

    fn prioritised(
        &mut self,
        pending: &[u32],
        ends: &[(u32, Option<u32>)],
        out: &mut Successors,
    ) -> Outcome<()> {
        let mut possible: Vec<((u32, u32), Option<Dbm>)> = Vec::with_capacity(ends.len());
        for index in 0..ends.len() {
            self.choose_pending(pending, ends, index);
            let level = self.level();
            possible.push((level, self.enabled_zone()?.then(|| self.guarded.clone())));
        }
        let whole = self.base.clone();
        for index in 0..ends.len() {
            let (level, Some(_)) = &possible[index] else { continue };
            let mut parts = vec![whole.clone()];
            for (higher, zone) in &possible {
                if let Some(zone) = zone
                    && higher > level
                {
                    subtract(&mut parts, zone);
                }
            }
            for part in parts {
                self.base = part;
                self.choose_pending(pending, ends, index);
                self.fire(out)?;
            }
        }
        self.base = whole;
        Ok(())
    }

    /// Makes a collected transition the one that is tried.
    pub(super) fn choose_pending(&mut self, pending: &[u32], ends: &[(u32, Option<u32>)], index: usize) {
        let start = if index == 0 { 0 } else { ends[index - 1].0 as usize };
        let (end, channel) = ends[index];
        self.participants.clear();
        self.participants.extend_from_slice(&pending[start..end as usize]);
        self.channel = channel;
    }

    fn level(&self) -> (u32, u32) {
        let network = &self.model.network;
        let channel = match self.channel {
            Some(channel) => network.channels[channel as usize].priority,
            None => network.default_priority,
        };
        let process = self.participants.iter().map(|&step| {
            let process = self.model.tables.steps[step as usize].process;
            network.processes[process as usize].priority
        });
        (channel, process.max().unwrap_or(0))
    }
}
