//! Runs restricted to a condition, which acts as a part of every invariant. A non-convex condition
//! is rejected, since time could jump from one part of it to another.

use turnpike_model::{LabelId, StepError, Successors};

use super::condition::Compiled;
use super::delay::beyond_holes;
use super::walker::{NO_ROW, Walker, conjoin_all, invariant};
use crate::evaluate::{Fault, FaultKind, Outcome};
use crate::zone::{Dbm, Origin, subtract};

impl Walker<'_> {
    /// Restricts the target to the condition; false if nothing is left. The machine is in the
    /// target state.
    #[inline]
    pub(super) fn target_stays(&mut self, tuple: u32) -> Outcome<bool> {
        let model = self.model;
        if model.stay.is_none() {
            return Ok(true);
        }
        self.swap_rows(tuple);
        let mut zone = std::mem::take(&mut self.target);
        let left = self.stays(&mut zone);
        self.target = zone;
        std::mem::swap(&mut self.rows, &mut self.other_rows);
        left
    }

    /// Restricts a zone of the machine's state to the condition; false if nothing is left. The rows
    /// must be those of the state.
    #[inline]
    pub(super) fn stays(&mut self, zone: &mut Dbm) -> Outcome<bool> {
        let model = self.model;
        match &model.stay {
            None => Ok(true),
            Some(stay) => self.one_part(stay, zone),
        }
    }

    /// Restricts the loaded zone to the condition; false if nothing is left.
    #[inline]
    pub(super) fn base_stays(&mut self) -> Outcome<bool> {
        let model = self.model;
        if model.stay.is_none() {
            return Ok(true);
        }
        let mut zone = std::mem::take(&mut self.base);
        let left = self.stays(&mut zone);
        self.base = zone;
        left
    }

    /// Switches to the rows of another tuple; swapping again undoes it.
    pub(super) fn swap_rows(&mut self, tuple: u32) {
        self.other_rows.clear();
        self.other_rows.resize(self.rows.len(), NO_ROW);
        self.other_rows[0] = 0;
        for (&clock, row) in self.tuples.get(tuple).members.active().iter().zip(1..) {
            self.other_rows[clock as usize + 1] = row;
        }
        std::mem::swap(&mut self.rows, &mut self.other_rows);
    }

    fn one_part(&mut self, stay: &Compiled, zone: &mut Dbm) -> Outcome<bool> {
        self.machine.enter_condition(stay.locals);
        let mut parts = vec![zone.clone()];
        self.restrict(&stay.condition, true, stay.locals, &mut parts)?;
        let mut parts = largest(parts);
        match (parts.pop(), parts.is_empty()) {
            (Some(part), true) => *zone = part,
            (None, _) => return Ok(false),
            (Some(_), false) => {
                let message =
                    "the condition that runs are to stay in, or its negation, has several parts here: \
                               clocks must be compared such that time cannot leave it and come back"
                        .to_owned();
                return Err(Box::new(Fault { message, place: 0..0, kind: FaultKind::Model }));
            }
        }
        Ok(true)
    }

    /// Whether a run can end in a state: without ever leaving the condition, time diverges or no
    /// transition is possible any more.
    pub(crate) fn rests(&mut self, state: &[u32]) -> Result<bool, StepError> {
        let model = self.model;
        let rests = self.load(state).and_then(|()| self.can_rest());
        self.machine.undo();
        rests.map_err(|fault| model.error(&fault))
    }

    fn can_rest(&mut self) -> Outcome<bool> {
        let model = self.model;
        let holes = self.delay_holes()?;
        let delay = holes.is_some();
        let divergent: Vec<Dbm> = match &holes {
            None => Vec::new(),
            Some(holes) => beyond_holes(&self.base, holes).into_iter().filter(Dbm::can_diverge).collect(),
        };
        let live = match &model.live {
            None => false,
            Some(live) => {
                self.machine.enter_condition(live.locals);
                self.data(&live.condition)?
            }
        };
        if live {
            // There must be a valuation from which time can diverge without reaching a deadlock.
            let (mut lively, Some(holes)) = (divergent, &holes) else { return Ok(false) };
            let whole = self.base.clone();
            if !holes.is_empty()
                && let Some(later) = self.delay_zone(self.source, whole.clone())?
            {
                // Time can lead to other parts of the state.
                self.base = later;
            }
            let dead = self.deadlocked()?;
            self.base = whole;
            for part in dead {
                for from in self.leads_to(&part, holes, None) {
                    subtract(&mut lively, &from);
                }
            }
            return Ok(!lively.is_empty());
        }
        if !divergent.is_empty() {
            return Ok(true);
        }
        // The valuations from which time leads out of the condition.
        let mut outside = Vec::new();
        if let Some(stay) = model.stay.as_ref().filter(|stay| delay && stay.timed) {
            let mut later = self.base.clone();
            later.up();
            if conjoin_all(&mut later, self.tuples.get(self.source), &self.computed) {
                outside.push(later);
            }
            self.machine.enter_condition(stay.locals);
            self.restrict(&stay.condition, false, stay.locals, &mut outside)?;
        }
        let mut dead = self.deadlocked()?;
        for part in outside {
            for from in self.leads_to(&part, holes.as_deref().unwrap_or_default(), None) {
                subtract(&mut dead, &from);
            }
        }
        Ok(!dead.is_empty())
    }

    /// The parts of a state that meet all these conditions.
    pub(crate) fn parts(&mut self, state: &[u32], conditions: &[Compiled]) -> Result<Vec<Dbm>, StepError> {
        let model = self.model;
        let parts = self.load(state).and_then(|()| {
            let mut parts = vec![self.base.clone()];
            for compiled in conditions {
                self.machine.enter_condition(compiled.locals);
                self.restrict(&compiled.condition, true, compiled.locals, &mut parts)?;
            }
            Ok(largest(parts))
        });
        self.machine.undo();
        parts.map_err(|fault| model.error(&fault))
    }

    /// Adds the states with this discrete part that start in a zone, as if a transition had led
    /// there; none if the condition excludes all of it.
    pub(crate) fn enter_at(
        &mut self,
        discrete: &[u32],
        zone: &Dbm,
        label: LabelId,
        out: &mut Successors,
    ) -> Result<(), StepError> {
        let model = self.model;
        self.tuples.tidy();
        self.load_discrete(discrete);
        self.next.clear();
        self.next.extend_from_slice(discrete);
        let id = self.tuples.of(discrete, &model.layout, &model.tables, &model.bounds);
        let tuple = self.tuples.get(id);
        let holds = invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed);
        let entered = match holds {
            Ok(true) => {
                // A clock that this graph has and the zone does not starts here: at most the last
                // one.
                let known = zone.dimension() as u32;
                let rows =
                    (1..self.tuples.get(id).dimension() as u32).map(|row| if row < known { row } else { 0 });
                self.origins.clear();
                self.origins.extend(rows.map(|row| Origin { row, offset: 0 }));
                self.target.gather(zone, &self.origins);
                self.settle(id, label, out)
            }
            Ok(false) => Ok(()),
            Err(fault) => Err(fault),
        };
        self.machine.undo();
        entered.map_err(|fault| model.error(&fault))
    }
}

/// Drops the zones that others include.
pub(super) fn largest(zones: Vec<Dbm>) -> Vec<Dbm> {
    let mut kept: Vec<Dbm> = Vec::new();
    for zone in zones {
        if !kept.iter().any(|other| other.includes(&zone)) {
            kept.retain(|other| !zone.includes(other));
            kept.push(zone);
        }
    }
    kept
}
