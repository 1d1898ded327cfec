use turnpike_model::{Diagnostic, StepError, Trace};

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
pub(crate) enum Halt {
    Stop(StopReason),
    Error(Box<SearchError>),
}

impl From<SearchError> for Halt {
    fn from(error: SearchError) -> Self {
        Halt::Error(Box::new(error))
    }
}

/// How programs tell that the same schedule did not give the same execution.
const NONDETERMINISTIC: &str = "the program is not deterministic: ";

impl SearchError {
    /// A witness could not be executed again: either the program does as it likes, or we made a mistake.
    pub(crate) fn not_again(error: StepError) -> Self {
        match error.message.strip_prefix(NONDETERMINISTIC) {
            Some(difference) => SearchError::Nondeterministic(difference.to_owned()),
            None => SearchError::Replay(error.message),
        }
    }
}
