//! The whole reachable state space, in breadth-first order.

use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::{LabelId, Model};

use crate::error::{Halt, SearchError};
use crate::event::EventSink;
use crate::limits::{Limits, StopReason};
use crate::options::SearchOptions;
use crate::resources;
use crate::run::{Control, Run};
use crate::store::{ROOT, StoreKind, Visited};
use crate::strategy::Strategy;

/// Receives the transitions, grouped by source in order of discovery; states are numbered from 0, the initial one.
pub trait TransitionSink {
    /// One transition. An error ends the generation.
    fn transition(&mut self, from: u32, label: LabelId, to: u32) -> std::io::Result<()>;
}

/// Counts only.
pub struct Discard;

impl TransitionSink for Discard {
    fn transition(&mut self, _: u32, _: LabelId, _: u32) -> std::io::Result<()> {
        Ok(())
    }
}

/// How to generate.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Bounds.
    pub limits: Limits,
    /// Threads; the result does not depend on it.
    pub threads: usize,
    /// Exact or tree-compressed.
    pub store: StoreKind,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions { limits: Limits::default(), threads: 1, store: StoreKind::Exact }
    }
}

/// What was generated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GenerateReport {
    /// Why it stopped; `exhausted` when the system is complete.
    pub stop: StopReason,
    /// States found; all are expanded when the system is complete.
    pub states: u64,
    /// Transitions of expanded states.
    pub transitions: u64,
    /// Expanded states without outgoing transitions.
    pub deadlocks: u64,
    /// Breadth-first levels.
    pub levels: u64,
    /// Transitions per action name.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub actions: indexmap::IndexMap<String, u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Peak resident memory of the process.
    pub peak_bytes: u64,
    /// Bytes of the state store.
    pub store_bytes: u64,
}

/// An error while generating.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The model or the request.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The sink.
    #[error("cannot write the transition system: {0}")]
    Output(#[from] std::io::Error),
}

/// States loaded at a time.
const BATCH: u32 = 1 << 14;

/// Generates the reachable state space.
pub fn generate(
    model: &dyn Model,
    options: &GenerateOptions,
    sink: &mut dyn TransitionSink,
    events: &EventSink<'_>,
    interrupt: &AtomicBool,
) -> Result<GenerateReport, GenerateError> {
    let mut request = SearchOptions::new(Strategy::Bfs);
    request.limits = options.limits.clone();
    request.store = options.store;
    request.witness = false;
    let mut run = Run::new(model, &request, &[], 0, 0, Control { events, interrupt })?;
    run.threads = options.threads;
    let mut space = Space {
        visited: Visited::new(options.store, run.width(), false),
        sink,
        deadlocks: 0,
        levels: 0,
        failure: None,
    };
    let stop = match space.explore(&mut run) {
        Ok(stop) => stop,
        Err(Halt::Stop(stop)) => stop,
        Err(Halt::Error(error)) => return Err(GenerateError::Search(*error)),
    };
    if let Some(error) = space.failure {
        return Err(GenerateError::Output(error));
    }
    Ok(GenerateReport {
        stop,
        states: space.visited.len() as u64,
        transitions: run.counters.transitions,
        deadlocks: space.deadlocks,
        levels: space.levels,
        actions: run.monitor.action_counts(&mut *run.explorer),
        seconds: run.seconds(),
        peak_bytes: resources::peak_bytes(),
        store_bytes: space.visited.bytes() as u64,
    })
}

struct Space<'a> {
    visited: Visited,
    sink: &'a mut dyn TransitionSink,
    deadlocks: u64,
    levels: u64,
    failure: Option<std::io::Error>,
}

impl Space<'_> {
    fn explore(&mut self, run: &mut Run<'_>) -> Result<StopReason, Halt> {
        let initial = run.initial()?;
        self.visited.insert_exact(&initial, ROOT);
        let (mut start, mut end) = (0u32, 1u32);
        let (mut states, mut state) = (Vec::new(), Vec::new());
        while start < end {
            if self.levels == u64::from(run.max_depth) {
                return Ok(StopReason::MaxDepth);
            }
            while start < end {
                let batch = start..end.min(start + BATCH);
                states.clear();
                for id in batch.clone() {
                    self.visited.load(id, &mut state);
                    states.extend_from_slice(&state);
                }
                run.expand_level(
                    &states,
                    self.levels as u32,
                    self,
                    |_, _| crate::witness::Path::Choices(Vec::new()),
                    |run, space, index, state, successors| {
                        let from = batch.start + index as u32;
                        space.deadlocks += u64::from(successors.is_empty());
                        for (label, target) in successors.iter() {
                            let (to, _) = space.visited.insert_exact(target, ROOT);
                            if let Err(error) = space.sink.transition(from, label, to) {
                                space.failure = Some(error);
                                return Err(Halt::Stop(StopReason::Interrupted));
                            }
                        }
                        run.check(state, successors, &|| crate::witness::Path::Choices(Vec::new()))
                    },
                )?;
                start = batch.end;
            }
            end = self.visited.len() as u32;
            self.levels += 1;
        }
        Ok(StopReason::Exhausted)
    }
}
