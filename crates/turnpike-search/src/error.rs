use turnpike_model::{Diagnostic, StepError, StepErrorKind, Trace};

use crate::limits::StopReason;

/// What can go wrong in a search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The request makes no sense for this model: an unknown measure, an objective the front-end lacks.
    #[error("{0}")]
    Usage(Diagnostic),
    /// The model could not take a step. Carries how it got there.
    #[error("{error} (after {} steps, seed {seed:#x})", trace.len())]
    Step {
        /// What the front-end says.
        error: StepError,
        /// The run's seed.
        seed: u64,
        /// The path to the state that could not be expanded.
        trace: Box<Trace>,
    },
    /// A program did something else when it was executed again with the same schedule.
    #[error("the program is not deterministic: {0}")]
    Nondeterministic(String),
    /// A witness did not replay: a defect of the front-end or of the engine.
    #[error("internal error: a witness did not replay: {0}")]
    Replay(String),
}

impl From<Diagnostic> for SearchError {
    fn from(diagnostic: Diagnostic) -> Self {
        SearchError::Usage(diagnostic)
    }
}

/// Leaves a strategy early: an ordinary stop, or an error.
#[derive(Debug)]
pub enum Halt {
    /// A limit was reached, or enough was found.
    Stop(StopReason),
    /// The search cannot go on.
    Error(Box<SearchError>),
}

impl From<SearchError> for Halt {
    fn from(error: SearchError) -> Self {
        Halt::Error(Box::new(error))
    }
}

impl SearchError {
    /// A witness could not be executed again: either the program is not deterministic, or this is a defect.
    pub(crate) fn from_replay_failure(error: StepError) -> Self {
        match error.kind {
            StepErrorKind::Nondeterministic => SearchError::Nondeterministic(error.message),
            _ => SearchError::Replay(error.message),
        }
    }
}
