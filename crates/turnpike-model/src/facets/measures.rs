//! Numbers that describe a state: fitness, guides, and what `min` and `max` look at.

/// Evaluates the measures that [`ModelInfo::measures`](crate::ModelInfo::measures) names.
///
/// **Contract.** An explorer hands this out if its model names at least one measure. Strategies
/// look measures up by name, so they never ask for an index that does not exist.
pub trait Measures {
    /// The value of a measure in `state`; NaN if it has none there.
    ///
    /// # Panics
    /// May panic when `index` is out of range.
    fn measure(&mut self, state: &[u32], index: usize) -> f64;
}

/// A numeric measure of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureInfo {
    /// Name as used in options.
    pub name: String,
    /// One line for the user.
    pub doc: String,
}

impl MeasureInfo {
    /// A measure with its description.
    pub fn new(name: impl Into<String>, doc: impl Into<String>) -> Self {
        MeasureInfo { name: name.into(), doc: doc.into() }
    }
}
