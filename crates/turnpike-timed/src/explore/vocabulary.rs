//! The events and channels of transitions. Labels of locations are not included: an explorer
//! compiles them and rejects unknown ones.

use std::collections::BTreeSet;

use turnpike_model::label::TAU;
use turnpike_model::{Absence, Pattern, Signatures, Vocabulary, Word};

use super::TimedModel;
use crate::network::{ChannelCell, ChannelId, Network, Sync};

/// The part of an edge in a label: its process, and its event or channel.
struct Part<'a> {
    process: &'a str,
    name: &'a str,
    /// `!`, `?`, or empty for events.
    direction: &'static str,
}

impl TimedModel {
    fn signatures(&self) -> Signatures {
        let network = &self.network;
        let parts = parts(network);
        let has = |name: &str, direction: &str| {
            parts.iter().any(|part| part.name == name && part.direction == direction)
        };
        let mut signatures = Signatures::new();
        for name in &network.events {
            match has(name, "") {
                true => signatures.add(name, 0),
                false => signatures.add_absent(name, Absence::Unused),
            }
        }
        for channel in &network.channels {
            let name = &channel.name;
            match (has(name, "!"), has(name, "?") || channel.broadcast) {
                (true, true) => signatures.add(name, 0),
                (false, false) => signatures.add_absent(name, Absence::Unused),
                _ => signatures.add_absent(name, Absence::Blocked),
            }
        }
        signatures
    }
}

impl Vocabulary for TimedModel {
    fn action(&self, name: &str) -> Word {
        self.signatures().action(name)
    }

    fn label(&self, pattern: &str) -> Word {
        let mut texts: BTreeSet<String> = parts(&self.network)
            .iter()
            .map(|Part { process, name, direction }| format!("{process}@{name}{direction}"))
            .collect();
        texts.extend(self.network.processes.iter().map(|process| format!("{}@{TAU}", process.name)));
        texts.insert("initial".to_owned());
        let texts: Vec<String> = texts.into_iter().collect();
        if Pattern::new(pattern).matches_some_sequence(&texts, ',') {
            return Word::Known;
        }
        // The name of an event or channel is only a part of a label.
        let is_part = |text: &&String| {
            text.split_once('@').is_some_and(|(_, name)| name.trim_end_matches(['!', '?']) == pattern)
        };
        let nearest = match texts.iter().find(is_part) {
            Some(text) => Some(format!("*{text}*")),
            None => turnpike_model::diagnostic::nearest(pattern, texts.iter().map(String::as_str))
                .map(str::to_owned),
        };
        Word::Unknown { name: pattern.to_owned(), nearest }
    }

    fn argument(&self, action: &str, position: usize) -> Word {
        self.signatures().argument(action, position)
    }

    fn names(&self) -> Vec<&str> {
        let signatures = self.signatures();
        let can_occur = |name: &&str| signatures.action(name).is_known();
        self.info.actions.iter().map(String::as_str).filter(can_occur).collect()
    }
}

/// The parts of all edges, once for every channel that an index may select.
fn parts(network: &Network) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for process in &network.processes {
        for edge in &process.edges {
            let mut add = |name, direction| parts.push(Part { process: &process.name, name, direction });
            match &edge.sync {
                Sync::Internal => {}
                Sync::Event(event) => add(network.events[event.0 as usize].as_str(), ""),
                Sync::Send(cell) => cells(network, cell).for_each(|name| add(name, "!")),
                Sync::Receive(cell) => cells(network, cell).for_each(|name| add(name, "?")),
            }
        }
    }
    parts
}

/// The channels that a cell can denote: its whole array if the index is not constant.
fn cells<'a>(network: &'a Network, cell: &ChannelCell) -> impl Iterator<Item = &'a str> {
    fn array(name: &str) -> &str {
        name.split_once('[').map_or(name, |(array, _)| array)
    }
    let ChannelId(base) = cell.base;
    let names = network.channels[base as usize..].iter().map(|channel| channel.name.as_str());
    let whole = array(&network.channels[base as usize].name);
    let one = cell.offset.is_none();
    names
        .enumerate()
        .take_while(move |(at, name)| if one { *at == 0 } else { array(name) == whole })
        .map(|(_, name)| name)
}
