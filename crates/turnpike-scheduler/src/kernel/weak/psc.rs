//! RC11's condition on sequentially consistent events: `psc` has no cycle.
//!
//! Its nodes are the sequentially consistent accesses and fences. With
//! `scb = po ∪ po≠;hb;po≠ ∪ hb|loc ∪ mo ∪ fr`, there is an edge from one node to another for
//! `([E] ∪ [F];hb?) ; scb ; ([E] ∪ hb?;[F])` and for `[F] ; (hb ∪ hb;eco;hb) ; [F]`.
//!
//! A new event is the last of its thread, so only modification order and from-reads lead from it to
//! older events. An access that reads the newest value and writes after it closes no cycle.

use alloc::vec::Vec;

use super::super::NONE;
use super::Draft;
use super::graph::{Graph, Set};
use super::location::Location;

/// The relations of an event.
#[derive(Debug, Default)]
struct Known {
    /// Its node.
    node: Option<u32>,
    /// Fences that happen before it.
    fences: Set,
    /// Nodes with an edge to every fence that happens after it, by `scb`.
    before: Set,
    /// Fences with an edge to every fence that happens after it, by `eco`.
    fences_before: Set,
}

#[derive(Debug)]
struct Node {
    event: u32,
    fence: bool,
    /// When its thread first accessed another variable after it.
    left: Option<u32>,
    edges: Set,
}

#[derive(Debug)]
pub(super) struct Psc {
    events: Vec<Known>,
    nodes: Vec<Node>,
}

/// The connections of a new event.
struct Links {
    /// Fences that happen before it.
    fences: Set,
    /// Nodes with an edge to it, or to fences after it.
    incoming: Set,
    /// Nodes to which it, or the fences before it, have an edge.
    outgoing: Set,
    /// Fences to which only the fences before it have an edge.
    outgoing_fences: Set,
}

impl Psc {
    pub(super) const fn new() -> Psc {
        Psc { events: Vec::new(), nodes: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.nodes.clear();
    }

    /// Whether the access closes no cycle.
    pub(super) fn allows(&self, graph: &Graph, location: &Location, draft: &Draft<'_>) -> bool {
        if self.nodes.is_empty() {
            return true;
        }
        let links = self.links(graph, location, draft);
        let mut back = links.fences.clone();
        if !links.outgoing_fences.is_empty() && self.reach(&links.outgoing_fences).meets(&back) {
            return false;
        }
        if draft.sc {
            back.add_all(&links.incoming);
        }
        links.outgoing.is_empty() || !self.reach(&links.outgoing).meets(&back)
    }

    /// Nodes reachable from these, including themselves.
    fn reach(&self, from: &Set) -> Set {
        let mut reached = from.clone();
        let mut open: Vec<u32> = from.members().collect();
        while let Some(node) = open.pop() {
            let edges = &self.nodes[node as usize].edges;
            for next in edges.members() {
                if !reached.contains(next) {
                    reached.insert(next);
                    open.push(next);
                }
            }
        }
        reached
    }

    /// Sequentially consistent fences within a clock.
    fn fences_known(&self, graph: &Graph, clock: &[u32]) -> Set {
        let mut fences = Set::default();
        for (node, number) in self.nodes.iter().zip(0..) {
            if node.fence && graph.is_known(node.event, clock) {
                fences.insert(number);
            }
        }
        fences
    }

    /// The starting points of edges from an event: itself, and the fences before it.
    fn add_lifted(&self, event: u32, to: &mut Set) {
        let known = &self.events[event as usize];
        to.add_all(&known.fences);
        if let Some(node) = known.node {
            to.insert(node);
        }
    }

    /// Nodes that precede an event by program order, or by the clock of its thread.
    fn add_program_order(&self, graph: &Graph, thread: u32, before: &[u32], to: &mut Set) {
        for (node, number) in self.nodes.iter().zip(0..) {
            let own = graph.events[node.event as usize].thread == thread;
            if own || node.fence && graph.is_known(node.event, before) {
                to.insert(number);
            }
        }
    }

    fn links(&self, graph: &Graph, location: &Location, draft: &Draft<'_>) -> Links {
        let fences = self.fences_known(graph, draft.clock);
        let mut incoming = Set::default();
        self.add_program_order(graph, draft.thread, draft.before, &mut incoming);
        if let Some(elsewhere) = graph.clock_elsewhere(draft.thread, draft.object) {
            for (node, number) in self.nodes.iter().zip(0..) {
                let thread = graph.events[node.event as usize].thread as usize;
                let known = elsewhere.get(thread).copied().unwrap_or(0);
                if node.left.is_some_and(|left| left <= known) {
                    incoming.insert(number);
                }
            }
        }
        let start = draft.writes.or(draft.reads).unwrap_or(0);
        let position = location.writes[start as usize].position;
        let (mut outgoing, mut outgoing_fences) = (Set::default(), Set::default());
        for write in &location.writes {
            let behind = write.position > position;
            for (event, reads) in core::iter::once((write.event, false))
                .chain(write.readers.iter().map(|&reader| (reader, true)))
            {
                if event == NONE {
                    continue;
                }
                if graph.is_known(event, draft.clock) || draft.writes.is_some() && !behind {
                    self.add_lifted(event, &mut incoming);
                }
                if behind {
                    self.add_fences_after(graph, event, &mut outgoing_fences);
                    if !reads {
                        self.add_fences_after(graph, event, &mut outgoing);
                        outgoing.extend_with(self.events[event as usize].node);
                    }
                }
            }
        }
        Links { fences, incoming, outgoing, outgoing_fences }
    }

    fn add_fences_after(&self, graph: &Graph, event: u32, to: &mut Set) {
        for (node, number) in self.nodes.iter().zip(0..) {
            if node.fence && node.event != event && graph.is_known(event, graph.clock(node.event)) {
                to.insert(number);
            }
        }
    }

    /// Adds an allowed access, before it is added to its location. It becomes the next event.
    pub(super) fn add_access(&mut self, graph: &Graph, location: &Location, draft: &Draft<'_>) {
        let links = self.links(graph, location, draft);
        let start = draft.writes.or(draft.reads).unwrap_or(0);
        let mut lifted = links.fences.clone();
        let node = draft.sc.then_some(self.nodes.len() as u32);
        lifted.extend_with(node);
        // Fences that precede it by `eco`.
        let mut fences_before = Set::default();
        if let Some(source) = draft.reads {
            let event = location.writes[source as usize].event;
            if event != NONE {
                fences_before.add_all(&self.events[event as usize].fences);
                fences_before.add_all(&self.events[event as usize].fences_before);
            }
        }
        if draft.writes.is_some() {
            let position = location.writes[start as usize].position;
            for write in location.writes.iter().filter(|write| write.position <= position) {
                for &event in write.readers.iter().chain(core::iter::once(&write.event)) {
                    if event != NONE {
                        fences_before.add_all(&self.events[event as usize].fences);
                    }
                }
            }
        }
        for write in location.behind(start) {
            self.events[write.event as usize].before.add_all(&lifted);
            for &event in write.readers.iter().chain(core::iter::once(&write.event)) {
                self.events[event as usize].fences_before.add_all(&links.fences);
            }
        }
        for from in links.fences.members() {
            self.nodes[from as usize].edges.add_all(&links.outgoing);
            self.nodes[from as usize].edges.add_all(&links.outgoing_fences);
        }
        if let Some(node) = node {
            for from in links.incoming.members() {
                self.nodes[from as usize].edges.insert(node);
            }
        }
        self.leave(graph, draft.thread, draft.object, draft.clock);
        if draft.sc {
            let event = graph.events.len() as u32;
            self.nodes.push(Node { event, fence: false, left: None, edges: links.outgoing });
        }
        let before = links.incoming;
        self.events.push(Known { node, fences: links.fences, before, fences_before });
    }

    /// Adds a fence, or an event that is not an access of weak memory. It becomes the next event.
    pub(super) fn add_other(
        &mut self,
        graph: &Graph,
        thread: u32,
        object: u32,
        clocks: (&[u32], &[u32]),
        sc_fence: bool,
    ) {
        let (before, clock) = clocks;
        let fences = self.fences_known(graph, clock);
        let mut incoming = Set::default();
        self.add_program_order(graph, thread, before, &mut incoming);
        let mut node = None;
        if sc_fence {
            node = Some(self.nodes.len() as u32);
            let mut sources = incoming.clone();
            sources.add_all(&fences);
            for (known, event) in self.events.iter().zip(0..) {
                if graph.is_known(event, clock) {
                    sources.add_all(&known.before);
                    sources.add_all(&known.fences_before);
                }
            }
            for from in sources.members() {
                self.nodes[from as usize].edges.extend_with(node);
            }
        }
        self.leave(graph, thread, object, clock);
        if sc_fence {
            let event = graph.events.len() as u32;
            self.nodes.push(Node { event, fence: true, left: None, edges: Set::default() });
        }
        self.events.push(Known { node, fences, before: incoming, fences_before: Set::default() });
    }

    /// A thread accesses something: marks its nodes on other variables as left.
    fn leave(&mut self, graph: &Graph, thread: u32, object: u32, clock: &[u32]) {
        let time = clock.get(thread as usize).copied().unwrap_or(0);
        for node in self.nodes.iter_mut().filter(|node| node.left.is_none()) {
            let event = graph.events[node.event as usize];
            if event.thread == thread && (event.object != object || object == NONE) {
                node.left = Some(time);
            }
        }
    }
}
