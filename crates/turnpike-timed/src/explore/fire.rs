//! Takes one transition: guards on clocks, updates, invariants, and the zone behind them.

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
    /// Takes the transition of the participants, whose guards hold as far as variables are
    /// concerned, and adds its target if there is one. A process that moves along does so in every
    /// way it can.
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
            let taken = self.take(out);
            self.participants.truncate(count);
            taken?;
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
            // What cannot happen is no error.
            Err(_) if !self.guarded_zone() => Ok(()),
            Err(fault) => Err(fault),
        };
        self.machine.undo();
        self.put_back();
        self.tolerate(reached, ())?;
        if let Some(record) = &mut self.record {
            // A transition may lead to several parts of a target.
            record.resize(out.len(), self.participants.clone());
        }
        Ok(())
    }

    /// Whether the transition whose updates were executed may be taken in this way: time is counted
    /// in certain states only.
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

    /// Evaluates the guards on clocks by rows of the source; false when a clock that is not there
    /// would be needed.
    pub(super) fn guard_atoms(&mut self) -> Outcome<bool> {
        self.atoms.clear();
        for at in 0..self.participants.len() {
            if !self.add_guard_atoms(self.participants[at])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same for one edge: its atoms come behind those that are there.
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

    /// Whether each bound of the guard by itself leaves something of the source: most that do not
    /// hold are found so.
    fn may_hold(&self) -> bool {
        self.atoms.iter().all(|&(left, right, bound)| {
            let back = self.base.get(right as usize, left as usize);
            left == right || back == Bound::INFINITY || back.value() + bound.value() > 0 || {
                back.value() + bound.value() == 0 && back.0 & bound.0 & 1 == 1
            }
        })
    }

    /// Makes the part of the source in which the guard holds; false when there is none.
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

    /// The processes go back to where they were.
    pub(super) fn put_back(&mut self) {
        for &participant in &self.participants {
            let process = self.model.tables.steps[participant as usize].process as usize;
            self.machine.locations[process] = self.model.layout.location(&self.words, process);
        }
    }

    /// Writes the words of the machine's state, which the participants reached, to `next`, and
    /// gives its tuple.
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
        self.tuples.behind(self.source, &self.words, &self.next, moved, layout, tables, bounds)
    }

    /// Where each active clock of the target comes from, by rows of the source.
    pub(super) fn find_origins(&mut self, tuple: u32) -> Outcome<()> {
        self.origins.clear();
        for &clock in &self.tuples.get(tuple).members.active {
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

    /// Adds the zone behind the updates, if there is one.
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
            // Somebody knows it already.
            return LabelId(0);
        }
        // Who moves along is not told.
        let told = self.participants.len() - usize::from(model.network.ticker.is_some());
        if let (&[step], None) = (&self.participants[..told], self.channel) {
            return model.alone[step as usize];
        }
        self.key.clear();
        self.key.extend(self.channel);
        for &participant in &self.participants[..told] {
            self.key.push(model.tables.steps[participant as usize].process);
            if let Sync::Event(event) = model.edge(participant).sync {
                self.key.push(event.0);
            }
        }
        model.labels.intern(&mut self.front, &self.key)
    }
}

/// The value of a bound on clocks, by `clock + 1`; `None` when it does not count.
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
