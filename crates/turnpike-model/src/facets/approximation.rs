//! Systems whose states over-approximate their runs, such as zones of models with stopwatches.

use crate::system::StepError;

/// Distinguishes real runs from those that only the states of the model suggest.
///
/// **Contract.** A model offers this if and only if its states may include more than its runs
/// reach. Nothing is missing: if no state shows something, no run does. Whatever a search finds
/// must be confirmed here. Anything unconfirmed is skipped, and
/// [`Model::left_out`](crate::Model::left_out) then reports that.
pub trait Approximation {
    /// Whether the run of these choices from the initial state is real and satisfies the claim.
    fn confirms(&self, choices: &[u32], claim: Claim<'_>) -> Result<bool, StepError>;
}

/// A claim about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim<'a> {
    /// Its transitions are possible, and its last state meets the condition if there is one.
    Reaches(Option<&'a str>),
    /// Something that depends on what its last state *cannot* do.
    Stuck,
    /// Its end can be repeated for ever.
    Repeats,
}
