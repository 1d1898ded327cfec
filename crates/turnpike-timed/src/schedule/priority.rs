//! Priorities: a transition is not taken at a moment at which a higher one is possible.
//!
//! A rival of higher priority is a list of bounds that must not all hold. This disjunction is not a
//! demand on moments, but the negation of each bound is. So one bound to violate is chosen per
//! rival, by backtracking, and only for rivals that the earliest moments allow.

use super::Times;
use super::demands::{Demand, Demands};
use super::rules::{channel, enabled};
use super::solve::solve;
use crate::evaluate::{Machine, Outcome};
use crate::network::{Edge, Network, Participant, ProcessId, Sync};

/// The edges of a transition.
type Together = Vec<(ProcessId, u32)>;

/// The priority of the channel, then the highest among the processes.
type Level = (u32, u32);

/// Limit on the systems of demands that are solved.
const BUDGET: usize = 10_000;

/// Whether any priorities differ.
pub(super) fn is_used(network: &Network) -> bool {
    let first = network.processes.first().map_or(0, |process| process.priority);
    network.channels.iter().any(|channel| channel.priority != network.default_priority)
        || network.processes.iter().any(|process| process.priority != first)
}

/// The transitions of higher priority that variables and locations enable now.
pub(super) fn rivals<'n>(
    network: &'n Network,
    machine: &mut Machine<'n>,
    participants: &[(ProcessId, u32)],
) -> Outcome<Vec<Together>> {
    let own: Together =
        participants.iter().copied().filter(|(process, _)| Some(*process) != network.ticker).collect();
    let level = level(network, machine, &own)?;
    let mut higher = Vec::new();
    for other in transitions(network, machine)? {
        if self::level(network, machine, &other)? > level {
            higher.push(other);
        }
    }
    Ok(higher)
}

fn edge(network: &Network, (process, index): (ProcessId, u32)) -> &Edge {
    &network.processes[process.0 as usize].edges[index as usize]
}

fn level<'n>(network: &'n Network, machine: &mut Machine<'n>, together: &Together) -> Outcome<Level> {
    let processes = together.iter().map(|(process, _)| network.processes[process.0 as usize].priority);
    let processes = processes.max().unwrap_or(0);
    let leading = together.first().map(|&first| edge(network, first));
    let of_channel = match leading.map(|edge| (&edge.sync, edge)) {
        Some((Sync::Send(cell), edge)) => {
            let sent = channel(machine, edge, cell)?;
            network.channels.get(sent).map_or(network.default_priority, |channel| channel.priority)
        }
        _ => network.default_priority,
    };
    Ok((of_channel, processes))
}

/// All transitions that variables and locations enable.
fn transitions<'n>(network: &'n Network, machine: &mut Machine<'n>) -> Outcome<Vec<Together>> {
    let mut open: Vec<(ProcessId, u32)> = Vec::new();
    for (process, id) in network.processes.iter().zip(0..) {
        for (edge, index) in process.edges.iter().zip(0..) {
            if Some(ProcessId(id)) != network.ticker && enabled(machine, id as usize, edge)? {
                open.push((ProcessId(id), index));
            }
        }
    }
    let mut found = Vec::new();
    let proper = || network.vectors.iter().filter(|vector| vector.len() > 1);
    for &one in &open {
        match &edge(network, one).sync {
            Sync::Internal => found.push(vec![one]),
            Sync::Event(event) => {
                let same = |part: &Participant| (part.process, part.event) == (one.0, *event);
                if !proper().flatten().any(same) {
                    found.push(vec![one]);
                }
            }
            Sync::Receive(_) => {}
            Sync::Send(cell) => {
                let sent = channel(machine, edge(network, one), cell)?;
                let mut receivers = Vec::new();
                for &other in open.iter().filter(|other| other.0 != one.0) {
                    if let Sync::Receive(cell) = &edge(network, other).sync
                        && channel(machine, edge(network, other), cell)? == sent
                    {
                        receivers.push(other);
                    }
                }
                if network.channels.get(sent).is_some_and(|channel| channel.broadcast) {
                    let by_process = receivers.chunk_by(|one, other| one.0 == other.0);
                    found.extend(by_process.fold(vec![vec![one]], |lists, choices| {
                        // A process whose edges all have clock guards may be absent.
                        let timed = |&one: &(ProcessId, u32)| !edge(network, one).guard.clocks.is_empty();
                        let mut absent = lists.clone();
                        absent.retain(|_| choices.iter().all(timed));
                        let mut all = product(lists, choices);
                        all.append(&mut absent);
                        all
                    }));
                } else {
                    found.extend(receivers.into_iter().map(|other| vec![one, other]));
                }
            }
        }
    }
    for vector in proper() {
        let mut lists = vec![Vec::new()];
        for part in vector {
            let here = |edge: &Edge| {
                edge.sync == Sync::Event(part.event)
                    && edge.source.0 == machine.locations[part.process.0 as usize]
            };
            if part.weak && !network.processes[part.process.0 as usize].edges.iter().any(here) {
                continue;
            }
            let able = |one: &(ProcessId, u32)| one.0 == part.process && here(edge(network, *one));
            let able: Together = open.iter().copied().filter(able).collect();
            lists = product(lists, &able);
        }
        found.extend(lists.into_iter().filter(|list| !list.is_empty()));
    }
    let committed = |process: ProcessId| {
        let at = machine.locations[process.0 as usize] as usize;
        network.processes[process.0 as usize].locations[at].committed
    };
    if (0..network.processes.len()).any(|process| committed(ProcessId(process as u32))) {
        found.retain(|together| together.iter().any(|&(process, _)| committed(process)));
    }
    Ok(found)
}

/// Extends each list by each of the choices.
fn product(lists: Vec<Together>, choices: &[(ProcessId, u32)]) -> Vec<Together> {
    let longer = |list: &Together| {
        let list = list.clone();
        choices.iter().map(move |&one| list.iter().copied().chain([one]).collect())
    };
    lists.iter().flat_map(longer).collect()
}

/// The earliest moments that meet the demands and `more`, and at which no rival is possible.
pub(super) fn earliest_without_rivals(demands: &Demands, more: &[Demand]) -> Option<Times> {
    let mut chosen = more.to_vec();
    // The rivals in conflict, and which bound of each was chosen to fail.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    for _ in 0..BUDGET {
        let conflict = match solve(demands, &chosen) {
            Some(times) => match demands.rivals.iter().position(|rival| possible(rival, &times)) {
                None => return Some(times),
                Some(rival) => Some(rival),
            },
            None => None,
        };
        if let Some(rival) = conflict.filter(|&rival| !demands.rivals[rival].is_empty()) {
            chosen.push(demands.rivals[rival][0].opposite());
            choices.push((rival, 0));
            continue;
        }
        // Backtrack: try the next bound of the latest rival that has one.
        loop {
            let (rival, bound) = choices.pop()?;
            chosen.pop();
            if let Some(next) = demands.rivals[rival].get(bound + 1) {
                chosen.push(next.opposite());
                choices.push((rival, bound + 1));
                break;
            }
        }
    }
    None
}

fn possible(rival: &[Demand], times: &Times) -> bool {
    rival.iter().all(|demand| demand.holds(&times.moments, times.unit))
}
