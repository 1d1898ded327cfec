//! One stream of events feeds the progress line, JSON lines, the lab and tests.

use serde::Serialize;

use crate::report::Verdict;

/// Something that happened during a search.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// Its number, from 0.
        run: u64,
        /// Its seed.
        seed: u64,
    },
    /// A sign of life, about five times a second.
    Progress(Progress),
    /// A strategy that goes by levels chose the states of the next one. Reported on request only.
    Level {
        /// The run.
        run: u64,
        /// Distance from the initial state.
        depth: u32,
        /// Content hashes of the states.
        states: Vec<u64>,
    },
    /// Genetic search evaluated a generation.
    Generation {
        /// The run.
        run: u64,
        /// Its number, from 0.
        generation: u32,
        /// Fitness of the best chromosome.
        best: f64,
        /// Mean fitness of the population.
        average: f64,
    },
    /// A witness is being shortened.
    Shortening {
        /// The run.
        run: u64,
        /// Transitions of the shortest witness so far.
        length: usize,
    },
    /// A run is over.
    RunFinished {
        /// The run.
        run: u64,
        /// Its verdict.
        verdict: Verdict,
        /// Expansions.
        states: u64,
    },
}

/// Counters of a run under way.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Progress {
    /// The run.
    pub run: u64,
    /// Expansions so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// Depth of the deepest expanded state.
    pub depth: u32,
    /// Seconds since the run began.
    pub seconds: f64,
    /// Resident memory.
    pub bytes: u64,
    /// In a portfolio of strategies: which one is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<&'static str>,
    /// Of several processes: expansions of each, up to the level under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u64>,
}

/// Receives events, from any thread.
pub type EventSink<'a> = dyn Fn(&Event) + Sync + 'a;
