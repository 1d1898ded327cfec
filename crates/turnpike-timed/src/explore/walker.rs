//! An explorer's current state and its buffers.

use turnpike_model::{LabelId, StepError, Successors};

use super::TimedModel;
use super::channels::Buckets;
use super::condition::Compiled;
use super::credit::Credit;
use super::delay::Stops;
use super::diagonal;
use super::labels::Front;
use super::quick::Quick;
use super::tuple::{Tuple, Tuples};
use super::wide::Wide;
use crate::compile::tables::Tables;
use crate::evaluate::{FaultKind, Machine, Outcome};
use crate::network::Network;
use crate::zone::{Bound, Dbm, Extrapolation, Near, Origin, ZoneId};

/// The number that the virtual root has instead of a zone.
pub(crate) const ROOT: u32 = u32::MAX;

/// The row of a clock that is not active.
pub(super) const NO_ROW: u32 = u32::MAX;

/// A bound on a difference of rows.
pub(super) type RowAtom = (u32, u32, Bound);

/// One thread's view of the zone graph.
pub(crate) struct Walker<'a> {
    pub(super) model: &'a TimedModel,
    /// The discrete part of the source state.
    pub(super) machine: Machine<'a>,
    pub(super) tuples: Tuples,
    pub(super) front: Front,
    /// The source: its words, its tuple, its zone within its invariant, and the row of each clock
    /// (by `clock + 1`; 0 is the constant zero).
    pub(super) words: Vec<u32>,
    pub(super) source: u32,
    pub(super) base: Dbm,
    pub(super) rows: Vec<u32>,
    pub(super) mapped: Vec<u32>,
    pub(super) quick: Quick,
    pub(super) wide: Wide,
    /// The row of each clock in another tuple.
    pub(super) other_rows: Vec<u32>,
    /// Edges of the transition under consideration, in the order of their updates.
    pub(super) participants: Vec<u32>,
    /// Edges of other processes that would receive its broadcast if their clock guards held: it is
    /// taken only where they do not.
    pub(super) absent: Vec<u32>,
    /// Collect each broadcast once, with every possible receiver as absent.
    pub(super) whole_broadcasts: bool,
    /// Its channel.
    pub(super) channel: Option<u32>,
    /// Its clock guard.
    pub(super) atoms: Vec<RowAtom>,
    /// The part of an invariant that depends on variables.
    pub(super) computed: Vec<RowAtom>,
    pub(super) origins: Vec<Origin>,
    /// Which clocks run.
    pub(super) runs: Vec<bool>,
    pub(super) guarded: Dbm,
    pub(super) target: Dbm,
    pub(super) next: Vec<u32>,
    /// Collect transitions instead of taking them: `pending` concatenates their edges, `ends` holds
    /// where each list ends, and its channel.
    pub(super) collecting: bool,
    pub(super) pending: Vec<u32>,
    pub(super) pending_ends: Vec<(u32, Option<u32>)>,
    /// Choices of edges: the lists concatenated, and where each ends.
    pub(super) enabled: Vec<u32>,
    pub(super) choices: Vec<(u32, u32)>,
    pub(super) digits: Vec<u32>,
    pub(super) ready: Vec<u32>,
    pub(super) buckets: Buckets,
    pub(super) key: Vec<u32>,
    pub(super) other: Dbm,
    /// Cached comparisons of zones.
    pub(super) near: Near,
    /// Limits how often simulation is tried.
    pub(super) credit: Credit,
    /// Compiled conditions, numbered after the model's own.
    pub(super) extra: Vec<(String, std::sync::Arc<Compiled>)>,
    pub(super) label_sets: Vec<Vec<u32>>,
    /// The edges of each transition taken, if they are recorded.
    pub(crate) record: Option<Vec<Vec<u32>>>,
    /// Do not extrapolate zones.
    pub(super) exact: bool,
    /// Take only the transition with these edges.
    pub(super) only: Option<Vec<u32>>,
    /// Successors beyond this number need not be computed.
    pub(super) enough: usize,
    /// Successors left from an earlier query.
    pub(super) kept: Option<Box<Kept>>,
}

/// The successors of a state up to a position. Following a path needs them twice: for the
/// participants of a transition and for its target.
pub(super) struct Kept {
    pub(super) state: Vec<u32>,
    pub(super) last: usize,
    pub(super) out: Successors,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(model: &'a TimedModel) -> Self {
        let mut rows = vec![NO_ROW; model.network.clocks.len() + 1];
        rows[0] = 0;
        Walker {
            model,
            machine: Machine::new(&model.network),
            tuples: Tuples::new(model.wide),
            front: Front::default(),
            words: Vec::new(),
            source: 0,
            base: Dbm::default(),
            rows,
            mapped: Vec::new(),
            quick: Quick::default(),
            wide: Wide::default(),
            other_rows: Vec::new(),
            participants: Vec::new(),
            absent: Vec::new(),
            whole_broadcasts: false,
            channel: None,
            atoms: Vec::new(),
            computed: Vec::new(),
            origins: Vec::new(),
            runs: Vec::new(),
            guarded: Dbm::default(),
            target: Dbm::default(),
            next: Vec::new(),
            collecting: false,
            pending: Vec::new(),
            pending_ends: Vec::new(),
            enabled: Vec::new(),
            choices: Vec::new(),
            digits: Vec::new(),
            ready: Vec::new(),
            buckets: Buckets::new(model.network.channels.len()),
            key: Vec::new(),
            other: Dbm::default(),
            near: Near::default(),
            credit: Credit::default(),
            extra: Vec::new(),
            label_sets: Vec::new(),
            record: None,
            exact: false,
            only: None,
            enough: usize::MAX,
            kept: None,
        }
    }

    /// Returns `otherwise` for a range error where such errors merely disable transitions.
    #[inline]
    pub(super) fn tolerate<T>(&self, outcome: Outcome<T>, otherwise: T) -> Outcome<T> {
        match outcome {
            Err(fault) if fault.kind == FaultKind::Range && self.model.network.out_of_range_disables => {
                Ok(otherwise)
            }
            other => other,
        }
    }

    /// Unpacks a state, so that its successors can be computed.
    pub(super) fn load(&mut self, state: &[u32]) -> Outcome<()> {
        let model = self.model;
        let (discrete, zone) = state.split_at(model.layout.words);
        self.tuples.tidy();
        self.load_discrete(discrete);
        self.source = self.tuple_of(discrete);
        self.map_rows();
        let tuple = self.tuples.get(self.source);
        model.zones.load(ZoneId(zone[0]), &mut self.base);
        // Extrapolation may have left the invariant.
        invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed)?;
        let left = conjoin_all(&mut self.base, tuple, &self.computed) && self.base_stays()?;
        if left && !model.elapsed && self.delay_allowed()? {
            self.base.up();
            let tuple = self.tuples.get(self.source);
            let _ = conjoin_all(&mut self.base, tuple, &self.computed) && self.base_stays()?;
        }
        Ok(())
    }

    /// The number of the tuple of a state.
    pub(super) fn tuple_of(&mut self, discrete: &[u32]) -> u32 {
        let model = self.model;
        if model.wide {
            return self.shared_tuple_of(discrete);
        }
        self.tuples.of(discrete, &model.layout, &model.tables, &model.bounds)
    }

    /// Maps the clocks to the rows of the source.
    pub(super) fn map_rows(&mut self) {
        for &clock in &self.mapped {
            self.rows[clock as usize + 1] = NO_ROW;
        }
        let tuple = self.tuples.get(self.source);
        self.mapped.clear();
        self.mapped.extend_from_slice(tuple.members.active());
        for (&clock, row) in tuple.members.active().iter().zip(1..) {
            self.rows[clock as usize + 1] = row;
        }
    }

    /// Loads a discrete state into the machine. Only differences from the previous one are
    /// unpacked.
    pub(super) fn load_discrete(&mut self, discrete: &[u32]) {
        let layout = &self.model.layout;
        let Machine { locations, cells, .. } = &mut self.machine;
        if self.words.len() == discrete.len() {
            layout.unpack_changed(&self.words, discrete, locations, cells);
            self.words.copy_from_slice(discrete);
        } else {
            layout.unpack(discrete, locations, cells);
            self.words.clear();
            self.words.extend_from_slice(discrete);
        }
        debug_assert!(layout.holds(discrete, locations, cells), "the machine was left in another state");
    }

    /// Takes or collects all transitions of the loaded state.
    pub(super) fn transitions(&mut self, out: &mut Successors) -> Outcome<()> {
        if self.model.network.by_events() { self.by_events(out) } else { self.by_channels(out) }
    }

    /// All initial states, see [`Walker::initial_states`].
    pub(super) fn initials(&mut self) -> Result<Successors, StepError> {
        let mut out = Successors::new(self.model.info.width);
        self.initial_states(&mut out)?;
        Ok(out)
    }

    /// The only initial state, if there is exactly one.
    pub(super) fn only_initial(&mut self) -> Result<Option<Vec<u32>>, StepError> {
        if self.model.network.processes.iter().any(|process| process.initial.len() != 1) {
            return Ok(None);
        }
        let out = self.initials()?;
        // Where urgent channels stop time, the state after a delay may have several parts.
        Ok((out.len() == 1).then(|| out.state(0).to_vec()))
    }

    /// All initial states: every tuple of initial locations whose invariant holds, the last process
    /// varying fastest.
    pub(super) fn initial_states(&mut self, out: &mut Successors) -> Result<(), StepError> {
        let model = self.model;
        let processes = &model.network.processes;
        out.clear();
        // The loop below changes the machine's state.
        self.words.clear();
        if processes.iter().any(|process| process.initial.is_empty()) {
            return Ok(());
        }
        let label = model.labels.shared(&[]);
        let mut digits = vec![0; processes.len()];
        loop {
            for (cell, variable) in self.machine.cells.iter_mut().zip(&model.network.variables) {
                *cell = variable.initial;
            }
            for ((location, process), &digit) in self.machine.locations.iter_mut().zip(processes).zip(&digits)
            {
                *location = process.initial[digit].0;
            }
            self.initial_state(label, out).map_err(|fault| model.error(&fault))?;
            let Some(at) = (0..digits.len()).rfind(|&at| digits[at] + 1 < processes[at].initial.len()) else {
                return Ok(());
            };
            digits[at] += 1;
            digits[at + 1..].fill(0);
        }
    }

    fn initial_state(&mut self, label: LabelId, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        self.next.clear();
        self.next.resize(model.layout.words, 0);
        model.layout.pack(&mut self.next, &self.machine.locations, &self.machine.cells);
        let id = self.tuples.of(&self.next, &model.layout, &model.tables, &model.bounds);
        let tuple = self.tuples.get(id);
        if !invariant(&mut self.machine, &model.network, &model.tables, tuple, &mut self.computed)? {
            return Ok(());
        }
        self.target = Dbm::zero(tuple.dimension());
        self.settle(id, label, out)
    }

    /// Completes the target zone (invariant, delay, invariant, extrapolation), then adds the
    /// transition to it unless it is empty. The machine is in the target state, whose words are in
    /// `next`, and the part of its invariant that depends on variables is computed.
    pub(super) fn settle(&mut self, id: u32, label: LabelId, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        if !conjoin_all(&mut self.target, self.tuples.get(id), &self.computed) || !self.target_stays(id)? {
            return Ok(());
        }
        let urgent = self.tuples.get(id).urgent;
        if model.elapsed && !urgent && (model.tables.has_timed_urgency || model.stopwatches) {
            let zone = std::mem::take(&mut self.target);
            self.swap_rows(id);
            let parts = self.elapse(id, zone);
            std::mem::swap(&mut self.rows, &mut self.other_rows);
            for part in parts? {
                self.target = part;
                self.add_target(id, label, out)?;
            }
            return Ok(());
        }
        if model.elapsed && !urgent && self.no_urgent_synchronisation()? {
            self.target.up();
            let tuple = self.tuples.get(id);
            if !conjoin_all(&mut self.target, tuple, &self.computed) || !self.target_stays(id)? {
                return Ok(());
            }
        }
        self.add_target(id, label, out)
    }

    /// Extrapolates the target zone and adds the transition to it.
    #[inline]
    fn add_target(&mut self, id: u32, label: LabelId, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        let tuple = self.tuples.get(id);
        if self.exact {
            if self.target.overflowed() {
                return Err(Walker::too_large());
            }
            push(&mut self.next, model.zones.keep(&self.target).0, label, out);
            return Ok(());
        }
        if !model.differences.is_empty() && model.extrapolation != Extrapolation::None {
            for piece in diagonal::pieces(&self.target, tuple, &model.differences) {
                let zone = model.zones.keep(&piece).0;
                push(&mut self.next, zone, label, out);
            }
            return Ok(());
        }
        self.target.extrapolate(model.extrapolation, tuple.lower(), tuple.upper());
        if self.target.overflowed() {
            return Err(Walker::too_large());
        }
        push(&mut self.next, model.zones.keep(&self.target).0, label, out);
        Ok(())
    }

    /// Whether time can pass somewhere in the loaded state.
    pub(super) fn delay_allowed(&mut self) -> Outcome<bool> {
        Ok(self.delay_holes()?.is_some())
    }

    /// The zones of the loaded state in which time cannot pass; `None` if it cannot pass anywhere.
    pub(super) fn delay_holes(&mut self) -> Outcome<Option<Vec<Dbm>>> {
        if self.tuples.get(self.source).urgent {
            return Ok(None);
        }
        if !self.model.tables.has_timed_urgency {
            return Ok(self.no_urgent_synchronisation()?.then(Vec::new));
        }
        match self.stops(self.base.dimension())? {
            Stops::Everywhere => Ok(None),
            Stops::In(holes) => Ok(Some(holes)),
        }
    }
}

/// Adds a transition to the state with the discrete part in `next` and a zone.
#[inline]
fn push(next: &mut Vec<u32>, zone: u32, label: LabelId, out: &mut Successors) {
    next.push(zone);
    out.push(label, next);
    next.pop();
}

/// Intersects a zone with an invariant; false if the result is empty.
#[inline]
pub(super) fn conjoin_all(zone: &mut Dbm, tuple: &Tuple, computed: &[RowAtom]) -> bool {
    tuple.invariant().all(|atom| conjoin(zone, atom)) && computed.iter().all(|&atom| conjoin(zone, atom))
}

/// Adds one bound; false if the result is empty.
#[inline]
pub(super) fn conjoin(zone: &mut Dbm, (left, right, bound): RowAtom) -> bool {
    if left == right {
        return bound >= Bound::ZERO;
    }
    zone.conjoin(left as usize, right as usize, bound)
}

/// Evaluates the part of a tuple's invariant that depends on variables; false if a condition
/// without clocks fails.
pub(super) fn invariant<'a>(
    machine: &mut Machine<'a>,
    network: &'a Network,
    tables: &'a Tables,
    tuple: &Tuple,
    out: &mut Vec<RowAtom>,
) -> Outcome<bool> {
    out.clear();
    for &process in tuple.members.computed() {
        let location = machine.locations[process as usize];
        let slot = tables.slot(process as usize, location);
        let invariant = &network.processes[process as usize].locations[location as usize].invariant;
        machine.enter_condition(slot.locals as usize);
        for condition in &invariant.data {
            if !machine.holds(condition)? {
                return Ok(false);
            }
        }
        for &index in &slot.invariant.computed {
            let atom = super::fire::evaluate(machine, &invariant.clocks[index as usize])?;
            if let Some((left, right, bound)) = atom
                && let (Some(left), Some(right)) = (tuple.row(left), tuple.row(right))
            {
                out.push((left, right, bound));
            }
        }
    }
    Ok(true)
}
