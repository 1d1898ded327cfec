//! The times of the transitions of a run, in models with time.

use crate::system::StepError;
use crate::trace::StateValues;

/// Computes exact times for the transitions of a run.
///
/// **Contract.** Returned schedules have been executed again, independently of how they were found.
pub trait Timing {
    /// The times of the transitions of a run. `choices` are positions among the successors,
    /// starting in the initial state. `target` is the condition that the last state must meet, if
    /// any.
    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Schedule, StepError>;
}

/// The times of the transitions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// One entry for each transition. Delays and times are exact rationals such as `5/2`.
    pub moments: Vec<Moment>,
    /// The delay in the last state after which the target is met, unless it is zero.
    pub last_delay: Option<String>,
}

/// The time of one transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time since the previous transition.
    pub delay: String,
    /// The time since the start.
    pub time: String,
    /// The clock values right after it, by name.
    pub clocks: StateValues,
}
