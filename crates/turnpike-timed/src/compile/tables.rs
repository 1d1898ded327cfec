//! Precomputed tables of a network, by process and location: which edges, which vectors, which
//! channels.
//!
//! A *slot* is a location of a process. With these lists a step visits the current slots only,
//! never all edges or all vectors.

use std::ops::Range;

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use crate::compile::analysis::Bounds;
use crate::evaluate::{atom_frame_size, frame_size};
use crate::network::{
    Binary, Cells, ChannelCell, ClockAtom, ClockValue, Constraint, EventId, Expression, LocationId, Network,
    ProcessId, Space, Statement, Sync, Unary,
};
use crate::zone::Bound;

/// A range of [`Tables::lists`].
pub(crate) type List = Range<u32>;

/// A bound on a difference of clocks; 0 is the constant zero, clock `c` is `c + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedAtom {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) bound: Bound,
}

/// The clock part of a constraint, with constant bounds separated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atoms {
    pub(crate) fixed: Vec<FixedAtom>,
    /// Indices of the constraint's atoms that depend on variables.
    pub(crate) computed: Vec<u32>,
}

/// An edge, by its number among all edges of the network.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) process: u32,
    /// Position among the edges of its process.
    pub(crate) index: u32,
    pub(crate) source: u32,
    pub(crate) target: u32,
    /// Whether the guard contains no variables.
    pub(crate) open: bool,
    /// Whether the guard contains clocks.
    pub(crate) timed: bool,
    /// Whether evaluating the guard's variables cannot fail.
    pub(crate) sure: bool,
    /// Whether locations determine the update's effect on clocks.
    pub(crate) steady: bool,
    /// The assignments of constants to cells and clocks, in order, if the update consists only of
    /// those and cannot fail.
    pub(crate) numbers: Option<Numbers>,
    /// The guard's conditions on variables, if they only compare cells.
    pub(crate) tests: Option<Box<[Test]>>,
    pub(crate) guard: Atoms,
    /// The channel, if it does not depend on variables.
    pub(crate) channel: Option<u32>,
}

/// Constants that an edge assigns.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) cells: Box<[(u32, i32)]>,
    pub(crate) clocks: Box<[(u32, i32)]>,
}

/// A location of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot {
    pub(crate) process: u32,
    pub(crate) location: u32,
    /// The first location of the process with the same effect on clocks and time, see
    /// [`Tables::find_kinds`].
    pub(crate) kind: u32,
    pub(crate) committed: bool,
    pub(crate) urgent: bool,
    pub(crate) invariant: Atoms,
    /// Whether the invariant contains variables.
    pub(crate) computed: bool,
    /// Number of local cells that the invariant uses.
    pub(crate) locals: u32,
    /// Edges that are taken alone or initiate a synchronisation on a channel, in order.
    pub(crate) starts: List,
    /// Edges that accompany every transition.
    pub(crate) alongs: List,
    /// Edges that receive.
    pub(crate) receives: List,
    /// Edges that send on a channel that is or may be urgent.
    pub(crate) urgent_sends: List,
    /// Vectors whose first mandatory participant is this process, and it can take part.
    pub(crate) watched: List,
}

impl Slot {
    /// 1 if time cannot pass here, else 0.
    pub(crate) fn stops_time(&self) -> u32 {
        u32::from(self.urgent || self.committed)
    }
}

/// A position of a vector.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) process: u32,
    pub(crate) weak: bool,
    /// Index of the first entry of [`Tables::seat_edges`]: one per location.
    pub(crate) first: u32,
}

/// The lists of a network.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: Vec<Slot>,
    /// First slot of each process.
    pub(crate) first_slot: Vec<u32>,
    first_edge: Vec<u32>,
    pub(crate) lists: Vec<u32>,
    pub(crate) vectors: Vec<Vec<Seat>>,
    pub(crate) seat_edges: Vec<List>,
    /// Vectors without mandatory participants.
    pub(crate) voluntary: Vec<u32>,
    /// By channel: the processes with an edge that can receive on it. Only for urgent channels.
    pub(crate) receivers: Vec<Vec<u32>>,
    /// By channel: the edges that receive on it, if that does not depend on variables. Only for
    /// networks with channels.
    pub(crate) receiving: Vec<List>,
    /// The channels of some receiving edges depend on variables.
    pub(crate) has_unknown_receivers: bool,
    /// The guards of initiating edges on variables never fail to evaluate.
    pub(crate) sure_starts: bool,
    pub(crate) has_receivers: bool,
    /// The processes with an edge that sends on a channel that is or may be urgent.
    pub(crate) urgent_senders: Vec<u32>,
    pub(crate) has_urgent: bool,
    /// Whether clocks decide when a synchronisation on an urgent channel is possible.
    pub(crate) has_timed_urgency: bool,
    pub(crate) has_priorities: bool,
}

impl Tables {
    pub(crate) fn new(network: &Network) -> Result<Tables, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut tables = Tables::default();
        // If functions assign clocks, assume that any call may.
        let resets = network.functions.iter().any(|function| clocks_in(&function.body));
        let steady = |statement: &Statement| {
            is_reset(statement) || !resets && !clocks_in(std::slice::from_ref(statement))
        };
        for (process, id) in network.processes.iter().zip(0..) {
            tables.first_slot.push(tables.slots.len() as u32);
            tables.first_edge.push(tables.steps.len() as u32);
            for (location, number) in process.locations.iter().zip(0..) {
                let invariant = atoms(&location.invariant, &mut errors);
                let data = location.invariant.data.iter().map(|part| frame_size(network, part));
                let clocks = location.invariant.clocks.iter().map(|atom| atom_frame_size(network, atom));
                tables.slots.push(Slot {
                    process: id,
                    location: number,
                    kind: number,
                    committed: location.committed,
                    urgent: location.urgent,
                    computed: !invariant.computed.is_empty() || !location.invariant.data.is_empty(),
                    locals: data.chain(clocks).max().unwrap_or(0) as u32,
                    invariant,
                    ..Slot::default()
                });
            }
            for (edge, index) in process.edges.iter().zip(0..) {
                let channel = match &edge.sync {
                    Sync::Send(cell) | Sync::Receive(cell) => known_channel(cell),
                    Sync::Internal | Sync::Event(_) => None,
                };
                tables.steps.push(Step {
                    process: id,
                    index,
                    source: edge.source.0,
                    target: edge.target.0,
                    open: edge.guard.data.is_empty(),
                    timed: !edge.guard.clocks.is_empty(),
                    sure: edge.guard.data.iter().all(is_sure),
                    steady: edge.update.iter().all(steady),
                    numbers: numbers(network, &edge.update),
                    tests: edge.guard.data.iter().map(Test::of).collect(),
                    guard: atoms(&edge.guard, &mut errors),
                    channel,
                });
            }
        }
        if network.by_events() {
            tables.add_events(network);
        } else {
            tables.add_channels(network);
        }
        if let Some(ticker) = network.ticker {
            tables.in_slots(network, ticker.0 as usize, |_| true, |slot, list| slot.alongs = list);
        }
        let first = network.processes.first().map_or(0, |process| process.priority);
        tables.has_priorities =
            network.channels.iter().any(|channel| channel.priority != network.default_priority)
                || network.processes.iter().any(|process| process.priority != first);
        if errors.is_empty() { Ok(tables) } else { Err(errors) }
    }

    /// The slot of a process in a location.
    #[inline]
    pub(crate) fn slot(&self, process: usize, location: u32) -> &Slot {
        &self.slots[self.slot_number(process, location) as usize]
    }

    /// The number of the slot of a process in a location.
    #[inline]
    pub(crate) fn slot_number(&self, process: usize, location: u32) -> u32 {
        self.first_slot[process] + location
    }

    /// The slot that represents all slots of the process with the same effect on clocks and time.
    #[inline]
    pub(crate) fn kind(&self, slot: &Slot) -> u32 {
        self.slot_number(slot.process as usize, slot.kind)
    }

    #[inline]
    pub(crate) fn list(&self, list: &List) -> &[u32] {
        &self.lists[list.start as usize..list.end as usize]
    }

    /// The edges of a process in a location for its seat.
    #[inline]
    pub(crate) fn seat(&self, seat: &Seat, location: u32) -> &List {
        &self.seat_edges[(seat.first + location) as usize]
    }

    /// Lists the edges of a process that are `wanted` by source location, in order.
    fn by_location(
        &mut self,
        network: &Network,
        process: usize,
        wanted: impl Fn(&Sync) -> bool,
        mut set: impl FnMut(&mut Tables, u32, List),
    ) {
        let mut found: Vec<(u32, u32)> = network.processes[process]
            .edges
            .iter()
            .zip(self.first_edge[process]..)
            .filter(|(edge, _)| wanted(&edge.sync))
            .map(|(edge, id)| (edge.source.0, id))
            .collect();
        found.sort_unstable();
        for group in found.chunk_by(|one, other| one.0 == other.0) {
            let start = self.lists.len() as u32;
            self.lists.extend(group.iter().map(|&(_, id)| id));
            let list = start..self.lists.len() as u32;
            set(self, group[0].0, list);
        }
    }

    /// The same, storing a list in each slot.
    fn in_slots(
        &mut self,
        network: &Network,
        process: usize,
        wanted: impl Fn(&Sync) -> bool,
        set: impl Fn(&mut Slot, List),
    ) {
        let first = self.first_slot[process];
        self.by_location(network, process, wanted, |tables, location, list| {
            set(&mut tables.slots[(first + location) as usize], list);
        });
    }

    /// Lists the edges of a process for an event by location; returns the index of the first list.
    fn seat_lists(&mut self, network: &Network, process: usize, event: EventId) -> u32 {
        let first = self.seat_edges.len();
        self.seat_edges.resize(first + network.processes[process].locations.len(), 0..0);
        let wanted = |sync: &Sync| *sync == Sync::Event(event);
        self.by_location(network, process, wanted, |tables, location, list| {
            tables.seat_edges[first + location as usize] = list;
        });
        first as u32
    }

    fn add_events(&mut self, network: &Network) {
        // An edge either takes part in vectors or is taken alone.
        let mut shared: Vec<(ProcessId, EventId)> = network
            .vectors
            .iter()
            .filter(|vector| vector.len() > 1)
            .flatten()
            .map(|participant| (participant.process, participant.event))
            .collect();
        shared.sort_unstable();
        shared.dedup();
        let mut watched: Vec<(u32, u32)> = Vec::new();
        // Several vectors may have seats for the same event of a process: its edges are listed
        // once.
        let mut seats: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for vector in &network.vectors {
            if vector.len() < 2 {
                continue;
            }
            let id = self.vectors.len() as u32;
            let mut row = Vec::new();
            for participant in vector {
                let (process, event) = (participant.process.0, participant.event.0);
                let first = match seats.get(&(process, event)) {
                    Some(&first) => first,
                    None => {
                        let first = self.seat_lists(network, process as usize, participant.event);
                        seats.insert((process, event), first);
                        first
                    }
                };
                row.push(Seat { process, weak: participant.weak, first });
            }
            match row.iter().find(|seat| !seat.weak) {
                None => self.voluntary.push(id),
                Some(seat) => {
                    let automaton = &network.processes[seat.process as usize];
                    for location in 0..automaton.locations.len() as u32 {
                        if !self.seat(seat, location).is_empty() {
                            watched.push((self.first_slot[seat.process as usize] + location, id));
                        }
                    }
                }
            }
            self.vectors.push(row);
        }
        watched.sort_unstable();
        for group in watched.chunk_by(|one, other| one.0 == other.0) {
            let start = self.lists.len() as u32;
            self.lists.extend(group.iter().map(|&(_, vector)| vector));
            self.slots[group[0].0 as usize].watched = start..self.lists.len() as u32;
        }
        for process in 0..own_process_count(network) {
            let alone = |sync: &Sync| match sync {
                Sync::Event(event) => shared.binary_search(&(ProcessId(process as u32), *event)).is_err(),
                _ => true,
            };
            self.in_slots(network, process, alone, |slot, list| slot.starts = list);
        }
    }

    fn add_channels(&mut self, network: &Network) {
        let urgent = |cell: &ChannelCell| match known_channel(cell) {
            Some(channel) => network.channels[channel as usize].urgent,
            // Cells of an array share one declaration, so the first stands for all.
            None => network.channels[cell.base.0 as usize].urgent,
        };
        self.receivers = vec![Vec::new(); network.channels.len()];
        self.add_receiving(network);
        for process in 0..own_process_count(network) {
            let receives = |sync: &Sync| matches!(sync, Sync::Receive(_));
            self.in_slots(network, process, |sync| !receives(sync), |slot, list| slot.starts = list);
            self.in_slots(network, process, receives, |slot, list| slot.receives = list);
            let sends = |sync: &Sync| matches!(sync, Sync::Send(cell) if urgent(cell));
            self.in_slots(network, process, sends, |slot, list| slot.urgent_sends = list);
            for edge in &network.processes[process].edges {
                let (Sync::Send(cell) | Sync::Receive(cell)) = &edge.sync else { continue };
                let receiving = receives(&edge.sync);
                self.has_receivers |= receiving;
                if urgent(cell) {
                    self.has_urgent = true;
                    if !receiving {
                        add(&mut self.urgent_senders, process);
                    }
                    if receiving {
                        match known_channel(cell) {
                            Some(channel) => add(&mut self.receivers[channel as usize], process),
                            None => {
                                for receivers in &mut self.receivers[cell.base.0 as usize..] {
                                    add(receivers, process);
                                }
                            }
                        }
                    }
                }
                self.has_timed_urgency |= urgent(cell) && !edge.guard.clocks.is_empty();
            }
        }
    }
}

impl Tables {
    /// Lists the receiving edges by channel.
    fn add_receiving(&mut self, network: &Network) {
        let mut found: Vec<(u32, u32)> = Vec::new();
        self.sure_starts = true;
        for (step, number) in self.steps.iter().zip(0..) {
            let edge = &network.processes[step.process as usize].edges[step.index as usize];
            match (&edge.sync, step.channel) {
                (Sync::Receive(_), Some(channel)) => found.push((channel, number)),
                (Sync::Receive(_), None) => self.has_unknown_receivers = true,
                _ => self.sure_starts &= step.sure,
            }
        }
        found.sort_unstable();
        self.receiving = vec![0..0; network.channels.len()];
        for group in found.chunk_by(|one, other| one.0 == other.0) {
            let start = self.lists.len() as u32;
            self.lists.extend(group.iter().map(|&(_, step)| step));
            self.receiving[group[0].0 as usize] = start..self.lists.len() as u32;
        }
    }

    /// Finds locations of a process with the same effect on clocks and time: moving between them
    /// changes nothing that zones depend on.
    pub(crate) fn find_kinds(&mut self, bounds: &Bounds) {
        let contribution = |slot: &Slot| {
            let local = bounds.at(ProcessId(slot.process), LocationId(slot.location));
            (local, slot.invariant.fixed.clone(), slot.computed, slot.committed, slot.urgent)
        };
        for first in 0..self.first_slot.len() {
            let start = self.first_slot[first] as usize;
            let end = self.first_slot.get(first + 1).map_or(self.slots.len(), |&next| next as usize);
            // Most processes have few locations; in others only nearby ones are compared.
            for at in start + 1..end {
                let own = contribution(&self.slots[at]);
                let alike = |&other: &usize| contribution(&self.slots[other]) == own;
                if let Some(other) = (at.saturating_sub(COMPARED).max(start)..at).find(alike) {
                    self.slots[at].kind = self.slots[other].kind;
                }
            }
        }
    }
}

/// Number of locations that a location is compared with, see [`Tables::find_kinds`].
const COMPARED: usize = 64;

/// The number of processes without the ticker.
fn own_process_count(network: &Network) -> usize {
    network.processes.len() - usize::from(network.ticker.is_some())
}

fn add(list: &mut Vec<u32>, process: usize) {
    if list.last() != Some(&(process as u32)) {
        list.push(process as u32);
    }
}

fn known_channel(cell: &ChannelCell) -> Option<u32> {
    match cell.offset {
        None => Some(cell.base.0),
        Some(Expression::Constant(offset)) => u32::try_from(offset).ok().map(|offset| cell.base.0 + offset),
        Some(_) => None,
    }
}

/// A comparison of a cell with a number or with another cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    operator: Binary,
    left: u32,
    right: i32,
    /// Whether the right side is a cell.
    cells: bool,
}

impl Test {
    fn of(expression: &Expression) -> Option<Test> {
        let cell = |side: &Expression| match side {
            Expression::Read(Cells { space: Space::Global, base, offset: None, .. }) => Some(*base),
            _ => None,
        };
        let unequal = |left: u32, operator| Test { operator, left, right: 0, cells: false };
        let (operator, left, right) = match expression {
            Expression::Binary(operator, left, right, _) => (*operator, &**left, &**right),
            Expression::Unary(Unary::Not, part) => return Some(unequal(cell(part)?, Binary::Equal)),
            part => return Some(unequal(cell(part)?, Binary::NotEqual)),
        };
        let mirrored = match operator {
            Binary::Less => Binary::Greater,
            Binary::LessEqual => Binary::GreaterEqual,
            Binary::Greater => Binary::Less,
            Binary::GreaterEqual => Binary::LessEqual,
            Binary::Equal | Binary::NotEqual => operator,
            _ => return None,
        };
        match (left, right) {
            (Expression::Constant(number), other) => {
                Some(Test { operator: mirrored, left: cell(other)?, right: *number, cells: false })
            }
            (one, Expression::Constant(number)) => {
                Some(Test { operator, left: cell(one)?, right: *number, cells: false })
            }
            (one, other) => {
                let (left, right) = (cell(one)?, i32::try_from(cell(other)?).ok()?);
                Some(Test { operator, left, right, cells: true })
            }
        }
    }

    #[inline]
    pub(crate) fn holds(self, cells: &[i32]) -> bool {
        let left = cells[self.left as usize];
        let right = if self.cells { cells[self.right as usize] } else { self.right };
        match self.operator {
            Binary::Less => left < right,
            Binary::LessEqual => left <= right,
            Binary::Equal => left == right,
            Binary::NotEqual => left != right,
            Binary::GreaterEqual => left >= right,
            _ => left > right,
        }
    }
}

/// The constants that statements assign, if they only assign constants to cells and clocks and all
/// are in range.
fn numbers(network: &Network, statements: &[Statement]) -> Option<Numbers> {
    let (mut cells, mut clocks) = (Vec::new(), Vec::new());
    for statement in statements {
        match statement {
            Statement::Assign {
                target: Cells { space: Space::Global, base, offset: None, .. },
                value: Expression::Constant(value),
                ..
            } => {
                let variable = network.variables.get(*base as usize)?;
                if !(variable.low..=variable.high).contains(value) {
                    return None;
                }
                cells.push((*base, *value));
            }
            Statement::Clock { clock, value: ClockValue::Constant(Expression::Constant(value)), .. }
                if is_reset(statement) =>
            {
                clocks.push((clock.base.0, *value));
            }
            _ => return None,
        }
    }
    Some(Numbers { cells: cells.into(), clocks: clocks.into() })
}

/// Whether an expression can be evaluated in every state.
fn is_sure(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Read(Cells { space: Space::Global, offset: None, .. }) => true,
        Expression::Unary(Unary::Not, part) => is_sure(part),
        Expression::Binary(operator, left, right, _) => {
            operator.is_truth() && is_sure(left) && is_sure(right)
        }
        _ => false,
    }
}

/// Whether a statement assigns a constant to a fixed clock.
fn is_reset(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Clock { clock, value: ClockValue::Constant(Expression::Constant(value)), .. }
            if clock.offset.is_none() && (0..Bound::LIMIT).contains(value)
    )
}

/// Whether some of these statements assign clocks, not counting called functions.
fn clocks_in(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Clock { .. } => true,
        Statement::If(_, yes, no) => clocks_in(yes) || clocks_in(no),
        Statement::While(_, body, _) | Statement::For { body, .. } => clocks_in(body),
        _ => false,
    })
}

/// Separates constant bounds from those that depend on variables.
fn atoms(constraint: &Constraint, errors: &mut Vec<Diagnostic>) -> Atoms {
    let mut atoms = Atoms::default();
    for (atom, index) in constraint.clocks.iter().zip(0..) {
        match fixed(atom) {
            None => atoms.computed.push(index),
            Some((left, right, value)) => match bound(value, atom.strict) {
                Some(bound) => atoms.fixed.push(FixedAtom { left, right, bound }),
                None => errors.push(too_large(value).at(atom.place.clone(), "compared with a clock here")),
            },
        }
    }
    atoms
}

fn too_large(value: i32) -> Diagnostic {
    Diagnostic::error(format!("{value} is too large to be compared with a clock"))
        .help(format!("bounds must be smaller than {}", Bound::LIMIT))
}

fn fixed(atom: &ClockAtom) -> Option<(u32, u32, i32)> {
    let clock = |cell: &Option<crate::network::ClockCell>| match cell {
        None => Some(0),
        Some(cell) if cell.offset.is_none() => Some(cell.base.0 + 1),
        Some(_) => None,
    };
    match (&atom.when, &atom.bound) {
        (None, Expression::Constant(value)) => Some((clock(&atom.left)?, clock(&atom.right)?, *value)),
        _ => None,
    }
}

/// The packed bound, if the number is small enough.
#[inline]
pub(crate) fn bound(value: i32, strict: bool) -> Option<Bound> {
    if value >= Bound::LIMIT || value <= -Bound::LIMIT {
        return None;
    }
    Some(if strict { Bound::strict(value) } else { Bound::weak(value) })
}
