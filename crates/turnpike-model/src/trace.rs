//! Witnesses: paths from the initial state, with enough inside to replay them years later.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Values of a state by parameter name, in the model's order.
pub type StateValues = IndexMap<String, String>;

/// One transition of a trace and the state it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The label's text.
    pub label: String,
    /// Position of the transition among those of its source state, in the front-end's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<u32>,
    /// The state reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateValues>,
}

/// A path from the initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The model's name.
    pub model: String,
    /// The model's content hash; 0 when unknown.
    pub fingerprint: u64,
    /// What the trace shows, in the syntax of `--find`; empty when unknown.
    pub objective: String,
    /// The strategy that found it; empty when unknown.
    pub strategy: String,
    /// The seed of the run that found it.
    pub seed: Option<u64>,
    /// For a lasso: the index of the state that the last step returns to (0 is the initial state).
    pub loop_start: Option<usize>,
    /// Values of the initial state.
    pub initial: Option<StateValues>,
    /// The transitions.
    pub steps: Vec<Step>,
}

impl Trace {
    /// Number of transitions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether the trace ends in the initial state.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
