//! Generates the whole reachable state space in breadth-first order.
//!
//! If the model has a virtual root, it is state 0 of the output and counts like any other state. A
//! search does not count it, but a transition system must have exactly one initial state.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::{LabelId, Model, Successors};

use crate::checkpoint::Checkpoints;
use crate::crew::{self, Explored, breadth_first, has_names};
use crate::error::{Halt, SearchError};
use crate::event::EventSink;
use crate::exchange::Processes;
use crate::limits::{Limits, StopReason};
use crate::options::SearchOptions;
use crate::resources;
use crate::run::{Control, Run};
use crate::search::{check_processes, check_spill};
use crate::spill::{self, Spill};
use crate::store::{ROOT, StoreKind, Visited};
use crate::strategy::Bfs;
use crate::witness::Path;

/// Receives the transitions, grouped by source in order of discovery; states are numbered from 0, the initial one.
pub trait TransitionSink {
    /// Whether it does anything with transitions. Where it does not, they need not be put in order.
    fn wants_transitions(&self) -> bool {
        true
    }

    /// One transition. An error ends the generation.
    fn transition(&mut self, from: u32, label: LabelId, to: u32) -> std::io::Result<()>;

    /// Several transitions in order.
    fn transitions(&mut self, batch: &mut dyn Iterator<Item = (u32, LabelId, u32)>) -> std::io::Result<()> {
        for (from, label, to) in batch {
            self.transition(from, label, to)?;
        }
        Ok(())
    }
}

/// Counts only.
pub struct Discard;

impl TransitionSink for Discard {
    fn wants_transitions(&self) -> bool {
        false
    }

    fn transition(&mut self, _: u32, _: LabelId, _: u32) -> std::io::Result<()> {
        Ok(())
    }

    fn transitions(&mut self, _: &mut dyn Iterator<Item = (u32, LabelId, u32)>) -> std::io::Result<()> {
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
    /// Use the threads even where one alone is faster.
    pub eager_threads: bool,
    /// The processes that generate together; the result does not depend on them. Their sinks must not
    /// want transitions.
    pub processes: Option<Processes>,
    /// What is left behind to go on from later, and what to go on from. The sink must not want
    /// transitions.
    pub checkpoints: Checkpoints,
    /// Where states go that memory has no room for; the result does not depend on it. The sink must not
    /// want transitions.
    pub spill: Option<Spill>,
    /// One that takes no state for another.
    pub store: StoreKind,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions {
            limits: Limits::default(),
            threads: 1,
            eager_threads: false,
            processes: None,
            checkpoints: Checkpoints::default(),
            spill: None,
            store: StoreKind::Auto,
        }
    }
}

/// Most words of states that are sorted by the first two.
const SORTABLE: usize = 4;

/// What was generated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GenerateReport {
    /// Why it stopped; `exhausted` when the system is complete.
    pub stop: StopReason,
    /// States found; all are expanded when the system is complete.
    pub states: u64,
    /// Transitions of expanded states.
    pub transitions: u64,
    /// Expanded states without outgoing transitions; of a program only those in which threads wait
    /// for ever, not those in which it has ended.
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
    let mut request = SearchOptions::new(Bfs::default());
    request.limits = options.limits.clone();
    request.store = options.store;
    request.witness = false;
    request.eager_threads = options.eager_threads;
    request.processes = options.processes.clone();
    request.checkpoints = options.checkpoints.clone();
    request.spill = options.spill.clone();
    check_processes(&request, model).map_err(SearchError::from)?;
    check_spill(&request).map_err(SearchError::from)?;
    let counted = !sink.wants_transitions()
        && options.limits.states.is_none()
        && !options.checkpoints.are_wanted()
        && serves_any_order(model);
    let first = generate_once(model, options, &request, counted, sink, (events, interrupt));
    match first {
        // Which error is the first one, and what is counted up to it, only the order tells.
        Err(GenerateError::Search(_)) if counted => {
            generate_once(model, options, &request, false, sink, (events, interrupt))
        }
        other => other,
    }
}

/// Whether the states of a level may be expanded in any order without making that slower. What explorers keep for
/// interned values serves neighbours in the sequential order. Instead of that, states of a few words can be sorted.
fn serves_any_order(model: &dyn Model) -> bool {
    match model.info().width {
        0 => false,
        1..=SORTABLE => true,
        _ => !has_names(&mut *model.explorer()),
    }
}

/// The same, in any order where `counted` says so.
fn generate_once(
    model: &dyn Model,
    options: &GenerateOptions,
    request: &SearchOptions,
    counted: bool,
    sink: &mut dyn TransitionSink,
    (events, interrupt): (&EventSink<'_>, &AtomicBool),
) -> Result<GenerateReport, GenerateError> {
    let mut run = Run::new(model, request, &[], 0, 0, Control { events, interrupt })?;
    run.any_order = counted;
    run.team.threads = options.threads;
    // Every state of what is written is counted, also an initial one from which the proper ones are reached.
    run.count_root();
    let mut space = Space {
        visited: Visited::new(options.store, run.width(), false),
        sink,
        deadlocks: 0,
        // A program that has come to its end is not stuck.
        ends: model.paths().is_some(),
        levels: 0,
        failure: None,
        pending: run.buffer(),
        sources: Vec::new(),
        targets: Vec::new(),
    };
    let Explored { outcome, states, deadlocks, levels, bytes } = space.explore_all(&mut run);
    let stop = match outcome {
        Ok(stop) => stop,
        Err(Halt::Stop(stop)) => stop,
        Err(Halt::Error(error)) => return Err(GenerateError::Search(*error)),
    };
    if let Some(error) = space.failure {
        return Err(GenerateError::Output(error));
    }
    Ok(GenerateReport {
        stop,
        states,
        transitions: run.counters.transitions,
        deadlocks,
        levels,
        actions: run.view.monitor.action_counts(&mut *run.view.explorer),
        seconds: run.seconds(),
        peak_bytes: resources::peak_bytes(),
        store_bytes: bytes,
    })
}

/// Transitions collected before they are inserted together, so that the store's cache misses overlap.
const TOGETHER: usize = 112;

struct Space<'a> {
    visited: Visited,
    sink: &'a mut dyn TransitionSink,
    deadlocks: u64,
    /// Whether states without outgoing transitions may be proper ends of the system.
    ends: bool,
    levels: u64,
    failure: Option<std::io::Error>,
    /// Transitions not inserted yet, and the source of each.
    pending: Successors,
    sources: Vec<u32>,
    targets: Vec<u32>,
}

/// How the part of the exploration on one thread ended.
enum Ended {
    Stop(StopReason),
    /// Several threads should go on with these states.
    WorthThreads(Range<u32>),
}

impl Space<'_> {
    fn explore_all(&mut self, run: &mut Run<'_>) -> Explored {
        if let Some(spill) = &run.options.spill {
            return spill::breadth_first(run, spill, Some(self.ends));
        }
        let ended = self.explore(run);
        let outcome = match crew::agree(run, ended) {
            Ok(Ended::Stop(stop)) => Ok(stop),
            Ok(Ended::WorthThreads(level)) => {
                let visited = std::mem::replace(&mut self.visited, run.visited());
                match breadth_first(run, visited, level, self.levels as u32, Some(self.ends)) {
                    Ok(more) => return Explored { deadlocks: self.deadlocks + more.deadlocks, ..more },
                    Err(halt) => Err(halt),
                }
            }
            Err(halt) => Err(halt),
        };
        Explored {
            outcome,
            states: self.visited.len() as u64,
            deadlocks: self.deadlocks,
            levels: self.levels,
            bytes: self.visited.bytes() as u64,
        }
    }

    fn explore(&mut self, run: &mut Run<'_>) -> Result<Ended, Halt> {
        let initial = run.initial()?;
        self.visited.insert_exact(&initial, ROOT);
        let (mut start, mut end) = (0u32, 1u32);
        let (mut states, mut state) = (Vec::new(), Vec::new());
        while start < end {
            if self.levels == u64::from(run.view.max_depth) {
                return Ok(Ended::Stop(StopReason::MaxDepth));
            }
            let size = (end - start) as usize;
            if !self.sink.wants_transitions() && crew::is_worth(run, size, self.visited.len()) {
                return Ok(Ended::WorthThreads(start..end));
            }
            while start < end {
                let batch = start..end.min(start + BATCH);
                states.clear();
                for id in batch.clone() {
                    self.visited.load(id, &mut state);
                    states.extend_from_slice(&state);
                }
                let outcome = run.expand_level(
                    &states,
                    self.levels as u32,
                    self,
                    |_, _| nowhere(),
                    |run, space, index, state, successors| {
                        let stuck = successors.is_empty()
                            && (!space.ends || run.view.explorer.is_deadlock(state, successors));
                        space.take(batch.start + index as u32, successors, stuck)?;
                        run.check(state, successors, &nowhere)
                    },
                );
                // What was expanded counts, also when a limit ended the level.
                self.insert_pending()?;
                outcome?;
                start = batch.end;
            }
            end = self.visited.len() as u32;
            self.levels += 1;
        }
        Ok(Ended::Stop(StopReason::Exhausted))
    }

    fn take(&mut self, from: u32, successors: &Successors, stuck: bool) -> Result<(), Halt> {
        self.deadlocks += u64::from(stuck);
        self.pending.append(successors);
        self.sources.resize(self.pending.len(), from);
        if self.pending.len() >= TOGETHER { self.insert_pending() } else { Ok(()) }
    }

    fn insert_pending(&mut self) -> Result<(), Halt> {
        self.visited.insert_all_exact(&self.pending, ROOT, &mut self.targets);
        let transitions = self.sources.iter().zip(&self.targets).enumerate();
        let mut transitions = transitions.map(|(index, (&from, &to))| (from, self.pending.label(index), to));
        let written = self.sink.transitions(&mut transitions);
        self.pending.clear();
        self.sources.clear();
        written.map_err(|error| {
            self.failure = Some(error);
            Halt::Stop(StopReason::Interrupted)
        })
    }
}

/// Paths are never asked for: nothing is sought.
fn nowhere() -> Path {
    Path::Choices(Vec::new())
}
