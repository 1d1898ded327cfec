//! When the transitions of a run are taken, in models with time.

use crate::system::StepError;
use crate::trace::StateValues;

/// Gives the transitions of a run exact times.
///
/// **Contract.** Before a schedule is returned, it was executed once more, independently of how it
/// was found.
pub trait Timing {
    /// When each transition of a run is taken. `choices` are positions among the successors, from
    /// the initial state on; `target` is the condition that the last state is to meet, if any.
    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Schedule, StepError>;
}

/// When the transitions of a run are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// One entry for each transition. Delays and times are exact rationals such as `5/2`.
    pub moments: Vec<Moment>,
    /// The delay in the last state after which the target is met, if it is not zero.
    pub last_delay: Option<String>,
}

/// When one transition is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Time since the transition before.
    pub delay: String,
    /// Time since the start.
    pub time: String,
    /// Clock values right after it, by name.
    pub clocks: StateValues,
}
