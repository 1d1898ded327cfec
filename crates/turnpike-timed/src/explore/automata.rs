//! The processes as automata for display: locations and edges with their text.

use turnpike_model::{Automata, Automaton, AutomatonEdge, AutomatonLocation, EdgeTaken, Haste, StepError};

use super::walker::Walker;
use crate::network::edge_text::Writer;
use crate::network::{Edge, Location, Network, Process};

/// Edges that one `select` expands to are adjacent and come from the same place of the source.
fn is_same(one: &Edge, other: &Edge) -> bool {
    (&one.place, one.source, one.target) == (&other.place, other.source, other.target)
}

/// The position of an edge, counting each `select` once.
fn drawn_position(process: &Process, index: usize) -> u32 {
    process.edges[..=index].windows(2).filter(|pair| !is_same(&pair[0], &pair[1])).count() as u32
}

/// A process as an automaton. Clock constants of the network are multiplied by `unit`.
fn automaton(network: &Network, process: &Process, unit: i32) -> Automaton {
    let writer = Writer::new(network, process, unit);
    let location = |location: &Location| AutomatonLocation {
        name: location.name.clone(),
        invariant: writer.invariant(location),
        haste: match (location.committed, location.urgent) {
            (true, _) => Haste::Committed,
            (false, true) => Haste::Urgent,
            (false, false) => Haste::None,
        },
    };
    let edge = |same: &[Edge]| AutomatonEdge {
        from: same[0].source.0,
        to: same[0].target.0,
        guard: writer.guard(&same[0]),
        action: writer.action(&same[0]),
        update: writer.update(&same[0]),
        choices: same.len() as u32,
    };
    Automaton {
        name: process.name.clone(),
        locations: process.locations.iter().map(location).collect(),
        initial: process.initial.iter().map(|location| location.0).collect(),
        edges: process.edges.chunk_by(is_same).map(edge).collect(),
    }
}

impl Walker<'_> {
    /// The processes of the model, without those that were added; those come last.
    fn own_processes(&self) -> &[Process] {
        let network = &self.model.network;
        let own = network.ticker.map_or(network.processes.len(), |ticker| ticker.0 as usize);
        &network.processes[..own]
    }
}

impl Automata for Walker<'_> {
    fn automata(&self) -> Vec<Automaton> {
        let (network, unit) = (&self.model.network, self.model.unit);
        self.own_processes().iter().map(|process| automaton(network, process, unit)).collect()
    }

    fn locations(&mut self, state: &[u32]) -> Vec<u32> {
        if self.is_root(state) {
            return Vec::new();
        }
        let own = self.own_processes().len();
        (0..own).map(|process| self.model.layout.location(state, process)).collect()
    }

    fn edges(&mut self, state: &[u32], most: usize) -> Result<Vec<Vec<EdgeTaken>>, StepError> {
        if self.is_root(state) {
            return Ok(Vec::new());
        }
        let Some(last) = most.checked_sub(1) else { return Ok(Vec::new()) };
        let own = self.own_processes().len() as u32;
        let transitions = self.edges_of_successors(state, last)?;
        let model = self.model;
        let taken = |&step: &u32| {
            let known = &model.tables.steps[step as usize];
            let process = &model.network.processes[known.process as usize];
            let edge = drawn_position(process, known.index as usize);
            (known.process < own).then_some(EdgeTaken { automaton: known.process, edge })
        };
        Ok(transitions.iter().map(|steps| steps.iter().filter_map(taken).collect()).collect())
    }
}
