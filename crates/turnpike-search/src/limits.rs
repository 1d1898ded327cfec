//! Limits on a search, and why it stopped.

use std::time::Duration;

use serde::Serialize;

/// Bounds on one run. A limit that is reached is a reason to stop, not an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Exactly this many expansions are allowed.
    pub states: Option<u64>,
    /// For programs: this many executions, shortening not included.
    pub executions: Option<u64>,
    /// States at this depth are not expanded.
    pub depth: Option<u32>,
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Resident memory in bytes. Without it, three quarters of the machine's memory.
    pub memory: Option<u64>,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// The objective was met.
    Found,
    /// Every reachable state was expanded.
    Exhausted,
    /// The strategy came to its end without having covered everything.
    Finished,
    /// The limit on expansions.
    MaxStates,
    /// The limit on executions.
    MaxExecutions,
    /// The limit on depth kept states from being expanded.
    MaxDepth,
    /// The limit on time.
    MaxTime,
    /// The limit on memory.
    MaxMemory,
    /// The user interrupted the search.
    Interrupted,
    /// Another process of the search ended, or does not answer.
    ProcessLost,
}

impl StopReason {
    /// A sentence for the user.
    pub fn describe(self) -> &'static str {
        match self {
            StopReason::Found => "the objective was met",
            StopReason::Exhausted => "every reachable state was expanded",
            StopReason::Finished => "the strategy came to its end without covering everything",
            StopReason::MaxStates => "the limit on states was reached",
            StopReason::MaxExecutions => "the limit on executions was reached",
            StopReason::MaxDepth => "the limit on depth was reached",
            StopReason::MaxTime => "the time limit was reached",
            StopReason::MaxMemory => "the memory limit was reached",
            StopReason::Interrupted => "interrupted",
            StopReason::ProcessLost => "a process was lost",
        }
    }
}
