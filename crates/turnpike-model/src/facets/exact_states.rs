//! States for display, in systems that explore an abstraction of them.

use crate::system::StepError;

/// Computes the states along a path without the abstraction that makes exploration finite.
///
/// **Contract.** An exact state has the same labels, successors and objectives as the explored
/// state of the same path, as far as the conditions of the model can distinguish them, and
/// explorers of the model describe it like any other. Only the parameters that the facet names are
/// described differently.
pub trait ExactStates {
    /// The states along these choices, from the initial state. `None` if the abstraction of this
    /// path cannot be refined: numbers become too large, or too many cases must be distinguished.
    fn states_along(&self, choices: &[u32]) -> Result<Option<Vec<Vec<u32>>>, StepError>;

    /// The parameters for which explored states show an abstraction, as positions in
    /// [`ModelInfo::parameters`](crate::ModelInfo::parameters).
    fn abstracted_parameters(&self) -> Vec<usize>;
}
