//! Conditions on states. A condition on clocks holds in a zone if some valuation of the zone meets
//! it.

use turnpike_model::Successors;

use super::delay::beyond_holes;
use super::fire::evaluate;
use super::walker::{NO_ROW, Walker, conjoin, invariant};
use crate::evaluate::{Outcome, atom_frame_size, frame_size};
use crate::network::{Binary, Expression, LocationId, Network, ProcessId};
use crate::query::Condition;
use crate::zone::{Bound, Dbm, subtract};

/// A condition with precomputed facts for its evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) condition: Condition,
    pub(super) locals: usize,
    /// Whether it contains clocks or deadlocks.
    pub(crate) timed: bool,
    /// Whether only deadlocks in which time stops count.
    timelock: bool,
    /// Locations that the leading conjuncts demand: they reject most states before unpacking.
    required: Vec<(ProcessId, LocationId)>,
}

impl Compiled {
    pub(crate) fn new(network: &Network, condition: Condition) -> Compiled {
        let (mut locals, mut timed) = (0, false);
        visit(&condition, &mut |part| match part {
            Condition::Data(expression) => locals = locals.max(frame_size(network, expression)),
            Condition::Clock(atom) => {
                locals = locals.max(atom_frame_size(network, atom));
                timed = true;
            }
            _ => timed = true,
        });
        let mut required = Vec::new();
        let _ = collect_required(&condition, &mut required);
        Compiled { condition, locals, timed, timelock: false, required }
    }

    /// The condition [`super::TIMELOCK`]: no transition is possible, now or later, and an invariant
    /// or an urgent location stops time.
    pub(super) fn timelock() -> Compiled {
        let required = Vec::new();
        Compiled { condition: Condition::Deadlock, locals: 0, timed: true, timelock: true, required }
    }
}

/// Collects the locations that the leading conjuncts demand; false if other conjuncts remain.
fn collect_required(condition: &Condition, required: &mut Vec<(ProcessId, LocationId)>) -> bool {
    let mut expression = match condition {
        Condition::And(parts) => return parts.iter().all(|part| collect_required(part, required)),
        Condition::Data(expression) => expression,
        _ => return false,
    };
    // `a && b && c` nests to the left, and conditions come from files: avoid recursion.
    let mut later = Vec::new();
    loop {
        match expression {
            Expression::Binary(Binary::And, left, right, _) => {
                later.push(&**right);
                expression = left;
            }
            Expression::At(process, location) => {
                required.push((*process, *location));
                match later.pop() {
                    Some(next) => expression = next,
                    None => return true,
                }
            }
            _ => return false,
        }
    }
}

/// Visits the leaves.
pub(super) fn visit(condition: &Condition, leaf: &mut impl FnMut(&Condition)) {
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        match condition {
            Condition::Not(part) => open.push(part),
            Condition::And(parts) | Condition::Or(parts) => open.extend(parts),
            Condition::Data(_) | Condition::Clock(_) | Condition::Deadlock => leaf(condition),
            Condition::Rate(_) => {}
        }
    }
}

/// Whether a condition contains `deadlock`.
pub(crate) fn asks_for_deadlock(condition: &Condition) -> bool {
    let mut found = false;
    visit(condition, &mut |leaf| found |= *leaf == Condition::Deadlock);
    found
}

impl Walker<'_> {
    /// Whether some valuation of a state meets a condition.
    pub(super) fn meets(&mut self, compiled: &Compiled, state: &[u32]) -> Outcome<bool> {
        let layout = &self.model.layout;
        let is_there = |&(process, location): &(ProcessId, LocationId)| {
            layout.location(state, process.0 as usize) == location.0
        };
        if !compiled.required.iter().all(is_there) {
            return Ok(false);
        }
        if !compiled.timed {
            let discrete = &state[..self.model.layout.words];
            self.load_discrete(discrete);
            self.machine.enter_condition(compiled.locals);
            return self.data(&compiled.condition);
        }
        self.load(state)?;
        let mut parts = vec![self.base.clone()];
        if compiled.timelock {
            for part in self.divergent()? {
                subtract(&mut parts, &part);
            }
        }
        self.machine.enter_condition(compiled.locals);
        self.restrict(&compiled.condition, true, compiled.locals, &mut parts)?;
        Ok(!parts.is_empty())
    }

    /// The parts of the loaded state in which time can diverge.
    fn divergent(&mut self) -> Outcome<Vec<Dbm>> {
        let Some(holes) = self.delay_holes()? else { return Ok(Vec::new()) };
        let runs = self.running_rows(self.source)?;
        let mut zone = self.base.clone();
        match &runs {
            None => zone.up(),
            Some(runs) => zone.up_running(runs),
        }
        let tuple = self.tuples.get(self.source);
        let within =
            tuple.invariant().chain(self.computed.iter().copied()).all(|atom| conjoin(&mut zone, atom));
        let endless =
            |row: usize| runs.as_ref().is_some_and(|runs| !runs[row]) || zone.get(row, 0) >= Bound::INFINITY;
        if !within || !(1..zone.dimension()).all(endless) {
            return Ok(Vec::new());
        }
        if runs.is_some() && !holes.is_empty() {
            // Not computed with stopped clocks: assume that time cannot diverge.
            self.note_inexact();
            return Ok(Vec::new());
        }
        Ok(beyond_holes(&self.base, &holes))
    }

    pub(super) fn data(&mut self, condition: &Condition) -> Outcome<bool> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match condition {
            Condition::Data(expression) => self.machine.holds(expression),
            Condition::Not(part) => Ok(!self.data(part)?),
            Condition::And(parts) => {
                for part in parts {
                    if !self.data(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Or(parts) => {
                for part in parts {
                    if self.data(part)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Clock(_) | Condition::Deadlock | Condition::Rate(_) => Ok(false),
        })
    }

    /// Restricts each zone to where the value of the condition is `wanted`.
    pub(super) fn restrict(
        &mut self,
        condition: &Condition,
        wanted: bool,
        locals: usize,
        zones: &mut Vec<Dbm>,
    ) -> Outcome<()> {
        if zones.is_empty() {
            return Ok(());
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match (condition, wanted) {
            (Condition::Data(expression), _) => {
                if self.machine.holds(expression)? != wanted {
                    zones.clear();
                }
                Ok(())
            }
            (Condition::Not(part), _) => self.restrict(part, !wanted, locals, zones),
            (Condition::And(parts), true) | (Condition::Or(parts), false) => {
                parts.iter().try_for_each(|part| self.restrict(part, wanted, locals, zones))
            }
            (Condition::Or(parts), true) | (Condition::And(parts), false) => {
                let mut all = Vec::new();
                for part in parts {
                    let mut some = zones.clone();
                    self.restrict(part, wanted, locals, &mut some)?;
                    all.append(&mut some);
                }
                *zones = all;
                Ok(())
            }
            (Condition::Clock(atom), _) => {
                let Some((left, right, bound)) = evaluate(&mut self.machine, atom)? else {
                    // The bound does not apply, so the condition holds.
                    if !wanted {
                        zones.clear();
                    }
                    return Ok(());
                };
                let (left, right) = (self.rows[left as usize], self.rows[right as usize]);
                debug_assert!(left != NO_ROW && right != NO_ROW, "a condition tests an inactive clock");
                if left != NO_ROW && right != NO_ROW {
                    let atom = if wanted { (left, right, bound) } else { (right, left, Bound(1 - bound.0)) };
                    zones.retain_mut(|zone| conjoin(zone, atom));
                }
                Ok(())
            }
            (Condition::Rate(_), _) => Ok(()),
            (Condition::Deadlock, _) => {
                let dead = self.deadlocked()?;
                self.machine.enter_condition(locals);
                let mut all = Vec::new();
                for zone in zones.drain(..) {
                    if wanted {
                        for part in &dead {
                            let mut both = zone.clone();
                            if both.intersect(part) {
                                all.push(both);
                            }
                        }
                    } else {
                        let mut rest = vec![zone];
                        dead.iter().for_each(|part| subtract(&mut rest, part));
                        all.append(&mut rest);
                    }
                }
                *zones = all;
                Ok(())
            }
        })
    }

    /// The part of the loaded state from which no transition is possible, now or after any delay.
    pub(super) fn deadlocked(&mut self) -> Outcome<Vec<Dbm>> {
        let mut dead = vec![self.base.clone()];
        let holes = self.delay_holes()?;
        let runs = self.running_rows(self.source)?;
        let whole = self.base.clone();
        if runs.is_none() && holes.as_ref().is_some_and(|holes| !holes.is_empty()) {
            // Time can lead to other parts of the state.
            let tuple = self.tuples.get(self.source);
            let (network, tables) = (&self.model.network, &self.model.tables);
            invariant(&mut self.machine, network, tables, tuple, &mut self.computed)?;
            if let Some(later) = self.delay_zone(self.source, whole.clone())? {
                self.base = later;
            }
        }
        self.collect()?;
        let (pending, ends) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.pending_ends));
        for index in 0..ends.len() {
            self.choose_pending(&pending, &ends, index);
            for part in self.enabled_parts()? {
                match &holes {
                    None => subtract(&mut dead, &part),
                    Some(holes) => {
                        let from = self.leads_to(&part, holes, runs.as_deref());
                        from.iter().for_each(|from| subtract(&mut dead, from));
                    }
                }
            }
            if dead.is_empty() {
                break;
            }
        }
        self.base = whole;
        (self.pending, self.pending_ends) = (pending, ends);
        Ok(dead)
    }

    /// Collects the transitions of the loaded state that variables enable.
    pub(super) fn collect(&mut self) -> Outcome<()> {
        self.pending.clear();
        self.pending_ends.clear();
        self.collecting = true;
        let collected = self.transitions(&mut Successors::new(0));
        self.collecting = false;
        collected
    }

    /// The parts of the loaded zone in which the participants' transition is enabled without delay.
    pub(super) fn enabled_parts(&mut self) -> Outcome<Vec<Dbm>> {
        if self.absent.is_empty() {
            return Ok(if self.enabled_zone()? { vec![self.guarded.clone()] } else { Vec::new() });
        }
        let whole = self.base.clone();
        let mut found = Vec::new();
        for part in self.without_absent(whole.clone())? {
            self.base = part;
            if self.enabled_zone()? {
                found.push(self.guarded.clone());
            }
        }
        self.base = whole;
        Ok(found)
    }

    /// Stores in `guarded` the part of `base` in which the participants' transition is enabled
    /// without delay; false if it is empty. Absent receivers are ignored.
    fn enabled_zone(&mut self) -> Outcome<bool> {
        if !self.guard_atoms()? || !self.guarded_zone() {
            return Ok(false);
        }
        let possible = match self.update() {
            Ok(()) => self.before_invariant(),
            Err(fault) => Err(fault),
        };
        self.machine.undo();
        self.put_back();
        self.tolerate(possible, false)
    }

    /// Restricts `guarded` to valuations whose updates lead into the target's invariant.
    fn before_invariant(&mut self) -> Outcome<bool> {
        let model = self.model;
        let id = self.target_tuple();
        let tuple = self.tuples.get(id);
        if !invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed)? {
            return Ok(false);
        }
        self.find_origins(id)?;
        let tuple = self.tuples.get(id);
        for (left, right, bound) in tuple.invariant().chain(self.computed.iter().copied()) {
            let origin = |row: u32| match row {
                0 => (0, 0),
                _ => {
                    let origin = self.origins[row as usize - 1];
                    (origin.row, origin.offset)
                }
            };
            let ((left, more), (right, less)) = (origin(left), origin(right));
            if !conjoin(&mut self.guarded, (left, right, Bound(bound.0 + 2 * (less - more)))) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
