//! Compiles clusters of summands on demand, for processes with too many to compile all of them.
//!
//! In a state, the guards of each component select a set of its possible edges. These sets are
//! numbered. A cluster depends only on the sets of the components that take part in it, so it is
//! compiled once, however many combinations of sets it occurs in. The order of compilation is not
//! observable: a state always gets its clusters in the same order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::Compiler;
use super::network::Cluster;
use crate::compile::evaluator::{Code, Machine};
use crate::lower::Composition;
use crate::typed::Program;
use crate::value::Value;

/// The number of cached combinations of edge sets.
const MAX_CACHED_COMBINATIONS: usize = 1 << 17;

/// Compiles clusters for all explorers.
#[derive(Debug)]
pub(crate) struct OnDemand {
    pub(crate) components: Vec<Component>,
    builder: Mutex<ClusterBuilder>,
}

/// When the edges of a component are possible.
#[derive(Debug)]
pub(crate) struct Component {
    /// The word that holds its location.
    pub(crate) control: Option<u32>,
    /// The edges that leave each location.
    pub(crate) places: Vec<LocationEdges>,
}

/// The edges that leave a location.
#[derive(Debug, Default)]
pub(crate) struct LocationEdges {
    edges: Vec<(u32, Vec<Code>)>,
    /// The words that their conditions read.
    pub(crate) reads: Vec<u32>,
}

#[derive(Debug)]
struct ClusterBuilder {
    composition: Composition,
    compiler: Compiler,
    /// By the components that take part and the numbers of their edge sets.
    clusters: FxHashMap<Vec<(u32, u32)>, Arc<CompiledCluster>>,
    combinations: FxHashMap<Vec<u32>, Arc<[Arc<CompiledCluster>]>>,
}

/// A numbered cluster.
#[derive(Debug)]
pub(crate) struct CompiledCluster {
    pub(crate) number: u32,
    pub(crate) cluster: Arc<Cluster>,
    /// The frame size that it needs.
    pub(crate) frame: usize,
}

impl LocationEdges {
    /// The edges whose guards are not false. An undecided guard is left to the summands, which
    /// report the cause.
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
    /// Enlarges `frame` to what the guards need.
    pub(crate) fn new(composition: Composition, mut compiler: Compiler, frame: &mut usize) -> Self {
        let components = (0..composition.components())
            .map(|component| {
                let mut places: Vec<LocationEdges> = Vec::new();
                for guarded in composition.guarded(&compiler.program, component) {
                    let from = guarded.from as usize;
                    if places.len() <= from {
                        places.resize_with(from + 1, LocationEdges::default);
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
        let (clusters, combinations) = (FxHashMap::default(), FxHashMap::default());
        OnDemand {
            components,
            builder: Mutex::new(ClusterBuilder { composition, compiler, clusters, combinations }),
        }
    }

    fn builder(&self) -> MutexGuard<'_, ClusterBuilder> {
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a set of edges of a component.
    pub(crate) fn set(&self, component: usize, edges: &[u32]) -> u32 {
        self.builder().composition.set(component, edges)
    }

    /// The clusters for the edge sets of all components.
    pub(crate) fn clusters(&self, sets: &[u32]) -> Result<Arc<[Arc<CompiledCluster>]>, Diagnostic> {
        self.builder().clusters(sets)
    }

    /// The program with everything that was added to it so far.
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.builder().compiler.program)
    }
}

impl ClusterBuilder {
    fn clusters(&mut self, sets: &[u32]) -> Result<Arc<[Arc<CompiledCluster>]>, Diagnostic> {
        if let Some(known) = self.combinations.get(sets) {
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
            let compiled = Arc::new(CompiledCluster { number, cluster: Arc::new(cluster), frame });
            self.clusters.insert(joint.components, Arc::clone(&compiled));
            all.push(compiled);
        }
        // What has no summands needs no visit.
        all.retain(|compiled| !compiled.cluster.groups.is_empty());
        if self.combinations.len() >= MAX_CACHED_COMBINATIONS {
            self.combinations.clear();
        }
        let all: Arc<[Arc<CompiledCluster>]> = all.into();
        self.combinations.insert(sets.to_vec(), Arc::clone(&all));
        Ok(all)
    }
}
