//! Takes one transition: clock guards, updates, invariants, and the target zone.

use turnpike_model::{LabelId, Successors};

use super::Counted;
use super::quick::Way;
use super::walker::{NO_ROW, RowAtom, Walker, conjoin, invariant};
use crate::compile::tables::bound;
use crate::evaluate::{Fault, FaultKind, Machine, Outcome};
use crate::network::{ClockAtom, Sync};
use crate::zeno::TICKED;
use crate::zone::{Bound, Origin};

impl Walker<'_> {
    /// Takes the participants' transition, whose guards on variables hold, and adds its target if
    /// there is one. The ticker moves along in every way it can.
    pub(super) fn fire(&mut self, out: &mut Successors) -> Outcome<()> {
        match self.quick.way {
            Way::Plain => {}
            Way::Planned => return self.take_quick(out).map(|_| ()),
            Way::Wide => return self.take_wide(out),
        }
        let model = self.model;
        let Some(ticker) = model.network.ticker else { return self.take(out) };
        let count = self.participants.len();
        let location = self.machine.locations[ticker.0 as usize];
        for &step in model.tables.list(&model.tables.slot(ticker.0 as usize, location).alongs) {
            self.participants.push(step);
            let result = self.take(out);
            self.participants.truncate(count);
            result?;
        }
        Ok(())
    }

    pub(super) fn take(&mut self, out: &mut Successors) -> Outcome<()> {
        if self.only.as_ref().is_some_and(|only| *only != self.participants) {
            return Ok(());
        }
        if !self.guard_atoms()? || !self.may_hold() {
            return Ok(());
        }
        let reached = match self.update() {
            Ok(()) => match self.counts() {
                Ok(true) => self.reach(out),
                other => other.map(|_| ()),
            },
            // A fault in a transition that no clock valuation enables is not reported.
            Err(_) if !self.guarded_zone() => Ok(()),
            Err(fault) => Err(fault),
        };
        self.machine.undo();
        self.put_back();
        self.tolerate(reached, ())?;
        if let Some(record) = &mut self.record {
            // A transition may lead to several parts of the target.
            record.resize(out.len(), self.participants.clone());
        }
        Ok(())
    }

    /// Whether the ticker's edge may take part in the executed transition: time is counted in
    /// certain states only.
    fn counts(&mut self) -> Outcome<bool> {
        let model = self.model;
        let Some(ticker) = model.network.ticker.filter(|_| !model.counted.is_empty()) else {
            return Ok(true);
        };
        if self.machine.locations[ticker.0 as usize] != TICKED.0 {
            return Ok(true);
        }
        for counted in &model.counted {
            let counts = match counted {
                Counted::Labels(labels) => labels.iter().all(|&label| {
                    let at = |&(process, location): &(u32, u32)| {
                        self.machine.locations[process as usize] == location
                    };
                    model.label_places[label].iter().any(at)
                }),
                Counted::Condition(condition) if condition.timed => true,
                Counted::Condition(condition) => {
                    self.machine.enter_condition(condition.locals);
                    self.data(&condition.condition)?
                }
            };
            if counts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates the clock guards by rows of the source; false if a guard needs an inactive clock.
    pub(super) fn guard_atoms(&mut self) -> Outcome<bool> {
        self.atoms.clear();
        for at in 0..self.participants.len() {
            if !self.add_guard_atoms(self.participants[at])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same for one edge, appended to the existing atoms.
    #[inline]
    pub(super) fn add_guard_atoms(&mut self, participant: u32) -> Outcome<bool> {
        let model = self.model;
        let step = &model.tables.steps[participant as usize];
        for atom in &step.guard.fixed {
            let (left, right) = (self.rows[atom.left as usize], self.rows[atom.right as usize]);
            debug_assert!(left != NO_ROW && right != NO_ROW, "a guard tests an inactive clock");
            if left != NO_ROW && right != NO_ROW {
                self.atoms.push((left, right, atom.bound));
            }
        }
        if step.guard.computed.is_empty() {
            return Ok(true);
        }
        let edge = model.edge(participant);
        self.machine.enter(&edge.locals);
        for &index in &step.guard.computed {
            let atom = evaluate(&mut self.machine, &edge.guard.clocks[index as usize]);
            let atom = match atom {
                Err(fault) if fault.kind == FaultKind::Range && model.network.out_of_range_disables => {
                    return Ok(false);
                }
                other => other?,
            };
            if let Some((left, right, bound)) = atom {
                let (left, right) = (self.rows[left as usize], self.rows[right as usize]);
                if left != NO_ROW && right != NO_ROW {
                    self.atoms.push((left, right, bound));
                }
            }
        }
        Ok(true)
    }

    /// A cheap test: whether each bound of the guard alone is consistent with the source zone. It
    /// rejects most guards that do not hold.
    fn may_hold(&self) -> bool {
        self.atoms.iter().all(|&(left, right, bound)| {
            let back = self.base.get(right as usize, left as usize);
            left == right || back == Bound::INFINITY || back.value() + bound.value() > 0 || {
                back.value() + bound.value() == 0 && back.0 & bound.0 & 1 == 1
            }
        })
    }

    /// Restricts the source to the guard, into `guarded`; false if that is empty.
    pub(super) fn guarded_zone(&mut self) -> bool {
        self.guarded.clone_from(&self.base);
        self.atoms.iter().all(|&atom| conjoin(&mut self.guarded, atom))
    }

    /// Executes the updates in the order of the participants, then moves the processes.
    pub(super) fn update(&mut self) -> Outcome<()> {
        for &participant in &self.participants {
            let edge = self.model.edge(participant);
            if !edge.update.is_empty() {
                self.machine.enter(&edge.locals);
                self.machine.execute(&edge.update)?;
            }
        }
        for &participant in &self.participants {
            let step = &self.model.tables.steps[participant as usize];
            self.machine.locations[step.process as usize] = step.target;
        }
        Ok(())
    }

    /// Moves the processes back to their source locations.
    pub(super) fn put_back(&mut self) {
        for &participant in &self.participants {
            let process = self.model.tables.steps[participant as usize].process as usize;
            self.machine.locations[process] = self.model.layout.location(&self.words, process);
        }
    }

    /// Writes the words of the machine's state, which the participants reached, to `next`, and
    /// returns its tuple.
    pub(super) fn target_tuple(&mut self) -> u32 {
        let model = self.model;
        self.next.clear();
        self.next.extend_from_slice(&self.words);
        for &participant in &self.participants {
            let step = &model.tables.steps[participant as usize];
            model.layout.set_location(&mut self.next, step.process as usize, step.target);
        }
        for cell in self.machine.written() {
            model.layout.set_cell(&mut self.next, cell, self.machine.cells[cell as usize]);
        }
        let (layout, tables, bounds) = (&model.layout, &model.tables, &model.bounds);
        let step = |&participant: &u32| &tables.steps[participant as usize];
        if model.wide {
            let slots = |participant: &u32| {
                let step = step(participant);
                let number = |location| tables.slot_number(step.process as usize, location);
                (number(step.source), number(step.target))
            };
            return self.tuples.follow(self.source, self.participants.iter().map(slots), tables, bounds);
        }
        let moved = self.participants.iter().map(|participant| step(participant).process);
        self.tuples.after_move(self.source, &self.words, &self.next, moved, layout, tables, bounds)
    }

    /// For each active clock of the target, the row of the source it is copied from.
    pub(super) fn find_origins(&mut self, tuple: u32) -> Outcome<()> {
        self.origins.clear();
        for &clock in self.tuples.get(tuple).members.active() {
            let source = self.machine.origin(clock);
            let row = source.clock.map_or(0, |clock| self.rows[clock.0 as usize + 1]);
            if row == NO_ROW {
                let name = &self.model.network.clocks[clock as usize];
                let message = format!("clock {name} is needed, but its value was given up before");
                return Err(Box::new(Fault { message, place: 0..0, kind: FaultKind::Model }));
            }
            self.origins.push(Origin { row, offset: source.offset });
        }
        Ok(())
    }

    /// Adds the zone after the updates, unless it is empty.
    fn reach(&mut self, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        let id = self.target_tuple();
        let tuple = self.tuples.get(id);
        if !invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed)? {
            return Ok(());
        }
        self.find_origins(id)?;
        if self.atoms.is_empty() {
            self.target.gather(&self.base, &self.origins);
        } else if self.guarded_zone() {
            self.target.gather(&self.guarded, &self.origins);
        } else {
            return Ok(());
        }
        let label = self.label();
        self.settle(id, label, out)
    }

    /// The label of the participants' transition.
    pub(super) fn label(&mut self) -> LabelId {
        let model = self.model;
        if self.only.is_some() {
            // The caller knows the label already.
            return LabelId(0);
        }
        // The ticker is not part of the label.
        let count = self.participants.len() - usize::from(model.network.ticker.is_some());
        if let (&[step], None) = (&self.participants[..count], self.channel) {
            return model.alone[step as usize];
        }
        self.key.clear();
        self.key.extend(self.channel);
        for &participant in &self.participants[..count] {
            self.key.push(model.tables.steps[participant as usize].process);
            if let Sync::Event(event) = model.edge(participant).sync {
                self.key.push(event.0);
            }
        }
        model.labels.intern(&mut self.front, &self.key)
    }
}

/// The value of a bound on clocks, by `clock + 1`; `None` if it does not apply.
pub(super) fn evaluate(machine: &mut Machine<'_>, atom: &ClockAtom) -> Outcome<Option<RowAtom>> {
    if let Some(when) = &atom.when
        && !machine.holds(when)?
    {
        return Ok(None);
    }
    let mut clock = |cell: &Option<crate::network::ClockCell>| match cell {
        None => Ok(0),
        Some(cell) => machine.clock(cell, &atom.place).map(|clock| clock.0 + 1),
    };
    let (left, right) = (clock(&atom.left)?, clock(&atom.right)?);
    let value = machine.value(&atom.bound)?;
    match bound(value, atom.strict) {
        Some(bound) => Ok(Some((left, right, bound))),
        None => {
            let message = format!("{value} is too large to be compared with a clock");
            Err(Box::new(Fault { message, place: atom.place.clone(), kind: FaultKind::Model }))
        }
    }
}
