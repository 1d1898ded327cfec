//! Labels of transitions: the participants and their actions, numbered for all explorers of a
//! model. Texts are built on demand.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;
use turnpike_model::label::{Action, TAU};
use turnpike_model::{Label, LabelId, Participant, Role};

use crate::network::Network;

/// The labels that all explorers share.
///
/// A label's key is empty for the transition to an initial state; the process of an internal edge;
/// pairs of process and event in a network with events; otherwise channel, sender and receivers.
#[derive(Debug, Default)]
pub(super) struct Labels {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    ids: FxHashMap<Box<[u32]>, u32>,
    keys: Vec<Box<[u32]>>,
}

/// One explorer's cache: most lookups need no lock.
pub(super) type Front = FxHashMap<Box<[u32]>, LabelId>;

/// Entries of a front before it is cleared.
const FRONT_ENTRIES: usize = 1 << 16;

impl Labels {
    /// The number of a label.
    pub(super) fn intern(&self, front: &mut Front, key: &[u32]) -> LabelId {
        if let Some(&id) = front.get(key) {
            return id;
        }
        let id = self.shared(key);
        if front.len() >= FRONT_ENTRIES {
            front.clear();
        }
        front.insert(key.into(), id);
        id
    }

    /// As [`Labels::intern`], without a front.
    pub(super) fn shared(&self, key: &[u32]) -> LabelId {
        let known = self.table.read().unwrap_or_else(PoisonError::into_inner).ids.get(key).copied();
        LabelId(known.unwrap_or_else(|| {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            let Table { ids, keys } = &mut *table;
            *ids.entry(key.into()).or_insert_with(|| {
                keys.push(key.into());
                keys.len() as u32 - 1
            })
        }))
    }

    /// The label with an id.
    pub(super) fn label(&self, network: &Network, id: LabelId) -> Label {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = table.keys.get(id.index()).map_or(&[][..], |key| key);
        let process = |id: u32| network.processes[id as usize].name.as_str();
        let mut names: Vec<&str> = Vec::new();
        let text = match (network.by_events(), key) {
            (_, []) => "initial".to_owned(),
            (_, [alone]) => format!("{}@{TAU}", process(*alone)),
            (true, pairs) => {
                let part =
                    |pair: &[u32]| format!("{}@{}", process(pair[0]), network.events[pair[1] as usize]);
                names.extend(pairs.chunks_exact(2).map(|pair| network.events[pair[1] as usize].as_str()));
                pairs.chunks_exact(2).map(part).collect::<Vec<_>>().join(",")
            }
            (false, [channel, sender, receivers @ ..]) => {
                let channel = network.channels[*channel as usize].name.as_str();
                names.push(channel);
                let mut text = format!("{}@{channel}!", process(*sender));
                for receiver in receivers {
                    text.push_str(&format!(",{}@{channel}?", process(*receiver)));
                }
                text
            }
        };
        let mut actions: Vec<Action> = Vec::new();
        for name in names {
            if name != TAU && !actions.iter().any(|action| action.name == name) {
                actions.push(Action { name: name.to_owned(), arguments: Vec::new() });
            }
        }
        Label { text, actions }
    }

    /// The processes that take part in transitions with a label, and their actions.
    pub(super) fn participants(&self, network: &Network, id: LabelId) -> Vec<Participant> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = table.keys.get(id.index()).map_or(&[][..], |key| key);
        let part = |process: u32, action: String, role: Role| Participant {
            component: network.processes[process as usize].name.clone(),
            action,
            role,
            ..Participant::default()
        };
        match (network.by_events(), key) {
            (_, []) => Vec::new(),
            (_, &[alone]) => vec![part(alone, TAU.to_owned(), Role::TakesPart)],
            (true, pairs) => {
                let event = |pair: &[u32]| network.events[pair[1] as usize].clone();
                let parts = pairs.chunks_exact(2);
                parts.map(|pair| part(pair[0], event(pair), Role::TakesPart)).collect()
            }
            (false, &[channel, sender, ref receivers @ ..]) => {
                let channel = &network.channels[channel as usize].name;
                let mut parts = vec![part(sender, format!("{channel}!"), Role::Sends)];
                parts.extend(receivers.iter().map(|&one| part(one, format!("{channel}?"), Role::Receives)));
                parts
            }
        }
    }
}
