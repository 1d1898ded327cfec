//! Translates synchronisation on channels to events and vectors.

use std::collections::BTreeSet;

use turnpike_model::Diagnostic;

use super::names::{Names, Use};
use super::simplify::{Refusal, Simplify, Values, refusal};
use crate::compile::analysis::range;
use crate::network::{Binary, Edge, Expression, Language, Network, Place, Sync};

/// Limit on the cells of a channel array that an index depending on variables selects from.
const CHOICES: i64 = 256;

/// An edge written with one event.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Index of the event.
    pub(super) event: usize,
    /// A condition in addition to the guard: the index selects this channel.
    pub(super) condition: Option<Expression>,
}

/// Events and vectors of a network.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    /// Names, in the order of their declaration.
    pub(super) names: Vec<String>,
    /// For every process and edge the events it is written with; empty if it can never be taken.
    pub(super) variants: Vec<Vec<Vec<Variant>>>,
    /// Vectors: process, event and whether it is weak.
    pub(super) vectors: Vec<Vec<(usize, usize, bool)>>,
}

/// The channels of an edge, each with the condition under which it is used.
type Choices = Vec<(usize, Option<Expression>)>;

/// Finds events for all edges.
pub(super) fn events(network: &Network, diagnostics: &mut Vec<Diagnostic>) -> Events {
    let mut names = Names::default();
    let mut events = Events::default();
    // Events of a file may have dots in their names; the names of channels are turned into plain
    // ones.
    let used_as = if network.language == Language::Tck { Use::Declaration } else { Use::Variable };
    for event in &network.events {
        events.names.push(names.pick(event, used_as));
    }
    for vector in &network.vectors {
        let members = vector.iter().map(|item| (item.process.0 as usize, item.event.0 as usize, item.weak));
        events.vectors.push(members.collect());
    }
    let uses = Uses::of(network, diagnostics);
    let tau = events.names.len();
    if uses.internal {
        events.names.push(names.pick("tau", Use::Variable));
    }
    let ends = add_channels(network, &uses, &mut names, &mut events);
    for (index, process) in network.processes.iter().enumerate() {
        let edges = process.edges.iter().zip(&uses.choices[index]);
        let variants = edges.map(|(edge, found)| match &edge.sync {
            Sync::Internal => vec![Variant { event: tau, condition: None }],
            Sync::Event(event) => vec![Variant { event: event.0 as usize, condition: None }],
            Sync::Send(_) | Sync::Receive(_) => {
                let sends = matches!(edge.sync, Sync::Send(_));
                let mut variants = Vec::new();
                for (channel, condition) in found {
                    let partners = if sends { &uses.receivers[*channel] } else { &uses.senders[*channel] };
                    let alone = sends && network.channels[*channel].broadcast;
                    if let Some((send, receive)) = ends[*channel]
                        && (alone || partners.iter().any(|&partner| partner != index))
                    {
                        let event = if sends { send } else { receive };
                        variants.push(Variant { event, condition: condition.clone() });
                    }
                }
                variants
            }
        });
        events.variants.push(variants.collect());
    }
    events
}

/// Which edges use which channels.
struct Uses {
    /// By process and edge.
    choices: Vec<Vec<Choices>>,
    /// By channel, the processes that send and those that receive on it.
    senders: Vec<BTreeSet<usize>>,
    receivers: Vec<BTreeSet<usize>>,
    /// Whether some edge is taken alone.
    internal: bool,
}

impl Uses {
    fn of(network: &Network, diagnostics: &mut Vec<Diagnostic>) -> Uses {
        let none = || vec![BTreeSet::new(); network.channels.len()];
        let mut uses = Uses { choices: Vec::new(), senders: none(), receivers: none(), internal: false };
        for (index, process) in network.processes.iter().enumerate() {
            let mut edges = Vec::new();
            for edge in &process.edges {
                uses.internal |= edge.sync == Sync::Internal;
                let found = channels(network, edge).unwrap_or_else(|refusal| {
                    diagnostics.push(*refusal);
                    Vec::new()
                });
                for (channel, _) in &found {
                    match &edge.sync {
                        Sync::Send(_) => uses.senders[*channel].insert(index),
                        _ => uses.receivers[*channel].insert(index),
                    };
                }
                edges.push(found);
            }
            uses.choices.push(edges);
        }
        uses
    }
}

/// Adds events and vectors for channels. Returns, for each channel that can be used, its events for
/// sending and for receiving.
fn add_channels(
    network: &Network,
    uses: &Uses,
    names: &mut Names,
    events: &mut Events,
) -> Vec<Option<(usize, usize)>> {
    let mut ends = vec![None; network.channels.len()];
    for (channel, end) in ends.iter_mut().enumerate() {
        let (senders, receivers) = (&uses.senders[channel], &uses.receivers[channel]);
        let broadcast = network.channels[channel].broadcast;
        if senders.is_empty() || (receivers.is_empty() && !broadcast) {
            continue;
        }
        let name = &network.channels[channel].name;
        let first = events.names.len();
        // One event suffices unless a process both sends and receives.
        let both = if senders.is_disjoint(receivers) {
            events.names.push(names.pick(name, Use::Variable));
            (first, first)
        } else {
            events.names.push(names.pick(&format!("{name}_out"), Use::Variable));
            events.names.push(names.pick(&format!("{name}_in"), Use::Variable));
            (first, first + 1)
        };
        *end = Some(both);
        for &sender in senders {
            let others = receivers.iter().copied().filter(|&receiver| receiver != sender);
            if broadcast {
                let mut vector = vec![(sender, both.0, false)];
                vector.extend(others.map(|receiver| (receiver, both.1, true)));
                if vector.len() > 1 {
                    events.vectors.push(vector);
                }
            } else {
                events
                    .vectors
                    .extend(others.map(|receiver| vec![(sender, both.0, false), (receiver, both.1, false)]));
            }
        }
    }
    ends
}

/// The channels that an edge may use.
fn channels(network: &Network, edge: &Edge) -> Result<Choices, Refusal> {
    let (Sync::Send(cell) | Sync::Receive(cell)) = &edge.sync else { return Ok(Vec::new()) };
    let base = cell.base.0 as usize;
    let check = |channel: usize| match network.channels.get(channel) {
        None => Err(refusal("a channel that does not exist", &edge.place)),
        Some(known) if known.urgent => {
            Err(refusal(&format!("the urgent channel `{}`", known.name), &edge.place))
        }
        Some(known) if known.priority != 0 => {
            Err(refusal(&format!("the priority of the channel `{}`", known.name), &edge.place))
        }
        Some(known) => receiver(network, edge, known.broadcast, &known.name).map(|()| channel),
    };
    let Some(offset) = &cell.offset else { return Ok(vec![(check(base)?, None)]) };
    let offset = Simplify::new(network, &edge.place).expression(offset, &Values::default())?;
    if let Expression::Constant(index) = offset {
        let index = usize::try_from(index).unwrap_or(usize::MAX - base);
        return Ok(vec![(check(base + index)?, None)]);
    }
    let (low, high) = range(network, &edge.locals, &offset);
    if low < 0 || high - low >= CHOICES {
        return Err(refusal("a channel selected by an index with this many values", &edge.place));
    }
    // The comparison takes the place of the index check.
    let index = match offset {
        Expression::InRange { value, .. } => *value,
        other => other,
    };
    let mut found = Vec::new();
    for value in low..=high {
        let channel = check(base + usize::try_from(value).unwrap_or(usize::MAX - base))?;
        if network.channels[channel].broadcast && matches!(edge.sync, Sync::Receive(_)) {
            return Err(guarded(&network.channels[channel].name, &edge.place));
        }
        let number = Expression::Constant(i32::try_from(value).unwrap_or(i32::MAX));
        let condition =
            Expression::Binary(Binary::Equal, Box::new(index.clone()), Box::new(number), edge.place.clone());
        found.push((channel, Some(condition)));
    }
    Ok(found)
}

/// A receiver's location alone decides whether it takes part, so it cannot have a guard.
fn receiver(network: &Network, edge: &Edge, broadcast: bool, name: &str) -> Result<(), Refusal> {
    if !broadcast || !matches!(edge.sync, Sync::Receive(_)) {
        return Ok(());
    }
    let mut simplify = Simplify::new(network, &edge.place);
    for condition in &edge.guard.data {
        if !matches!(simplify.expression(condition, &Values::default())?, Expression::Constant(_)) {
            return Err(guarded(name, &edge.place));
        }
    }
    if edge.guard.clocks.is_empty() { Ok(()) } else { Err(guarded(name, &edge.place)) }
}

fn guarded(name: &str, place: &Place) -> Refusal {
    let error = refusal(&format!("the guard of a receiver on the broadcast channel `{name}`"), place);
    Box::new(
        error.help("a process takes part in a weak synchronisation whenever its location has an edge for it"),
    )
}
