//! Where components are in the text of a model.

use std::ops::Range;

/// Names the places in the source at which components are.
///
/// **Contract.** Places are byte offsets into the text that the model was read from. Components
/// without a place, such as those that have terminated, are missing.
pub trait SourcePlaces {
    /// Where the components are in `state`, in the order of the model.
    fn source_places(&mut self, state: &[u32]) -> Vec<SourcePlace>;
}

/// Where a component is in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Its name.
    pub component: String,
    /// What it may do next.
    pub range: Range<usize>,
}
