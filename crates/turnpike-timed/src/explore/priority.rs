//! Priorities: a transition is not taken where one of higher priority is possible.
//!
//! The priority of the channel counts first, then the highest among the participating processes.
//! The valuations in which a higher transition is possible are zones; the rest of the source need
//! not be convex, so a transition may be taken from several parts of it.

use turnpike_model::Successors;

use super::walker::Walker;
use crate::evaluate::Outcome;
use crate::zone::{Dbm, subtract};

impl Walker<'_> {
    /// Takes all transitions of the loaded state that no higher one blocks.
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
        let mut possible: Vec<((u32, u32), Vec<Dbm>)> = Vec::with_capacity(ends.len());
        for index in 0..ends.len() {
            self.choose_pending(pending, ends, index);
            let level = self.level();
            possible.push((level, self.enabled_parts()?));
        }
        let whole = self.base.clone();
        for index in 0..ends.len() {
            let (level, enabled) = &possible[index];
            if enabled.is_empty() {
                continue;
            }
            self.choose_pending(pending, ends, index);
            let mut parts = self.without_absent(whole.clone())?;
            for (higher, zones) in &possible {
                if higher > level {
                    zones.iter().for_each(|zone| subtract(&mut parts, zone));
                }
            }
            for part in parts {
                self.base = part;
                self.fire(out)?;
            }
        }
        self.base = whole;
        Ok(())
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
