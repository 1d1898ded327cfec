//! The semantics of discrete states, written for clarity rather than speed: which edges may be
//! taken together, and when time may pass.

use super::demands::clock;
use crate::evaluate::{Fault, FaultKind, Machine, Outcome, atom_frame_size, frame_size};
use crate::network::{
    Channel, ChannelCell, ClockAtom, Edge, EventId, Location, LocationId, Network, Participant, Place,
    ProcessId, Sync,
};
use crate::query::Condition;

/// `left - right <= bound`, or `<` if strict; an absent clock is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) left: Option<usize>,
    pub(super) right: Option<usize>,
    pub(super) bound: i64,
    pub(super) strict: bool,
}

/// When time may pass.
pub(super) enum Waiting {
    /// Not at all.
    Never,
    /// Not at moments at which all comparisons of one of these lists hold. No list is empty.
    Unless(Vec<Vec<Comparison>>),
}

pub(super) fn fail(message: impl Into<String>, place: &Place) -> Box<Fault> {
    Box::new(Fault { message: message.into(), place: place.clone(), kind: FaultKind::Model })
}

/// A machine in an initial state.
pub(super) fn start<'n>(network: &'n Network, initial: &[LocationId]) -> Machine<'n> {
    let mut machine = Machine::new(network);
    for (location, chosen) in machine.locations.iter_mut().zip(initial) {
        *location = chosen.0;
    }
    machine
}

pub(super) fn edge(network: &Network, process: ProcessId, index: u32) -> Outcome<&Edge> {
    let edges = network.processes.get(process.0 as usize).map(|process| &process.edges);
    edges.and_then(|edges| edges.get(index as usize)).ok_or_else(|| fail("there is no such edge", &(0..0)))
}

/// The locations of the processes.
pub(super) fn locations<'n>(network: &'n Network, machine: &Machine<'_>) -> Vec<&'n Location> {
    let at =
        |(process, &location): (&'n crate::network::Process, &u32)| &process.locations[location as usize];
    network.processes.iter().zip(&machine.locations).map(at).collect()
}

/// Evaluates an atom; `None` if the atom is conditional and its condition does not hold.
pub(super) fn compare(machine: &mut Machine<'_>, atom: &ClockAtom) -> Outcome<Option<Comparison>> {
    if let Some(when) = &atom.when
        && !machine.holds(when)?
    {
        return Ok(None);
    }
    let left = clock(machine, atom.left.as_ref(), atom)?;
    let right = clock(machine, atom.right.as_ref(), atom)?;
    let bound = i64::from(machine.value(&atom.bound)?);
    Ok(Some(Comparison { left, right, bound, strict: atom.strict }))
}

/// The bounds on clocks in the guard of an edge.
pub(super) fn guard<'n>(machine: &mut Machine<'n>, edge: &'n Edge) -> Outcome<Vec<Comparison>> {
    machine.enter(&edge.locals);
    let mut all = Vec::with_capacity(edge.guard.clocks.len());
    for atom in &edge.guard.clocks {
        all.extend(compare(machine, atom)?);
    }
    Ok(all)
}

/// Whether an edge leaves its process's current location and the part of its guard on variables
/// holds.
pub(super) fn enabled<'n>(machine: &mut Machine<'n>, process: usize, edge: &'n Edge) -> Outcome<bool> {
    if machine.locations[process] != edge.source.0 {
        return Ok(false);
    }
    machine.enter(&edge.locals);
    for condition in &edge.guard.data {
        if !machine.holds(condition)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The channel that an edge uses in this state.
pub(super) fn channel<'n>(machine: &mut Machine<'n>, edge: &'n Edge, cell: &ChannelCell) -> Outcome<usize> {
    machine.enter(&edge.locals);
    let offset = match &cell.offset {
        Some(offset) => machine.value(offset)?,
        None => 0,
    };
    Ok((i64::from(cell.base.0) + i64::from(offset)) as usize)
}

/// When time may pass: not in an urgent or committed location, and not while a synchronisation on
/// an urgent channel is possible.
pub(super) fn waiting<'n>(network: &'n Network, machine: &mut Machine<'n>) -> Outcome<Waiting> {
    if locations(network, machine).iter().any(|location| location.urgent || location.committed) {
        return Ok(Waiting::Never);
    }
    let mut stops = Vec::new();
    if !network.channels.iter().any(|channel| channel.urgent) {
        return Ok(Waiting::Unless(stops));
    }
    for (sender, process) in network.processes.iter().enumerate() {
        for edge in &process.edges {
            let Sync::Send(cell) = &edge.sync else { continue };
            if !enabled(machine, sender, edge)? {
                continue;
            }
            let sent = channel(machine, edge, cell)?;
            let Channel { urgent, broadcast, .. } = network.channels[sent];
            if !urgent {
                continue;
            }
            let own = guard(machine, edge)?;
            if broadcast {
                stops.push(own);
                continue;
            }
            for (_, receiver) in receivers(network, machine, sender, sent)? {
                stops.push(own.iter().copied().chain(guard(machine, receiver)?).collect());
            }
        }
    }
    Ok(if stops.iter().any(Vec::is_empty) { Waiting::Never } else { Waiting::Unless(stops) })
}

/// Edges of other processes that variables and locations let receive on a channel now.
fn receivers<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    sender: usize,
    sent: usize,
) -> Outcome<Vec<(usize, &'n Edge)>> {
    let mut found = Vec::new();
    for (receiver, process) in network.processes.iter().enumerate().filter(|(index, _)| *index != sender) {
        for edge in &process.edges {
            if let Sync::Receive(cell) = &edge.sync
                && enabled(machine, receiver, edge)?
                && channel(machine, edge, cell)? == sent
            {
                found.push((receiver, edge));
            }
        }
    }
    Ok(found)
}

/// The clock guards of those edges that would receive a broadcast, but whose processes do not take
/// part. None of the guards may hold.
pub(super) fn absent<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    participants: &[(ProcessId, u32)],
) -> Outcome<Vec<Vec<Comparison>>> {
    let Some(&(first, index)) = participants.first() else { return Ok(Vec::new()) };
    let leading = edge(network, first, index)?;
    let Sync::Send(cell) = &leading.sync else { return Ok(Vec::new()) };
    let sent = channel(machine, leading, cell)?;
    if !network.channels[sent].broadcast {
        return Ok(Vec::new());
    }
    let mut guards = Vec::new();
    for (process, edge) in receivers(network, machine, first.0 as usize, sent)? {
        if !participants.iter().any(|(taking_part, _)| taking_part.0 as usize == process) {
            guards.push(guard(machine, edge)?);
        }
    }
    Ok(guards)
}

/// Checks that variables and locations let these edges be taken together now.
pub(super) fn together<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    participants: &[(ProcessId, u32)],
) -> Outcome<()> {
    let mut edges = Vec::new();
    // The ticker moves along with any transition.
    let participants = participants.iter().filter(|(process, _)| Some(*process) != network.ticker);
    for &(process, index) in participants.clone() {
        let edge = edge(network, process, index)?;
        if !enabled(machine, process.0 as usize, edge)? {
            return Err(fail("an edge is not enabled", &edge.place));
        }
        edges.push((process, edge));
    }
    let Some(&(first, leading)) = edges.first() else {
        return Err(fail("a transition needs an edge", &(0..0)));
    };
    let committed = |process: ProcessId, machine: &Machine<'_>| {
        network.processes[process.0 as usize].locations[machine.locations[process.0 as usize] as usize]
            .committed
    };
    let some_committed =
        (0..network.processes.len()).any(|process| committed(ProcessId(process as u32), machine));
    if some_committed && !edges.iter().any(|&(process, _)| committed(process, machine)) {
        return Err(fail("a committed location must be left first", &leading.place));
    }
    let synchronised = match &leading.sync {
        Sync::Internal => edges.len() == 1,
        Sync::Event(_) => events(network, machine, &edges),
        Sync::Receive(_) => false,
        Sync::Send(cell) => {
            let sent = channel(machine, leading, cell)?;
            for &(_, receiver) in &edges[1..] {
                let Sync::Receive(cell) = &receiver.sync else {
                    return Err(fail("only receivers can follow a sender", &receiver.place));
                };
                if channel(machine, receiver, cell)? != sent {
                    return Err(fail("sender and receiver use different channels", &receiver.place));
                }
            }
            let mut partners: Vec<usize> = edges[1..].iter().map(|(process, _)| process.0 as usize).collect();
            if network.channels[sent].broadcast {
                // A process that does not take part must be unable to; only its clock guards may
                // ensure that.
                let taking_part: Vec<(ProcessId, u32)> = participants.copied().collect();
                partners.sort_unstable();
                partners.windows(2).all(|pair| pair[0] != pair[1])
                    && !partners.contains(&(first.0 as usize))
                    && absent(network, machine, &taking_part)?.iter().all(|guard| !guard.is_empty())
            } else {
                partners.len() == 1 && partners[0] != first.0 as usize
            }
        }
    };
    if synchronised { Ok(()) } else { Err(fail("these edges are not taken together", &leading.place)) }
}

/// Whether the events are those of a vector, with every weak participant that can take part, or a
/// single event that no vector mentions.
fn events(network: &Network, machine: &Machine<'_>, edges: &[(ProcessId, &Edge)]) -> bool {
    let event = |edge: &Edge| match edge.sync {
        Sync::Event(event) => Some(event),
        _ => None,
    };
    let taken: Vec<(ProcessId, Option<EventId>)> =
        edges.iter().map(|&(process, edge)| (process, event(edge))).collect();
    let proper = || network.vectors.iter().filter(|vector| vector.len() > 1);
    let can = |participant: &Participant| {
        let process = &network.processes[participant.process.0 as usize];
        let location = machine.locations[participant.process.0 as usize];
        process.edges.iter().any(|edge| edge.source.0 == location && event(edge) == Some(participant.event))
    };
    let fits = |vector: &Vec<Participant>| {
        let members: Vec<_> = vector.iter().filter(|one| !one.weak || can(one)).collect();
        members.len() == taken.len()
            && members
                .iter()
                .zip(&taken)
                .all(|(one, &(process, event))| one.process == process && Some(one.event) == event)
    };
    let mentioned = |&(process, event): &(ProcessId, Option<EventId>)| {
        proper().flatten().any(|one| one.process == process && Some(one.event) == event)
    };
    if taken.len() == 1 && !mentioned(&taken[0]) { true } else { proper().any(fits) }
}

/// Executes the updates of a transition and moves the processes. The updates of clocks can be
/// queried until [`settle`] is called.
pub(super) fn update<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    participants: &[(ProcessId, u32)],
) -> Outcome<()> {
    for &(process, index) in participants {
        let edge = edge(network, process, index)?;
        machine.enter(&edge.locals);
        machine.execute(&edge.update)?;
    }
    for &(process, index) in participants {
        machine.locations[process.0 as usize] = edge(network, process, index)?.target.0;
    }
    Ok(())
}

/// Commits the updates. Meta variables return to their initial values.
pub(super) fn settle(network: &Network, machine: &mut Machine<'_>) {
    let cells = machine.cells.clone();
    machine.undo();
    machine.cells = cells;
    for (cell, variable) in machine.cells.iter_mut().zip(&network.variables) {
        if variable.meta {
            *cell = variable.initial;
        }
    }
}

/// Number of local cells that an invariant uses.
pub(super) fn invariant_frame(network: &Network, location: &Location) -> usize {
    let data = location.invariant.data.iter().map(|part| frame_size(network, part));
    let clocks = location.invariant.clocks.iter().map(|atom| atom_frame_size(network, atom));
    data.chain(clocks).max().unwrap_or(0)
}

/// Which clocks run in a state.
pub(super) fn running(machine: &mut Machine<'_>) -> Outcome<Vec<bool>> {
    let mut runs = Vec::new();
    machine.find_running(&mut runs)?;
    Ok(runs)
}

/// Number of local cells that a condition uses.
pub(super) fn condition_frame(network: &Network, condition: &Condition) -> usize {
    match condition {
        Condition::Data(expression) => frame_size(network, expression),
        Condition::Clock(atom) => atom_frame_size(network, atom),
        Condition::Not(part) => condition_frame(network, part),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().map(|part| condition_frame(network, part)).max().unwrap_or(0)
        }
        Condition::Deadlock | Condition::Rate(_) => 0,
    }
}
