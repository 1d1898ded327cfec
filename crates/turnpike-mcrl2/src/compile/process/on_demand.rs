//! Clusters of summands that are compiled on demand, because all of them together would be too
//! many.
//!
//! In a state, the guards of each component select a set of its possible edges, which has a number.
//! A cluster depends only on the sets of the components that take part in it, so it is compiled
//! once, however many combinations of sets it occurs in. The order in which clusters are compiled
//! is not observable: the same state always gets them in the same order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::Compiler;
use super::network::Cluster;
use crate::compile::evaluator::{Code, Machine};
use crate::lower::Composition;
use crate::typed::Program;
use crate::value::Value;

/// Combinations of sets that are remembered.
const MOST_PLACES: usize = 1 << 17;

/// What makes clusters, shared by all explorers.
#[derive(Debug)]
pub(crate) struct OnDemand {
    pub(crate) components: Vec<Component>,
    workshop: Mutex<Workshop>,
}

/// A component: when its edges are possible.
#[derive(Debug)]
pub(crate) struct Component {
    /// The word that holds its location.
    pub(crate) control: Option<u32>,
    /// By location.
    pub(crate) places: Vec<Place>,
}

/// The edges that leave a location.
#[derive(Debug, Default)]
pub(crate) struct Place {
    edges: Vec<(u32, Vec<Code>)>,
    /// The words that their conditions read.
    pub(crate) reads: Vec<u32>,
}

#[derive(Debug)]
struct Workshop {
    composition: Composition,
    compiler: Compiler,
    /// By components and their sets.
    clusters: FxHashMap<Vec<(u32, u32)>, Arc<Made>>,
    places: FxHashMap<Vec<u32>, Arc<[Arc<Made>]>>,
}

/// A cluster, with a number of its own.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) number: u32,
    pub(crate) cluster: Arc<Cluster>,
    /// Slots that a frame needs for it.
    pub(crate) frame: usize,
}

impl Place {
    /// The edges that are not impossible. Undecided guards are left to the summands, which report
    /// why.
    pub(crate) fn possible(&self, machine: &mut Machine, base: usize) -> Vec<u32> {
        let mut fails = |code: &Code| {
            let value = machine.evaluate(code, base).ok();
            value.and_then(Value::as_bool) == Some(false)
        };
        let edges = self.edges.iter();
        edges.filter(|(_, codes)| !codes.iter().any(&mut fails)).map(|&(edge, _)| edge).collect()
    }
}

impl OnDemand {
    /// `frame` becomes as large as conditions need it.
    pub(crate) fn new(composition: Composition, mut compiler: Compiler, frame: &mut usize) -> Self {
        let components = (0..composition.components())
            .map(|component| {
                let mut places: Vec<Place> = Vec::new();
                for guarded in composition.guarded(&compiler.program, component) {
                    let from = guarded.from as usize;
                    if places.len() <= from {
                        places.resize_with(from + 1, Place::default);
                    }
                    let (codes, reads, size) = compiler.conditions(&guarded.conditions);
                    *frame = size.max(*frame);
                    let place = &mut places[from];
                    place.edges.push((guarded.edge, codes));
                    place.reads.extend(reads);
                    place.reads.sort_unstable();
                    place.reads.dedup();
                }
                Component { control: composition.control(component).map(|word| word as u32), places }
            })
            .collect();
        let (clusters, places) = (FxHashMap::default(), FxHashMap::default());
        OnDemand { components, workshop: Mutex::new(Workshop { composition, compiler, clusters, places }) }
    }

    fn workshop(&self) -> MutexGuard<'_, Workshop> {
        self.workshop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a set of edges of a component.
    pub(crate) fn set(&self, component: usize, edges: &[u32]) -> u32 {
        self.workshop().composition.set(component, edges)
    }

    /// The clusters for the sets of the components.
    pub(crate) fn clusters(&self, sets: &[u32]) -> Result<Arc<[Arc<Made>]>, Diagnostic> {
        self.workshop().clusters(sets)
    }

    /// The program with what was added to it so far.
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.workshop().compiler.program)
    }
}

impl Workshop {
    fn clusters(&mut self, sets: &[u32]) -> Result<Arc<[Arc<Made>]>, Diagnostic> {
        if let Some(known) = self.places.get(sets) {
            return Ok(Arc::clone(known));
        }
        let joints = self.composition.joints(self.compiler.program(), sets)?;
        let mut all = Vec::with_capacity(joints.len());
        for joint in joints {
            if let Some(known) = self.clusters.get(&joint.components) {
                all.push(Arc::clone(known));
                continue;
            }
            let summands = self.composition.summands(self.compiler.program(), &joint);
            let (cluster, frame) = self.compiler.cluster(&summands);
            let number = self.clusters.len() as u32;
            let made = Arc::new(Made { number, cluster: Arc::new(cluster), frame });
            self.clusters.insert(joint.components, Arc::clone(&made));
            all.push(made);
        }
        // What has no summands needs no visit.
        all.retain(|made| !made.cluster.groups.is_empty());
        if self.places.len() >= MOST_PLACES {
            self.places.clear();
        }
        let all: Arc<[Arc<Made>]> = all.into();
        self.places.insert(sets.to_vec(), Arc::clone(&all));
        Ok(all)
    }
}
