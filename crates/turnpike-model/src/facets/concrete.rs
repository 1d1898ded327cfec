//! Single states of models whose states stand for many: clock valuations instead of zones.

use crate::system::{Explorer, StepError};

/// Walks on single states, where a step costs less than on the model's own states.
///
/// **Contract.** Every single state is one of those that some state of the model stands for, so
/// what a walk finds can be followed on the model itself. Not every single state is reached.
pub trait Concrete {
    /// An explorer of single states. Its initial state is a virtual root
    /// ([`ModelInfo::virtual_root`](crate::ModelInfo::virtual_root)), and its words have a meaning
    /// of their own.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// Words in a state of that explorer.
    fn width(&self) -> usize;

    /// The paths of the model's own explorer, as choices, that take the transitions of these
    /// choices of the concrete one.
    fn follow(&self, choices: &[u32]) -> Result<Vec<Vec<u32>>, StepError>;
}
