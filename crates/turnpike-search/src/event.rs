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
        /// Transitions of the witness at hand.
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
}

/// Receives events, from any thread.
pub type EventSink<'a> = dyn Fn(&Event) + Sync + 'a;
