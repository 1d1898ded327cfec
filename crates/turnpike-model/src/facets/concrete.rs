//! Concrete states of models with symbolic states: clock valuations instead of zones.

use crate::system::{Explorer, StepError};

/// Walks on concrete states, where a step is cheaper than on symbolic ones.
///
/// **Contract.** Every concrete state belongs to some symbolic state of the model, so that whatever
/// a walk finds can be followed on the model itself. Not every concrete state is reached.
pub trait Concrete {
    /// An explorer of concrete states. Its initial state is a virtual root
    /// ([`ModelInfo::virtual_root`](crate::ModelInfo::virtual_root)), and its words have their own
    /// meaning.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// The number of words in a state of that explorer.
    fn width(&self) -> usize;

    /// The paths of the model's own explorer, as choices, that take the same transitions as these
    /// choices of the concrete explorer.
    fn follow(&self, choices: &[u32]) -> Result<Vec<Vec<u32>>, StepError>;
}
