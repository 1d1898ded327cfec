//! The positions of components in the text of a model.

use std::ops::Range;

/// Maps components to their positions in the source.
///
/// **Contract.** Positions are byte offsets into the text of the model. Components without a
/// position, such as those that have terminated, are missing.
pub trait SourcePlaces {
    /// The positions of the components in `state`, in the order of the model.
    fn source_places(&mut self, state: &[u32]) -> Vec<SourcePlace>;
}

/// The position of a component in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Its name.
    pub component: String,
    /// The range of what it may do next.
    pub range: Range<usize>,
}
