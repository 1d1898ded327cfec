//! States as people should see them, in systems that explore an abstraction of them.

use crate::system::StepError;

/// Computes the states along a path without the abstraction that makes exploring finite.
///
/// **Contract.** An exact state has the same labels, successors and objectives as the explored state
/// of the same path, as far as the model's questions can tell, and explorers of the model describe
/// it like any other. Only the parameters that the facet names are described differently.
pub trait ExactStates {
    /// The states along these choices, the initial state first. `None` if the abstraction cannot be
    /// taken back along this path: numbers become too large, or too many cases have to be told
    /// apart.
    fn states_along(&self, choices: &[u32]) -> Result<Option<Vec<Vec<u32>>>, StepError>;

    /// The parameters, as positions in [`ModelInfo::parameters`](crate::ModelInfo::parameters), of
    /// which explored states show an abstraction.
    fn abstracted_parameters(&self) -> Vec<usize>;
}
