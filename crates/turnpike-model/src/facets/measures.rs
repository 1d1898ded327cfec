//! Numbers that describe a state, for fitness functions, guides, `min` and `max`.

/// Evaluates the measures that [`ModelInfo::measures`](crate::ModelInfo::measures) names.
///
/// **Contract.** An explorer offers this if its model names at least one measure. Strategies look
/// measures up by name, so they never request an index that does not exist.
pub trait Measures {
    /// The value of a measure in `state`; NaN if it has none.
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
