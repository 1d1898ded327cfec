//! Which edges can be taken together: event vectors, and products of choices.

use turnpike_model::Successors;

use super::walker::Walker;
use crate::evaluate::Outcome;

impl Walker<'_> {
    /// Transitions of a network with events: first the vectors in order, then the edges that are
    /// taken alone.
    pub(super) fn by_events(&mut self, out: &mut Successors) -> Outcome<()> {
        let tables = &self.model.tables;
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        ready.extend_from_slice(&tables.voluntary);
        for (process, &location) in self.machine.locations.iter().enumerate() {
            ready.extend_from_slice(tables.list(&tables.slot(process, location).watched));
        }
        ready.sort_unstable();
        let done = ready.iter().try_for_each(|&vector| self.vector(vector, out));
        self.ready = ready;
        done?;
        for process in 0..self.machine.locations.len() {
            let slot = tables.slot(process, self.machine.locations[process]);
            for &step in tables.list(&slot.starts) {
                if self.guard(step)? {
                    self.participants.clear();
                    self.participants.push(step);
                    self.candidate(out)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn vector(&mut self, vector: u32, out: &mut Successors) -> Outcome<()> {
        let tables = &self.model.tables;
        let seats = &tables.vectors[vector as usize];
        let locations = &self.machine.locations;
        // Locations alone decide who takes part; guards are checked later.
        let missing = |seat: &&crate::compile::tables::Seat| {
            !seat.weak && tables.seat(seat, locations[seat.process as usize]).is_empty()
        };
        if seats.iter().find(missing).is_some() {
            return Ok(());
        }
        self.enabled.clear();
        self.choices.clear();
        for seat in seats {
            let list = tables.seat(seat, self.machine.locations[seat.process as usize]);
            if !list.is_empty() && !self.choose(tables.list(list))? {
                return Ok(());
            }
        }
        self.participants.clear();
        if self.choices.is_empty() { Ok(()) } else { self.product(out) }
    }

    /// Adds a choice among those of the edges whose guards on variables hold; false if there is
    /// none.
    fn choose(&mut self, steps: &[u32]) -> Outcome<bool> {
        let start = self.enabled.len() as u32;
        for &step in steps {
            if self.guard(step)? {
                self.enabled.push(step);
            }
        }
        let end = self.enabled.len() as u32;
        self.choices.push((start, end));
        Ok(start != end)
    }

    /// Visits every combination of the choices after the current participants; the last choice
    /// varies fastest.
    pub(super) fn product(&mut self, out: &mut Successors) -> Outcome<()> {
        let before = self.participants.len();
        self.digits.clear();
        self.digits.extend(self.choices.iter().map(|choice| choice.0));
        loop {
            self.participants.truncate(before);
            self.participants.extend(self.digits.iter().map(|&at| self.enabled[at as usize]));
            self.candidate(out)?;
            let Some(at) = (0..self.digits.len()).rfind(|&at| self.digits[at] + 1 < self.choices[at].1)
            else {
                return Ok(());
            };
            self.digits[at] += 1;
            for later in at + 1..self.digits.len() {
                self.digits[later] = self.choices[later].0;
            }
        }
    }

    /// Whether the part of an edge's guard on variables holds.
    #[inline]
    pub(super) fn guard(&mut self, step: u32) -> Outcome<bool> {
        if let Some(tests) = &self.model.tables.steps[step as usize].tests {
            return Ok(tests.iter().all(|test| test.holds(&self.machine.cells)));
        }
        let edge = self.model.edge(step);
        self.machine.enter(&edge.locals);
        for condition in &edge.guard.data {
            let holds = self.machine.holds(condition);
            if !self.tolerate(holds, false)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes or collects the participants' transition, unless some other location is committed.
    pub(super) fn candidate(&mut self, out: &mut Successors) -> Outcome<()> {
        if !self.leaves_committed(&self.participants) {
            return Ok(());
        }
        if self.collecting {
            self.postpone();
            return Ok(());
        }
        self.fire(out)
    }

    /// Whether one of these edges leaves a committed location, or no location is committed.
    pub(super) fn leaves_committed(&self, steps: &[u32]) -> bool {
        let tables = &self.model.tables;
        let leaves = |&step: &u32| {
            let process = tables.steps[step as usize].process as usize;
            tables.slot(process, self.machine.locations[process]).committed
        };
        !self.tuples.get(self.source).committed || steps.iter().any(leaves)
    }
}
