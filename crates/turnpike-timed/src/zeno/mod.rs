//! Structural non-Zenoness: whether the structure of a network alone guarantees that time diverges
//! along every infinite run.
//!
//! A loop of a process *spends time* if some clock is assigned on one of its edges, and some edge
//! of it can be taken only when that clock has advanced by at least one since its last assignment.
//! Each iteration of such a loop takes at least one unit of time. A set of edges that a run takes
//! infinitely often is strongly connected; it is harmless if it assigns and tests the same clock.
//! So a process is *good* if each of its strongly connected sets of edges has such a clock.
//!
//! The product is not needed: in an infinite run of a network some process moves infinitely often,
//! and if all processes are good, time diverges. An edge that can be taken only together with a
//! good process cannot be part of a harmful loop either, so the set of good processes is computed
//! as a fixed point.
//!
//! The answer is one-sided: a culprit may be harmless for reasons that the structure does not show
//! (a counter, an invariant that cannot hold).

mod clocks;
mod loops;
mod partners;
#[cfg(test)]
mod tests;
mod ticks;

use turnpike_model::Diagnostic;

pub use self::ticks::TICKER;
pub(crate) use self::ticks::{TICKED, Ticks, add as add_ticker};

use crate::network::{LocationId, Network, ProcessId};

/// A loop of a process along which time may not advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The process.
    pub process: ProcessId,
    /// Its edges, by index, in order. Empty if the process is too complicated to decide.
    pub edges: Vec<usize>,
}

/// The processes with loops that need not spend time, each with one such loop; empty if the
/// network is structurally non-Zeno.
///
/// `accepting` restricts the loops of a process to those through a location for which it is true.
/// For a conclusion about accepting runs of a network it must be true everywhere, except in a
/// process whose accepting locations every accepting run must visit infinitely often.
pub fn culprits(network: &Network, accepting: &dyn Fn(ProcessId, LocationId) -> bool) -> Vec<Culprit> {
    let clocks = clocks::Clocks::of(network);
    let partners = partners::Partners::of(network);
    let mut good = vec![false; network.processes.len()];
    let mut found: Vec<Option<Culprit>> = vec![None; network.processes.len()];
    // A process that becomes good may make others good: at most one round each.
    loop {
        let mut changed = false;
        for (index, process) in network.processes.iter().enumerate() {
            if good[index] {
                continue;
            }
            let id = ProcessId(u32::try_from(index).unwrap_or(u32::MAX));
            let edges = (0..process.edges.len()).filter(|&edge| !partners.need_good(index, edge, &good));
            let graph = loops::Graph {
                process,
                effects: clocks.of_process(index),
                accepting: &|location| accepting(id, location),
            };
            match graph.harmful_loop(edges.collect()) {
                loops::Outcome::None => {
                    good[index] = true;
                    changed = true;
                }
                loops::Outcome::Loop(edges) => found[index] = Some(Culprit { process: id, edges }),
                loops::Outcome::Undecided => found[index] = Some(Culprit { process: id, edges: Vec::new() }),
            }
        }
        if !changed {
            break;
        }
    }
    found.into_iter().zip(good).filter_map(|(culprit, good)| culprit.filter(|_| !good)).collect()
}

impl Culprit {
    /// The locations of the loop as text: `a -> b -> a`.
    pub fn path(&self, network: &Network) -> String {
        let process = &network.processes[self.process.0 as usize];
        let name = |location: LocationId| process.locations[location.0 as usize].name.as_str();
        let mut text = String::new();
        for (position, &edge) in self.edges.iter().enumerate() {
            let edge = &process.edges[edge];
            if position == 0 {
                text.push_str(name(edge.source));
            }
            text.push_str(" -> ");
            text.push_str(name(edge.target));
        }
        text
    }

    /// The warning for the user.
    pub fn warning(&self, network: &Network) -> Diagnostic {
        let process = &network.processes[self.process.0 as usize];
        let Some(&first) = self.edges.first() else {
            return Diagnostic::warning(format!(
                "process `{}` has too many loops to check that time passes in each",
                process.name
            ));
        };
        Diagnostic::warning(format!(
            "process `{}` may repeat {} without time passing",
            process.name,
            self.path(network)
        ))
        .at(process.edges[first].place.clone(), "the loop begins here")
        .help(
            "in a loop that takes time, one edge resets a clock and one edge requires that it is at least 1",
        )
    }
}
