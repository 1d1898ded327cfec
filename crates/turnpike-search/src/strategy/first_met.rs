//! Back-pointers of a walk: every state that was considered knows the state from which it was met first.
//!
//! The tool with which highway search was published built the witnesses of random walks from such
//! pointers. They are often shorter than the walk without its loops, and take memory for every
//! state considered.

use turnpike_model::Successors;

use crate::run::Run;
use crate::store::{ROOT, StoreKind, Visited};
use crate::witness::Path;

/// The states considered so far, and where the walk is.
pub(super) struct FirstMet {
    met: Visited,
    at: u32,
    /// The successors of the present state.
    successors: Vec<u32>,
}

impl FirstMet {
    pub(super) fn new(run: &Run<'_>) -> Self {
        FirstMet { met: Visited::new(StoreKind::Auto, run.width(), true), at: 0, successors: Vec::new() }
    }

    pub(super) fn begin(&mut self, initial: &[u32]) {
        self.at = self.met.insert_exact(initial, ROOT).0;
    }

    pub(super) fn consider(&mut self, successors: &Successors) {
        self.met.insert_all_exact(successors, self.at, &mut self.successors);
    }

    pub(super) fn enter(&mut self, choice: usize) {
        self.at = self.successors[choice];
    }

    pub(super) fn path(&self) -> Path {
        self.met.path(self.at)
    }
}
