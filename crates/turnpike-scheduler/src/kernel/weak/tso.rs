//! Total store order: stores wait in a buffer of their thread, and reach memory in order.
//!
//! As a condition on executions: program order without pairs of a store and a later load, reads
//! from other threads, modification order and from-reads have no common cycle. Sequentially
//! consistent stores and fences, read-modify-writes and synchronisation drain the buffer.

use alloc::vec::Vec;

use super::super::NONE;
use super::Draft;
use super::graph::Graph;
use super::location::Location;

#[derive(Debug)]
pub(super) struct Tso {
    /// By event: its successors.
    after: Vec<Vec<u32>>,
    /// By thread: the last event that loads wait for, and the last that only stores wait for.
    last: Vec<(u32, u32)>,
}

impl Tso {
    pub(super) const fn new() -> Tso {
        Tso { after: Vec::new(), last: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.after.clear();
        self.last.clear();
    }

    fn last_of(&self, thread: u32) -> (u32, u32) {
        self.last.get(thread as usize).copied().unwrap_or((NONE, NONE))
    }

    /// The direct predecessors of the access.
    fn before(&self, graph: &Graph, location: &Location, draft: &Draft<'_>) -> Vec<u32> {
        let (load, store) = self.last_of(draft.thread);
        let mut before = Vec::from([load]);
        if let Some(source) = draft.reads {
            let event = location.writes[source as usize].event;
            if event != NONE && graph.events[event as usize].thread != draft.thread {
                before.push(event);
            }
        }
        if let Some(previous) = draft.writes {
            let previous = &location.writes[previous as usize];
            before.push(previous.event);
            before.extend(&previous.readers);
        }
        if draft.writes.is_some() || draft.drains {
            before.push(store);
        }
        before.retain(|&event| event != NONE);
        before
    }

    /// Whether the access closes no cycle.
    pub(super) fn allows(&self, graph: &Graph, location: &Location, draft: &Draft<'_>) -> bool {
        let start = draft.writes.or(draft.reads).unwrap_or(0);
        let Some(next) = location.behind(start).next() else { return true };
        let before = self.before(graph, location, draft);
        let mut reached = super::graph::Set::default();
        let mut open = Vec::from([next.event]);
        while let Some(event) = open.pop() {
            if before.contains(&event) {
                return false;
            }
            if !reached.contains(event) {
                reached.insert(event);
                open.extend(&self.after[event as usize]);
            }
        }
        true
    }

    /// Adds an allowed access, before it is added to its location. It becomes the next event.
    pub(super) fn add_access(&mut self, graph: &Graph, location: &Location, draft: &Draft<'_>) {
        let event = graph.events.len() as u32;
        for before in self.before(graph, location, draft) {
            self.after[before as usize].push(event);
        }
        let start = draft.writes.or(draft.reads).unwrap_or(0);
        let next = location.behind(start).next().map(|next| next.event);
        self.after.push(next.into_iter().collect());
        let drains = draft.reads.is_some() || draft.sc;
        self.advance(draft.thread, event, drains, draft.writes.is_some());
    }

    /// Adds any other event. It becomes the next event.
    pub(super) fn add_other(&mut self, graph: &Graph, thread: u32, clock: &[u32], drains: bool) {
        let event = graph.events.len() as u32;
        self.after.push(Vec::new());
        if !drains {
            return;
        }
        let (load, store) = self.last_of(thread);
        let mut before = Vec::from([load, store]);
        for other in (0..clock.len() as u32).filter(|&other| other != thread) {
            let known = graph.of_thread(other).iter().rev().find(|&&event| graph.is_known(event, clock));
            before.extend(known);
        }
        for before in before.into_iter().filter(|&before| before != NONE) {
            self.after[before as usize].push(event);
        }
        self.advance(thread, event, true, true);
    }

    fn advance(&mut self, thread: u32, event: u32, loads_wait: bool, stores_wait: bool) {
        let t = thread as usize;
        if t >= self.last.len() {
            self.last.resize(t + 1, (NONE, NONE));
        }
        if loads_wait {
            self.last[t].0 = event;
        }
        if stores_wait {
            self.last[t].1 = event;
        }
    }
}
