//! Summands that are made where they are needed: for the locations at hand, when all of them together would be too many.
//!
//! What can happen at some locations consists of clusters, each concerning some of the components. A cluster depends on the locations of
//! these alone, so it is compiled once, however many combinations of locations it is part of. In which order clusters are made shows
//! nowhere: at the same locations they always come in the same order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::compile::Compiler;
use super::network::Cluster;
use crate::linear::Composition;
use crate::sorts::Program;

/// Combinations of locations that are remembered.
const MOST_PLACES: usize = 1 << 17;

/// What makes clusters, shared by all explorers.
#[derive(Debug)]
pub(super) struct Late {
    workshop: Mutex<Workshop>,
}

#[derive(Debug)]
struct Workshop {
    composition: Composition,
    compiler: Compiler,
    /// By the locations that they need.
    clusters: FxHashMap<Vec<(usize, u32)>, Arc<Made>>,
    places: FxHashMap<Vec<u32>, Arc<[Arc<Made>]>>,
}

/// A cluster, with a number of its own.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) number: u32,
    pub(super) cluster: Arc<Cluster>,
    /// Slots that a frame needs for it.
    pub(super) frame: usize,
}

impl Late {
    pub(super) fn new(composition: Composition, compiler: Compiler) -> Self {
        let (clusters, places) = (FxHashMap::default(), FxHashMap::default());
        Late { workshop: Mutex::new(Workshop { composition, compiler, clusters, places }) }
    }

    fn workshop(&self) -> MutexGuard<'_, Workshop> {
        self.workshop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clusters at some locations: those of the control parameters `controls`.
    pub(super) fn clusters(
        &self,
        controls: &[u32],
        locations: &[u32],
    ) -> Result<Arc<[Arc<Made>]>, Diagnostic> {
        self.workshop().clusters(controls, locations)
    }

    /// The program with what was added to it so far.
    pub(super) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.workshop().compiler.program)
    }
}

impl Workshop {
    fn clusters(&mut self, controls: &[u32], locations: &[u32]) -> Result<Arc<[Arc<Made>]>, Diagnostic> {
        if let Some(known) = self.places.get(locations) {
            return Ok(Arc::clone(known));
        }
        let location = |parameter: usize| {
            let at = controls.binary_search(&(parameter as u32));
            at.map_or(0, |at| locations[at])
        };
        let joints = self.composition.at(self.compiler.program(), location)?;
        let mut all = Vec::with_capacity(joints.len());
        for joint in joints {
            if let Some(known) = self.clusters.get(&joint.locations) {
                all.push(Arc::clone(known));
                continue;
            }
            let summands = self.composition.summands(self.compiler.program(), &joint);
            let (cluster, frame) = self.compiler.cluster(&summands);
            let number = self.clusters.len() as u32;
            let made = Arc::new(Made { number, cluster: Arc::new(cluster), frame });
            self.clusters.insert(joint.locations, Arc::clone(&made));
            all.push(made);
        }
        // What has no summands needs no visit.
        all.retain(|made| !made.cluster.groups.is_empty());
        if self.places.len() >= MOST_PLACES {
            self.places.clear();
        }
        let all: Arc<[Arc<Made>]> = all.into();
        self.places.insert(locations.to_vec(), Arc::clone(&all));
        Ok(all)
    }
}
