//! Channels without a direction: all processes that know one must take part, as in CSP.
//!
//! The *alphabet* of a process, the set of channels that it knows, is listed on its `IO` line. A
//! process without such a line knows the channels that occur on its edges, whether or not their
//! guards can hold. A channel that only one process knows is taken alone; so is one that occurs on
//! an edge of a process that does not know it. A process that knows a channel but has no edge with
//! it blocks the channel.
//!
//! Each channel becomes an event of the network, and a vector if several processes know it.

use std::collections::{BTreeMap, BTreeSet};

use turnpike_model::Diagnostic;

use crate::network::{EventId, Participant, Place, ProcessId, Sync};
use crate::syntax::uppaal::tree::{self, Direction};
use crate::typed::types::Class;
use crate::typed::{Checker, Entity, Lvalue, Operand, Outcome, Purpose, SYSTEM, Wanted};

/// Limit on the entries of all alphabets together.
const MOST_KNOWN: usize = 1 << 20;

impl Checker<'_> {
    /// Rejects models with both kinds of synchronisation.
    pub(crate) fn check_directions(&mut self) {
        let tree = self.tree;
        let first = |together: bool| {
            tree.templates.iter().find_map(|template| {
                let syncs = template.edges.iter().filter_map(|edge| edge.sync.as_ref());
                let mut found = syncs.filter(|sync| (sync.direction == Direction::Together) == together);
                found.next().map(|sync| (template.name.name.as_str(), sync))
            })
        };
        let Some((sender, with)) = first(false) else { return };
        let mark = if with.direction == Direction::Send { '!' } else { '?' };
        let (place, note) = match (first(true), tree.system.alphabets.first()) {
            (Some((other, without)), _) => {
                (&without.span, format!("`{other}` has `{}`, without a direction", without.channel))
            }
            (None, Some(line)) => (&line.span, "`IO` lines are for channels without a direction".to_owned()),
            (None, None) => return,
        };
        self.note(
            Diagnostic::error("synchronisations with and without a direction cannot be mixed")
                .at(place.clone(), note)
                .help(format!(
                    "`{sender}` has `{}{mark}`: give all synchronisations of the model a direction, or none",
                    with.channel
                )),
        );
    }

    /// The synchronisation of an edge with this channel. The event is the number of the channel
    /// until [`Self::events`] assigns another.
    pub(crate) fn together(&mut self, lvalue: &Lvalue, place: &Place) -> Outcome<Sync> {
        if lvalue.offset.is_some() {
            return Err(Diagnostic::error(
                "a channel without a direction must be known before the system runs",
            )
            .at(place.clone(), "this depends on the state")
            .help("choose the index with a `select`, and compare it in the guard"));
        }
        let channel = &self.network.channels[lvalue.base as usize];
        let wrong = if channel.urgent {
            "an urgent channel needs a direction"
        } else if channel.broadcast {
            "a broadcast channel needs a direction"
        } else if channel.priority != self.network.default_priority {
            "a channel with a priority needs a direction"
        } else {
            let process = self.network.processes.len() as u32;
            self.mentioned.entry((process, lvalue.base)).or_insert_with(|| place.clone());
            return Ok(Sync::Event(EventId(lvalue.base)));
        };
        Err(Diagnostic::error(wrong)
            .at(place.clone(), format!("`{}` is such a channel", channel.name))
            .help("send with `!` and receive with `?`"))
    }

    /// Records the channel of an edge that can never be taken: its process knows it nevertheless.
    pub(crate) fn mention(&mut self, edge: &tree::Edge) {
        if let Some(sync) = &edge.sync
            && sync.direction == Direction::Together
        {
            // Errors are ignored: perhaps only the guard prevents an invalid index.
            let _ = self.sync(sync);
        }
    }

    /// Turns the channels without a direction into events and vectors, once all processes exist.
    pub(crate) fn events(&mut self) {
        self.scope = SYSTEM;
        let declared = self.declared_alphabets();
        self.scope = super::GLOBAL;
        match declared {
            Ok(declared) => self.add_events(declared),
            Err(error) => self.note(error),
        }
    }

    /// The alphabets of processes with `IO` lines, with the place of each channel.
    fn declared_alphabets(&mut self) -> Outcome<BTreeMap<u32, BTreeMap<u32, Place>>> {
        let mut alphabets: BTreeMap<u32, BTreeMap<u32, Place>> = BTreeMap::new();
        let mut entries = 0;
        for line in &self.tree.system.alphabets {
            let mut channels = Vec::new();
            for expression in &line.channels {
                let operand =
                    self.with_purpose(Purpose::Pure("an `IO` line"), |this| this.operand(expression))?;
                let Operand::Lvalue(lvalue) = operand else { return Err(no_channel(expression)) };
                if lvalue.ty.class() != Class::Channel {
                    return Err(no_channel(expression));
                }
                if lvalue.offset.is_some() {
                    return Err(Diagnostic::error(
                        "the channels of a process must be known before the system runs",
                    )
                    .at(expression.span.clone(), "this depends on the state"));
                }
                channels.push((lvalue.base..lvalue.base + lvalue.count, &expression.span));
            }
            let width: usize = channels.iter().map(|(cells, _)| cells.len()).sum();
            for process in self.processes_of(line)? {
                entries += width;
                if entries > MOST_KNOWN {
                    return Err(Diagnostic::error("the `IO` lines list too many channels")
                        .at(line.span.clone(), format!("at most {MOST_KNOWN} are supported")));
                }
                let alphabet = alphabets.entry(process).or_default();
                for (cells, place) in &channels {
                    for channel in cells.clone() {
                        alphabet.entry(channel).or_insert_with(|| (*place).clone());
                    }
                }
            }
        }
        Ok(alphabets)
    }

    /// The processes that an `IO` line refers to.
    fn processes_of(&mut self, line: &tree::Alphabet) -> Outcome<std::ops::Range<u32>> {
        let name = &line.process;
        let Some(family) = self.state.families.get(&name.name).cloned() else {
            // Process names are visible only to queries.
            let purpose = Purpose::Query;
            return self.with_purpose(purpose, |this| {
                Err(this.unknown(&name.name, &name.span, Wanted::Process, |entity| {
                    matches!(entity, Entity::Template)
                }))
            });
        };
        if line.arguments.is_empty() {
            let size = |&(low, high): &(i32, i32)| (i64::from(high) - i64::from(low) + 1) as u32;
            return Ok(family.first..family.first + family.parameters.iter().map(size).product::<u32>());
        }
        let process = self
            .with_purpose(Purpose::Query, |this| this.process(&name.name, &line.arguments, &line.span))?
            .unwrap_or(family.first);
        Ok(process..process + 1)
    }

    fn add_events(&mut self, declared: BTreeMap<u32, BTreeMap<u32, Place>>) {
        // Channels with their processes, in order. Only channels on some edge can occur.
        let mut members: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(_, channel) in self.mentioned.keys() {
            members.entry(channel).or_default();
        }
        let (mut warned, mut alone) = (false, BTreeSet::new());
        for (&(process, channel), place) in &self.mentioned {
            let name = &self.network.processes[process as usize].name;
            // Processes of one template share their edges: warn once for each place.
            let Some(alphabet) = declared.get(&process) else {
                if let Some(members) = members.get_mut(&channel) {
                    members.insert(process);
                }
                if !std::mem::replace(&mut warned, true) {
                    self.warnings.push(
                        Diagnostic::warning(format!("there is no `IO` line for `{name}`"))
                            .at(place.clone(), "taken together with all processes that have such edges")
                            .help(format!("list its channels after the system line: IO {name} {{ … }}")),
                    );
                }
                continue;
            };
            if !alphabet.contains_key(&channel) && alone.insert(place.start) {
                let channel = &self.network.channels[channel as usize].name;
                self.warnings.push(
                    Diagnostic::warning(format!("`{channel}` is not on the `IO` line of `{name}`"))
                        .at(place.clone(), "taken alone"),
                );
            }
        }
        for (&process, alphabet) in &declared {
            for &channel in alphabet.keys() {
                let Some(members) = members.get_mut(&channel) else { continue };
                members.insert(process);
            }
        }
        self.warn_of_blocked(&declared, &members);
        let numbers: BTreeMap<u32, EventId> = members.keys().copied().zip((0..).map(EventId)).collect();
        for process in &mut self.network.processes {
            for edge in &mut process.edges {
                if let Sync::Event(event) = &mut edge.sync
                    && let Some(&number) = numbers.get(&event.0)
                {
                    *event = number;
                }
            }
        }
        for (channel, processes) in members {
            let event = numbers[&channel];
            self.network.events.push(self.network.channels[channel as usize].name.clone());
            if processes.len() > 1 {
                let seat = |process| Participant { process: ProcessId(process), event, weak: false };
                self.network.vectors.push(processes.into_iter().map(seat).collect());
            }
        }
    }
}

impl Checker<'_> {
    /// Warns, once for each place, of channels that are blocked because some process that knows
    /// them never takes them.
    fn warn_of_blocked(
        &mut self,
        declared: &BTreeMap<u32, BTreeMap<u32, Place>>,
        members: &BTreeMap<u32, BTreeSet<u32>>,
    ) {
        let mut places = BTreeSet::new();
        for (&process, alphabet) in declared {
            for (&channel, place) in alphabet {
                let several = members.get(&channel).is_some_and(|members| members.len() > 1);
                if several && !self.mentioned.contains_key(&(process, channel)) && places.insert(place.start)
                {
                    let name = &self.network.processes[process as usize].name;
                    let channel = &self.network.channels[channel as usize].name;
                    self.warnings.push(
                        Diagnostic::warning(format!("`{name}` has no edge with `{channel}`"))
                            .at(place.clone(), "so that no other process can take it"),
                    );
                }
            }
        }
    }
}

fn no_channel(expression: &tree::Expression) -> Diagnostic {
    Diagnostic::error("a channel is needed here").at(expression.span.clone(), "this is not a channel")
}
