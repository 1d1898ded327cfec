//! Systems whose states show too much: zones of models in which clocks stand still.

use crate::system::StepError;

/// Tells real runs from those that only the states of the model suggest.
///
/// **Contract.** A model hands this out exactly if its states may show more than any run leads to.
/// Nothing is missing: what no state shows, no run shows. Whatever a search finds must be confirmed
/// here. What is not confirmed is skipped, and [`Model::left_out`](crate::Model::left_out) then
/// says so.
pub trait Approximation {
    /// Whether the run of these choices, from the initial state on, is real and shows the claim.
    fn confirms(&self, choices: &[u32], claim: Claim<'_>) -> Result<bool, StepError>;
}

/// What a run is said to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim<'a> {
    /// Its transitions, and that its last state meets a condition if there is one.
    Reaches(Option<&'a str>),
    /// Something that depends on what its last state can *not* do.
    Stuck,
    /// That its end can be repeated for ever.
    Repeats,
}
