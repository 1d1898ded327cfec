//! Which processes must take part when an edge is taken.

use rustc_hash::FxHashMap;

use crate::compile::analysis::range;
use crate::network::{ChannelCell, EventId, Local, Network, Sync};

/// The alternatives for taking an edge, each as the other processes that are certain to take part.
#[derive(Clone, Debug, Default)]
struct Ways(Vec<Vec<usize>>);

/// The alternatives of all edges.
pub(super) struct Partners {
    edges: Vec<Vec<Ways>>,
}

impl Partners {
    pub(super) fn of(network: &Network) -> Partners {
        // The strong participants of each vector, for every participant.
        let mut vectors: FxHashMap<(usize, EventId), Ways> = FxHashMap::default();
        for vector in &network.vectors {
            for member in vector {
                let others = vector
                    .iter()
                    .filter(|other| other.process != member.process && !other.weak)
                    .map(|other| other.process.0 as usize)
                    .collect();
                vectors.entry((member.process.0 as usize, member.event)).or_default().0.push(others);
            }
        }
        // The senders and receivers of each channel.
        let mut ends: FxHashMap<(u32, bool), Vec<usize>> = FxHashMap::default();
        for (index, process) in network.processes.iter().enumerate() {
            for edge in &process.edges {
                let (cell, sends) = match &edge.sync {
                    Sync::Send(cell) => (cell, true),
                    Sync::Receive(cell) => (cell, false),
                    _ => continue,
                };
                for channel in channels(network, &edge.locals, cell) {
                    let processes = ends.entry((channel, sends)).or_default();
                    if processes.last() != Some(&index) {
                        processes.push(index);
                    }
                }
            }
        }
        let edges = network.processes.iter().enumerate().map(|(index, process)| {
            let ways = |edge: &crate::network::Edge| match &edge.sync {
                Sync::Internal => Ways(vec![Vec::new()]),
                Sync::Event(event) => {
                    vectors.get(&(index, *event)).cloned().unwrap_or_else(|| Ways(vec![Vec::new()]))
                }
                Sync::Send(cell) | Sync::Receive(cell) => {
                    let sends = matches!(edge.sync, Sync::Send(_));
                    let mut ways = Vec::new();
                    for channel in channels(network, &edge.locals, cell) {
                        if sends && network.channels[channel as usize].broadcast {
                            ways.push(Vec::new());
                        } else {
                            let others = ends.get(&(channel, !sends)).map_or(&[][..], Vec::as_slice);
                            ways.extend(
                                others.iter().filter(|&&other| other != index).map(|&other| vec![other]),
                            );
                        }
                    }
                    Ways(ways)
                }
            };
            process.edges.iter().map(ways).collect()
        });
        Partners { edges: edges.collect() }
    }

    /// Whether the edge can be taken only together with a good process, or not at all.
    pub(super) fn need_good(&self, process: usize, edge: usize, good: &[bool]) -> bool {
        self.edges[process][edge].0.iter().all(|others| others.iter().any(|&other| good[other]))
    }
}

/// The channels that a cell can denote.
fn channels(network: &Network, locals: &[Local], cell: &ChannelCell) -> std::ops::Range<u32> {
    let count = i64::try_from(network.channels.len()).unwrap_or(i64::MAX);
    let base = i64::from(cell.base.0);
    let (low, high) = cell.offset.as_ref().map_or((0, 0), |offset| range(network, locals, offset));
    let clamp = |value: i64| u32::try_from(value.clamp(0, count)).unwrap_or(0);
    clamp(base.saturating_add(low))..clamp(base.saturating_add(high).saturating_add(1))
}
