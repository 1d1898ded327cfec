//! Fast computation of successors, by plans and cached results.
//!
//! A zone is unpacked only when some result is not cached ([`super::memo`]). The transitions of a
//! tuple of locations are listed once ([`super::plan`]); what its locations determine (the target's
//! tuple, the label, the effect on the zone) is computed once.
//!
//! Only for networks in which a transition leads from a whole zone to one zone: see
//! [`super::configuration::is_quick`]. Others are expanded in the plain way, which gives the same
//! successors in the same order.

use turnpike_model::{LabelId, Successors};

use super::memo::{Known, Memo, NO_PROGRAM};
use super::plan::{Effect, Kind, NO_LABEL, Plan};
use super::tuple::NO_TUPLE;
use super::walker::{RowAtom, Walker, conjoin_all, invariant};
use crate::evaluate::Outcome;
use crate::zone::ZoneId;

/// How transitions are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// From scratch.
    #[default]
    Plain,
    /// With cached results, in the order of plans.
    Planned,
    /// With cached results, in networks with many processes ([`super::wide`]).
    Wide,
}

/// The caches of the fast computation, and the state it works on.
#[derive(Debug, Default)]
pub(super) struct Quick {
    /// How transitions are taken.
    pub(super) way: Way,
    memo: Memo,
    content: Vec<u32>,
    /// The number of the source's zone, and whether it is loaded.
    zone: u32,
    loaded: bool,
    /// The part of the source's invariant that depends on variables.
    computed: Vec<RowAtom>,
}

/// Tags of the contents that are numbered.
const PROGRAM: u32 = 0;
const INSIDE: u32 = 1;
const SHAPE: u32 = 2;

fn add_atoms(content: &mut Vec<u32>, atoms: impl ExactSizeIterator<Item = RowAtom>) {
    content.push(atoms.len() as u32);
    for (left, right, bound) in atoms {
        content.extend([left, right, bound.0 as u32]);
    }
}

impl Walker<'_> {
    /// Unpacks a state as far as the fast computation needs it.
    pub(super) fn load_quick(&mut self, state: &[u32]) -> Outcome<()> {
        let model = self.model;
        if self.quick.memo.is_full() {
            // Tuples refer to numbers of programs.
            self.tuples.clear();
            self.quick.memo.clear();
        }
        self.tuples.tidy();
        let (discrete, zone) = state.split_at(model.layout.words);
        self.load_discrete(discrete);
        self.source = self.tuple_of(discrete);
        self.quick.zone = zone[0];
        self.quick.loaded = false;
        let tuple = self.tuples.get(self.source);
        self.quick.computed.clear();
        if !tuple.members.computed().is_empty() {
            let computed = &mut self.quick.computed;
            invariant(&mut self.machine, &model.network, &model.tables, tuple, computed)?;
        }
        Ok(())
    }

    /// All transitions of a state.
    pub(super) fn quick_steps(&mut self, state: &[u32], out: &mut Successors) -> Outcome<()> {
        self.load_quick(state)?;
        let source = self.source;
        let (mut plan, new) = match self.tuples.take_plan(source) {
            Some(plan) => (plan, false),
            None => (self.make_plan(), true),
        };
        let done = self.follow(&mut plan, out);
        self.tuples.put_plan(source, plan, new);
        done
    }

    fn follow(&mut self, plan: &mut Plan, out: &mut Successors) -> Outcome<()> {
        let mut mapped = false;
        if plan.receivers {
            self.map_rows();
            mapped = true;
            self.fill_buckets()?;
        }
        let mut rest = plan.steps.as_slice();
        for at in 0..plan.moves.len() {
            if out.len() > self.enough {
                return Ok(());
            }
            let step = plan.moves[at];
            let (steps, others) = rest.split_at(step.count as usize);
            rest = others;
            if step.guarded && !self.all_guards(steps)? || step.barred {
                continue;
            }
            let channel = match step.kind {
                Kind::Together(channel) => channel,
                other => {
                    if !mapped {
                        self.map_rows();
                        mapped = true;
                    }
                    self.quick.way = Way::Planned;
                    let done = match other {
                        Kind::Vector(vector) => self.vector(vector, out),
                        _ => self.start(steps[0], out),
                    };
                    self.quick.way = Way::Plain;
                    done?;
                    continue;
                }
            };
            if self.take_known(&step.effect, steps, out)? {
                continue;
            }
            if !mapped {
                self.map_rows();
                mapped = true;
            }
            self.channel = channel;
            self.participants.clear();
            self.participants.extend_from_slice(steps);
            let known = self.take_quick(out)?;
            if step.steady {
                known.add_to(&mut plan.moves[at].effect);
            }
        }
        Ok(())
    }

    fn all_guards(&mut self, steps: &[u32]) -> Outcome<bool> {
        for &step in steps {
            if !self.guard(step)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes a transition if everything about it is cached; otherwise returns false.
    #[inline]
    pub(super) fn take_known(
        &mut self,
        effect: &Effect,
        steps: &[u32],
        out: &mut Successors,
    ) -> Outcome<bool> {
        let model = self.model;
        if effect.label == NO_LABEL {
            return Ok(false);
        }
        // If nothing is urgent, locations alone decide whether time passes.
        let known = match model.tables.has_urgent {
            false => {
                let program = effect.programs[0].min(effect.programs[1]);
                match self.quick.memo.get(self.quick.zone, program) {
                    Known::Not => return Ok(false),
                    Known::Blocked => return Ok(true),
                    known => Some(known),
                }
            }
            true => None,
        };
        if effect.writes
            && let Err(fault) = self.write_all(steps)
        {
            self.machine.undo();
            // The plain way decides whether this is an error, unless the cached result does.
            return if known.is_some() { self.tolerate(Err(fault), true) } else { Ok(false) };
        }
        let known = match known {
            Some(known) => known,
            None => {
                for &step in steps {
                    let step = &model.tables.steps[step as usize];
                    self.machine.locations[step.process as usize] = step.target;
                }
                let delay = !self.tuples.get(effect.target).urgent && model.elapsed;
                let delay = if delay { self.no_urgent_synchronisation() } else { Ok(false) };
                for &step in steps {
                    let process = model.tables.steps[step as usize].process as usize;
                    self.machine.locations[process] = model.layout.location(&self.words, process);
                }
                let program = delay.map_or(NO_PROGRAM, |delay| effect.programs[usize::from(delay)]);
                match self.quick.memo.get(self.quick.zone, program) {
                    Known::Not => {
                        self.machine.undo();
                        return Ok(false);
                    }
                    known => known,
                }
            }
        };
        if let Known::Zone(zone) = known {
            let (layout, machine, words) = (&model.layout, &self.machine, &mut self.words);
            words.push(zone);
            out.push_edited(effect.label, words, |target| {
                for &step in steps {
                    let step = &model.tables.steps[step as usize];
                    layout.set_location(target, step.process as usize, step.target);
                }
                for cell in machine.written() {
                    layout.set_cell(target, cell, machine.cells[cell as usize]);
                }
            });
            words.pop();
            if let Some(record) = &mut self.record {
                record.resize(out.len(), steps.to_vec());
            }
        }
        self.machine.undo();
        Ok(true)
    }

    /// Executes the updates of some edges in their order.
    #[inline]
    fn write_all(&mut self, steps: &[u32]) -> Outcome<()> {
        for &step in steps {
            match &self.model.tables.steps[step as usize].numbers {
                Some(numbers) => {
                    numbers.cells.iter().for_each(|&(cell, value)| self.machine.set(cell, value))
                }
                None => {
                    let edge = self.model.edge(step);
                    self.machine.enter(&edge.locals);
                    self.machine.execute(&edge.update)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the participants' transition, whose guards on variables hold.
    pub(super) fn take_quick(&mut self, out: &mut Successors) -> Outcome<Learnt> {
        if !self.guard_atoms()? {
            return Ok(Learnt::default());
        }
        let reached = match self.update_quick().and_then(|()| self.reach_quick(out)) {
            // A fault in a transition that no clock valuation enables is not reported.
            Err(_) if !self.guarded_by_zone() => Ok(Learnt::default()),
            reached => reached,
        };
        self.machine.undo();
        self.put_back();
        let learnt = self.tolerate(reached, Learnt::default())?;
        if let Some(record) = &mut self.record {
            record.resize(out.len(), self.participants.clone());
        }
        Ok(learnt)
    }

    /// Executes the updates in the order of the participants, then moves the processes.
    fn update_quick(&mut self) -> Outcome<()> {
        let tables = &self.model.tables;
        for &participant in &self.participants {
            match &tables.steps[participant as usize].numbers {
                Some(numbers) => {
                    numbers.cells.iter().for_each(|&(cell, value)| self.machine.set(cell, value));
                    numbers.clocks.iter().for_each(|&(clock, value)| self.machine.reset(clock, value));
                }
                None => {
                    let edge = self.model.edge(participant);
                    self.machine.enter(&edge.locals);
                    self.machine.execute(&edge.update)?;
                }
            }
        }
        for &participant in &self.participants {
            let step = &tables.steps[participant as usize];
            self.machine.locations[step.process as usize] = step.target;
        }
        Ok(())
    }

    /// Loads the source's zone unless it is loaded.
    fn load_zone(&mut self) {
        if !std::mem::replace(&mut self.quick.loaded, true) {
            self.model.zones.load(ZoneId(self.quick.zone), &mut self.base);
            // Extrapolation may have left the invariant.
            let _ = conjoin_all(&mut self.base, self.tuples.get(self.source), &self.quick.computed);
        }
    }

    fn guarded_by_zone(&mut self) -> bool {
        self.load_zone();
        self.guarded_zone()
    }

    /// Adds the zone after the updates, unless it is empty.
    fn reach_quick(&mut self, out: &mut Successors) -> Outcome<Learnt> {
        let model = self.model;
        let target = self.target_tuple();
        let tuple = self.tuples.get(target);
        self.computed.clear();
        if !tuple.members.computed().is_empty()
            && !invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed)?
        {
            return Ok(Learnt::default());
        }
        self.find_origins(target)?;
        let delay = model.elapsed && !self.tuples.get(target).urgent;
        let delay = if delay { self.no_urgent_synchronisation() } else { Ok(false) };
        let delay = match delay {
            Ok(delay) => delay,
            Err(fault) => {
                // The fault is reported only if the target is reached.
                let reached = self.guarded_by_zone() && self.enter(target);
                return if reached { Err(fault) } else { Ok(Learnt::default()) };
            }
        };
        let program = self.program(target, delay);
        let zone = self.quick.zone;
        let known = match self.quick.memo.get(zone, program) {
            Known::Not => {
                let known = self.compute(target, delay)?;
                self.quick.memo.keep(zone, program, known);
                known
            }
            known => known,
        };
        let label = self.label();
        if let Known::Zone(zone) = known {
            self.next.push(zone);
            out.push(label, &self.next);
            self.next.pop();
        }
        let plain = |tuple: u32| self.tuples.get(tuple).members.computed().is_empty();
        let steady = plain(self.source) && plain(target);
        Ok(Learnt { steady, target, label, delay, program })
    }

    /// Computes the successor of the source's zone; guard and origins are set.
    fn compute(&mut self, target: u32, delay: bool) -> Outcome<Known> {
        if !self.guarded_by_zone() {
            return Ok(Known::Blocked);
        }
        if !self.enter(target) {
            return Ok(Known::Gone);
        }
        if delay {
            self.target.up();
            if !conjoin_all(&mut self.target, self.tuples.get(target), &self.computed) {
                return Ok(Known::Gone);
            }
        }
        let tuple = self.tuples.get(target);
        self.target.extrapolate(self.model.extrapolation, tuple.lower(), tuple.upper());
        if self.target.overflowed() {
            return Err(Walker::too_large());
        }
        Ok(Known::Zone(self.model.zones.keep(&self.target).0))
    }

    /// Computes the target zone right after the updates; false if the invariant excludes it.
    fn enter(&mut self, target: u32) -> bool {
        self.target.gather(&self.guarded, &self.origins);
        conjoin_all(&mut self.target, self.tuples.get(target), &self.computed)
    }

    /// The number of the transition's program.
    fn program(&mut self, target: u32, delay: bool) -> u32 {
        let inside = match self.tuples.get(self.source).numbers.inside {
            NO_PROGRAM => self.number_inside(self.source),
            inside => inside,
        };
        let shape = match self.tuples.get(target).numbers.shape {
            NO_PROGRAM => self.number_shape(target),
            shape => shape,
        };
        let Quick { content, memo, computed, .. } = &mut self.quick;
        content.clear();
        content.extend([PROGRAM | u32::from(delay) << 2, inside, shape]);
        add_atoms(content, computed.iter().copied());
        add_atoms(content, self.atoms.iter().copied());
        add_atoms(content, self.computed.iter().copied());
        for origin in &self.origins {
            content.extend([origin.row, origin.offset as u32]);
        }
        memo.program(content)
    }

    /// Numbers the relevant part of a source: its number of clocks and its invariant.
    #[cold]
    fn number_inside(&mut self, id: u32) -> u32 {
        let Quick { content, memo, .. } = &mut self.quick;
        let tuple = self.tuples.get(id);
        content.clear();
        content.extend([INSIDE, tuple.members.active().len() as u32]);
        add_atoms(content, tuple.invariant());
        let inside = memo.program(content);
        self.tuples.set_numbers(id, |numbers| numbers.inside = inside);
        inside
    }

    /// Numbers the relevant part of a target: its invariant and its bounds.
    #[cold]
    fn number_shape(&mut self, id: u32) -> u32 {
        let Quick { content, memo, .. } = &mut self.quick;
        let tuple = self.tuples.get(id);
        content.clear();
        content.extend([SHAPE, tuple.members.active().len() as u32]);
        add_atoms(content, tuple.invariant());
        content.extend(tuple.bounds().iter().map(|&bound| bound as u32));
        let shape = memo.program(content);
        self.tuples.set_numbers(id, |numbers| numbers.shape = shape);
        shape
    }
}

impl Learnt {
    /// Adds it to the cached effect of the transition.
    pub(super) fn add_to(&self, effect: &mut Effect) {
        if self.steady {
            effect.target = self.target;
            effect.label = self.label;
            effect.programs[usize::from(self.delay)] = self.program;
        }
    }
}

/// What taking a transition showed about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Learnt {
    /// No invariant contains variables.
    pub(super) steady: bool,
    target: u32,
    label: LabelId,
    delay: bool,
    program: u32,
}

impl Default for Learnt {
    fn default() -> Self {
        Learnt { steady: false, target: NO_TUPLE, label: NO_LABEL, delay: false, program: NO_PROGRAM }
    }
}
