//! Structural non-Zenoness: whether the shape of a network alone guarantees that time passes all
//! bounds along every infinite run.
//!
//! A loop of a process *spends time* when some clock is assigned on one of its edges and some edge
//! of it can only be taken when the clock has advanced by at least one since any assignment it ever
//! gets. Every time such a loop is gone round, a unit of time passes. A set of edges that a run
//! takes infinitely often is strongly connected; it is harmless when it assigns and tests the same
//! clock. So a process is *good* when none of its strongly connected sets of edges lacks such a
//! clock.
//!
//! The product needs no construction: in an infinite run of a network some process moves infinitely
//! often, and if all processes are good, time diverges. An edge that can only be taken together
//! with a process that is known to be good cannot be part of a harmful loop either, so that
//! goodness is found step by step.
//!
//! The answer is one-sided: a culprit may be harmless for reasons that the shape does not show (a
//! counter, an invariant that cannot hold).

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

/// A loop of a process along which time may stand still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The process.
    pub process: ProcessId,
    /// Its edges, by index, in the order they are taken. Empty when the process is too complicated
    /// to decide.
    pub edges: Vec<usize>,
}

/// The processes with loops that need not spend time, each with one such loop; none when the
/// network is structurally non-Zeno.
///
/// `accepting` limits the loops of a process to those through a location for which it is true. To
/// conclude something about accepting runs of a network it must be true everywhere, except in a
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

    /// What to tell the user.
    pub fn warning(&self, network: &Network) -> Diagnostic {
        let process = &network.processes[self.process.0 as usize];
        let Some(&first) = self.edges.first() else {
            return Diagnostic::warning(format!(
                "process `{}` has too many loops to see whether time passes in all of them",
                process.name
            ));
        };
        Diagnostic::warning(format!(
            "process `{}` may go round {} without time passing",
            process.name,
            self.path(network)
        ))
        .at(process.edges[first].place.clone(), "the loop begins here")
        .help("in a loop that spends time a clock is reset, and an edge of the loop demands that it is at least 1")
    }
}
