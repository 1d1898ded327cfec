//! Single valuations instead of zones, for walks through models with many clocks.
//!
//! A state is the discrete part, a drawing number that determines delays, and the value of each
//! clock as an exact fraction of a unit. For each transition that is possible now or later, the
//! bounds give the interval of delays that enable it, and one delay is drawn from it: the first,
//! the last or any, depending on the walk's pace (after the randomised reachability analysis of
//! UPPAAL's authors). The drawing number includes the pace, so the delay is a function of the
//! state; the virtual root offers many drawing numbers. Costs are linear in the number of clocks.
//!
//! This search is incomplete. What it finds is confirmed on zones.

mod intervals;
mod path;

pub(super) use self::path::on_zones;

use turnpike_model::{
    Diagnostic, Explorer, Label, LabelId, Measures, PredicateId, Predicates, StateLabels, StepError,
    Successors, hash,
};

use self::intervals::{Interval, Pace};
use super::TimedModel;
use super::condition::asks_for_deadlock;
use super::fire::evaluate;
use super::walker::{ROOT, RowAtom, Walker};
use crate::evaluate::Outcome;
use crate::network::{ClockValue, Network, Statement};

/// Number of drawing numbers that walks can start with.
const BEGINNINGS: u32 = 64;

/// Attempts to draw a delay for a transition until one satisfies the target invariant.
const DRAWS: u64 = 4;

/// Limit on the fractions per unit of time.
const FINEST: i64 = 1 << 16;

/// What walks on valuations use from a model.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Fractions per unit of time.
    parts: i64,
    /// By clock, in fractions: all larger values are equivalent.
    tops: Vec<i64>,
}

impl Grid {
    /// `None` for models that only zones support: those with differences of clocks, priorities or
    /// counted time.
    pub(super) fn of(model: &TimedModel) -> Option<Grid> {
        let network = &model.network;
        let plain = model.differences.is_empty() && !model.tables.has_priorities && network.ticker.is_none();
        if !plain || model.diagonals || moves_clocks_back(network) {
            return None;
        }
        let mut most = vec![-1; network.clocks.len()];
        for (clock, bound) in model.bounds.largest() {
            most[clock.0 as usize] = i64::from(bound).max(most[clock.0 as usize]);
        }
        let largest = most.iter().copied().max().unwrap_or(0).max(0) + 2;
        let mut parts = FINEST;
        while parts > 1 && largest * parts > i64::from(i32::MAX) {
            parts /= 2;
        }
        Some(Grid { parts, tops: most.iter().map(|most| (most + 1) * parts).collect() })
    }
}

/// Whether some clock is assigned a smaller value of another one: a value above all bounds could
/// then fall below them again.
fn moves_clocks_back(network: &Network) -> bool {
    fn any(statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::Clock { value: ClockValue::Clock(..), .. } => true,
            Statement::If(_, yes, no) => any(yes) || any(no),
            Statement::While(_, body, _) | Statement::For { body, .. } => any(body),
            _ => false,
        })
    }
    let edges = network.processes.iter().flat_map(|process| &process.edges);
    edges
        .map(|edge| &edge.update)
        .chain(network.functions.iter().map(|function| &function.body))
        .any(|all| any(all))
}

/// An explorer of valuations.
pub(super) struct Concrete<'a> {
    model: &'a TimedModel,
    grid: &'a Grid,
    walker: Walker<'a>,
    /// Clocks of the loaded state, by `clock + 1`; index 0 is the constant zero.
    now: Vec<i64>,
    /// By `clock + 1`: 1 if it runs.
    speeds: Vec<i64>,
    /// Clocks when a transition is taken, and after it.
    then: Vec<i64>,
    after: Vec<i64>,
    next: Vec<u32>,
    /// The edges of each transition, if they are recorded.
    record: Option<Vec<Vec<u32>>>,
}

impl<'a> Concrete<'a> {
    pub(super) fn new(model: &'a TimedModel, grid: &'a Grid) -> Self {
        let mut walker = Walker::new(model);
        // Bounds refer to clocks, not to rows of a zone.
        walker.rows = (0..=model.network.clocks.len() as u32).collect();
        walker.whole_broadcasts = true;
        let count = model.network.clocks.len() + 1;
        let mut speeds = vec![1; count];
        speeds[0] = 0;
        Concrete {
            model,
            grid,
            walker,
            now: vec![0; count],
            speeds,
            then: Vec::new(),
            after: Vec::new(),
            next: Vec::new(),
            record: None,
        }
    }

    /// Number of words of a state.
    pub(super) fn width(model: &TimedModel) -> usize {
        model.layout.words + 1 + model.network.clocks.len()
    }

    fn load(&mut self, state: &[u32]) -> Outcome<()> {
        let model = self.model;
        let words = model.layout.words;
        self.walker.tuples.tidy();
        self.walker.load_discrete(&state[..words]);
        self.walker.source = self.walker.tuple_of(&state[..words]);
        for (value, &word) in self.now[1..].iter_mut().zip(&state[words + 1..]) {
            *value = i64::from(word);
        }
        if model.stopwatches {
            self.walker.machine.find_running(&mut self.walker.runs)?;
            for (speed, &runs) in self.speeds[1..].iter_mut().zip(&self.walker.runs) {
                *speed = i64::from(runs);
            }
        }
        Ok(())
    }

    /// Restricts delays to those after which a bound holds.
    fn narrow(&self, within: Interval, (left, right, bound): RowAtom) -> Interval {
        let (left, right) = (left as usize, right as usize);
        let most = i64::from(bound.value()) * self.grid.parts - i64::from(bound.is_strict());
        within.narrow(self.speeds[left] - self.speeds[right], most - (self.now[left] - self.now[right]))
    }

    /// The longest delay that is allowed; longer ones than necessary are cut off.
    fn longest_wait(&mut self) -> Outcome<i64> {
        let model = self.model;
        if self.walker.tuples.get(self.walker.source).urgent {
            return Ok(0);
        }
        let left = |(clock, top): (usize, &i64)| top - self.now[clock + 1];
        let horizon = self.grid.tops.iter().enumerate().map(left).max().unwrap_or(0).max(0);
        let mut wait = Interval { from: 0, to: horizon };
        let members = self.walker.tuples.get(self.walker.source).members.clone();
        for &slot in members.within() {
            for atom in &model.tables.slots[slot as usize].invariant.fixed {
                wait = self.narrow(wait, (atom.left, atom.right, atom.bound));
            }
        }
        for &process in members.computed() {
            let location = self.walker.machine.locations[process as usize];
            let slot = model.tables.slot(process as usize, location);
            let process = &model.network.processes[process as usize];
            let invariant = &process.locations[location as usize].invariant;
            self.walker.machine.enter_condition(slot.locals as usize);
            for &index in &slot.invariant.computed {
                let atom = evaluate(&mut self.walker.machine, &invariant.clocks[index as usize])?;
                if let Some(atom) = atom {
                    wait = self.narrow(wait, atom);
                }
            }
        }
        if model.tables.has_timed_urgency {
            for atoms in self.walker.urgent_guards()? {
                wait.to = wait.to.min(self.begins(&atoms));
            }
        } else if !self.walker.no_urgent_synchronisation()? {
            return Ok(0);
        }
        Ok(wait.to.max(0))
    }

    /// When an urgent synchronisation with these bounds first becomes possible as time passes. At a
    /// strict lower bound, time stops at the bound.
    fn begins(&self, atoms: &[RowAtom]) -> i64 {
        // The interval in which they hold; a flag says whether its end is excluded.
        let (mut from, mut to) = ((0, false), (i64::MAX, false));
        for &(left, right, bound) in atoms {
            let (left, right, strict) = (left as usize, right as usize, bound.is_strict());
            let most = i64::from(bound.value()) * self.grid.parts - (self.now[left] - self.now[right]);
            match self.speeds[left] - self.speeds[right] {
                0 if most < 0 || (most == 0 && strict) => return i64::MAX,
                0 => {}
                speed if speed > 0 && (most, !strict) < (to.0, !to.1) => to = (most, strict),
                speed if speed > 0 => {}
                _ => from = from.max((-most, strict)),
            }
        }
        let some = from.0 < to.0 || (from.0 == to.0 && !from.1 && !to.1);
        if some { from.0 } else { i64::MAX }
    }

    /// Draws a delay for the transition of the walker's participants and adds its target.
    fn take(&mut self, wait: i64, draw: u64, nonce: u32, out: &mut Successors) -> Outcome<()> {
        self.walker.atoms.clear();
        let own = self.walker.participants.clone();
        for &step in &own {
            if !self.walker.add_guard_atoms(step)? {
                return Ok(());
            }
        }
        let mut able = Interval { from: 0, to: wait };
        for &atom in &self.walker.atoms {
            able = self.narrow(able, atom);
        }
        let possible = std::mem::take(&mut self.walker.absent);
        for attempt in 0..DRAWS {
            // If the pace leads to no state, try any delay.
            let pace = if attempt == 0 { Pace::of(nonce) } else { Pace::Mixed };
            let Some(delay) = able.draw(pace, hash::mix(draw, attempt)) else { break };
            if self.take_after(delay, &possible, hash::mix(draw, !attempt), nonce, out)? {
                break;
            }
            self.walker.participants.clone_from(&own);
            if able.from == able.to {
                break;
            }
        }
        Ok(())
    }

    /// Takes the transition after a delay; false if the target invariant fails.
    fn take_after(
        &mut self,
        delay: i64,
        possible: &[u32],
        draw: u64,
        nonce: u32,
        out: &mut Successors,
    ) -> Outcome<bool> {
        let model = self.model;
        self.then.clear();
        self.then.extend(self.now.iter().zip(&self.speeds).map(|(value, speed)| value + speed * delay));
        self.add_receivers(possible, draw)?;
        let reached = match self.walker.update() {
            Ok(()) => self.reach(),
            Err(fault) => Err(fault),
        };
        self.walker.machine.undo();
        self.walker.put_back();
        let reached = self.walker.tolerate(reached, false)?;
        if reached {
            self.next.clear();
            self.next.extend_from_slice(&self.walker.next);
            self.next.push(nonce);
            self.next.extend(self.after[1..].iter().map(|&value| value as u32));
            let label = self.walker.label();
            out.push(label, &self.next);
            if let Some(record) = &mut self.record {
                record.push(self.walker.participants.clone());
            }
        }
        debug_assert_eq!(self.walker.next.len(), model.layout.words);
        Ok(reached)
    }

    /// Adds, for each process, one of the edges that can then receive a broadcast.
    fn add_receivers(&mut self, possible: &[u32], draw: u64) -> Outcome<()> {
        let process = |step: u32| self.model.tables.steps[step as usize].process;
        for group in possible.chunk_by(|&one, &other| process(one) == process(other)) {
            let mut open = Vec::new();
            for &step in group {
                self.walker.atoms.clear();
                if self.walker.add_guard_atoms(step)?
                    && self.walker.atoms.iter().all(|&atom| holds(&self.then, atom, self.grid.parts))
                {
                    open.push(step);
                }
            }
            if !open.is_empty() {
                let index = hash::mix(draw, u64::from(open[0])) % open.len() as u64;
                self.walker.participants.push(open[index as usize]);
            }
        }
        Ok(())
    }

    /// Whether the state after the updates satisfies its invariant.
    fn reach(&mut self) -> Outcome<bool> {
        let model = self.model;
        let target = self.walker.target_tuple();
        let members = self.walker.tuples.get(target).members.clone();
        self.after.clear();
        self.after.push(0);
        for (clock, &top) in self.grid.tops.iter().enumerate() {
            let source = self.walker.machine.origin(clock as u32);
            let from = source.clock.map_or(0, |from| self.then[from.0 as usize + 1]);
            self.after.push((from + i64::from(source.offset) * self.grid.parts).min(top));
        }
        let slots = members.within().iter().map(|&slot| &model.tables.slots[slot as usize]);
        let fixed = |atom: &crate::compile::tables::FixedAtom| (atom.left, atom.right, atom.bound);
        let mut atoms = slots.flat_map(|slot| &slot.invariant.fixed);
        if !atoms.all(|atom| holds(&self.after, fixed(atom), self.grid.parts)) {
            return Ok(false);
        }
        for &process in members.computed() {
            let location = self.walker.machine.locations[process as usize];
            let slot = model.tables.slot(process as usize, location);
            let process = &model.network.processes[process as usize];
            let invariant = &process.locations[location as usize].invariant;
            self.walker.machine.enter_condition(slot.locals as usize);
            for condition in &invariant.data {
                if !self.walker.machine.holds(condition)? {
                    return Ok(false);
                }
            }
            for &index in &slot.invariant.computed {
                let atom = evaluate(&mut self.walker.machine, &invariant.clocks[index as usize])?;
                if atom.is_some_and(|atom| !holds(&self.after, atom, self.grid.parts)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn steps(&mut self, state: &[u32], out: &mut Successors) -> Outcome<()> {
        self.load(state)?;
        let wait = self.longest_wait()?;
        self.walker.collect()?;
        let walker = &mut self.walker;
        let (pending, ends) = (std::mem::take(&mut walker.pending), std::mem::take(&mut walker.pending_ends));
        let nonce = state[self.model.layout.words];
        let mut done = Ok(());
        for index in 0..ends.len() {
            self.walker.choose_pending(&pending, &ends, index);
            let draw = hash::mix(u64::from(nonce), index as u64);
            // Walks that take the same transition draw different delays from here on.
            done = self.take(wait, draw, Pace::follow(nonce, draw), out);
            if done.is_err() {
                break;
            }
        }
        (self.walker.pending, self.walker.pending_ends) = (pending, ends);
        done
    }

    /// The initial states, each with many drawing numbers.
    fn beginnings(&mut self, out: &mut Successors) -> Result<(), StepError> {
        let model = self.model;
        let label = model.labels.shared(&[]);
        let initial = match &model.initial {
            Some(state) => vec![state[..model.layout.words].to_vec()],
            None => discrete_parts(model, &self.walker.initials()?),
        };
        for discrete in initial {
            for beginning in 0..BEGINNINGS {
                self.next.clear();
                self.next.extend_from_slice(&discrete);
                self.next.push(Pace::begin(beginning));
                self.next.resize(Self::width(model), 0);
                out.push(label, &self.next);
            }
        }
        Ok(())
    }

    fn is_root(&self, state: &[u32]) -> bool {
        state[self.model.layout.words] == ROOT
    }
}

/// Whether a bound holds for clock values in fractions of a unit.
fn holds(values: &[i64], (left, right, bound): RowAtom, parts: i64) -> bool {
    let difference = values[left as usize] - values[right as usize];
    difference <= i64::from(bound.value()) * parts - i64::from(bound.is_strict())
}

/// The discrete parts of initial states, without duplicates: zones of one are adjacent.
fn discrete_parts(model: &TimedModel, initial: &Successors) -> Vec<Vec<u32>> {
    let discrete = |(_, state): (LabelId, &[u32])| state[..model.layout.words].to_vec();
    let mut parts: Vec<Vec<u32>> = initial.iter().map(discrete).collect();
    parts.dedup();
    parts
}

impl Explorer for Concrete<'_> {
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        out.resize(Self::width(self.model), 0);
        out[self.model.layout.words] = ROOT;
        Ok(())
    }

    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError> {
        out.clear();
        if self.is_root(state) {
            return self.beginnings(out);
        }
        let model = self.model;
        self.steps(state, out).map_err(|fault| {
            self.walker.machine.undo();
            model.error(&fault)
        })
    }

    fn label(&mut self, id: LabelId) -> Label {
        Explorer::label(&mut self.walker, id)
    }

    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>) {
        out.clear();
        let model = self.model;
        if self.is_root(state) {
            out.resize(model.info.parameters.len(), "-".to_owned());
            return;
        }
        for (index, process) in model.network.processes.iter().enumerate() {
            let location = model.layout.location(state, index) as usize;
            out.push(process.locations[location].name.clone());
        }
        for (cell, variable) in model.network.variables.iter().enumerate() {
            if !variable.meta {
                out.push(model.layout.cell(state, cell).to_string());
            }
        }
        let clocks = model.network.clocks.iter().zip(&state[model.layout.words + 1..]);
        let parts = self.grid.parts * model.network.parts_per_unit();
        let value = |(name, value): (&String, &u32)| format!("{name}={value}/{parts}");
        out.push(clocks.map(value).collect::<Vec<_>>().join(" "));
    }

    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        !self.is_root(state) && successors.is_empty()
    }

    fn measures(&mut self) -> Option<&mut dyn Measures> {
        self.walker.measures()
    }

    fn predicates(&mut self) -> Option<&mut dyn Predicates> {
        Some(self)
    }

    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        self.walker.state_labels()
    }
}

impl Predicates for Concrete<'_> {
    fn compile(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        let id = self.walker.compile(text)?;
        if let Some((_, compiled)) = self.model.conditions.iter().find(|(known, _)| known == text)
            && asks_for_deadlock(&compiled.condition)
        {
            return Err(Diagnostic::error(
                "walks on single valuations do not tell deadlocks among conditions",
            )
            .help("search zones instead of single valuations, or look for the objective `deadlock`"));
        }
        Ok(id)
    }

    fn constant(&mut self, predicate: PredicateId) -> Option<bool> {
        self.walker.constant(predicate)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        let model = self.model;
        let timed = model.conditions.get(predicate.0 as usize).is_some_and(|(_, known)| known.timed);
        if !timed || self.is_root(state) {
            return self.walker.holds(predicate, state);
        }
        let compiled = &model.conditions[predicate.0 as usize].1;
        let met = self.load(state).and_then(|()| {
            let wait = self.longest_wait()?;
            self.walker.machine.enter_condition(compiled.locals);
            Ok(!self.moments(&compiled.condition, true, vec![Interval { from: 0, to: wait }])?.is_empty())
        });
        self.walker.machine.undo();
        met.map_err(|fault| model.error(&fault))
    }
}
