//! States that subsume others, such as zones of timed automata that include each other.

/// Compares states of one explorer by their behaviours.
///
/// **Contract.** A state covers another if it has all behaviours of the other. The relation is
/// reflexive and transitive, and only states with the same *key*, their leading words, are related.
/// Without this facet, states only cover themselves.
pub trait Covering {
    /// Leading words that states must share to cover each other.
    fn key_words(&self) -> usize;

    /// Whether `bigger` covers `smaller`.
    fn covers(&mut self, bigger: &[u32], smaller: &[u32]) -> bool;

    /// The index of one of `others` that covers `state`: the first, unless the front-end knows a
    /// better one. `None` may also mean that a longer search would not pay off.
    ///
    /// All of `others` have the key of `state`. Only the words after the key are passed, one state
    /// after the other.
    fn find_covering(&mut self, state: &[u32], others: &[u32]) -> Option<usize> {
        let key_words = self.key_words();
        let mut other = state.to_vec();
        others.chunks_exact((state.len() - key_words).max(1)).position(|words| {
            other[key_words..].copy_from_slice(words);
            self.covers(&other, state)
        })
    }

    /// The index of the first of `others`, passed as in [`find_covering`](Self::find_covering),
    /// that `state` covers.
    fn find_covered(&mut self, state: &[u32], others: &[u32]) -> Option<usize> {
        let key_words = self.key_words();
        let mut other = state.to_vec();
        others.chunks_exact((state.len() - key_words).max(1)).position(|words| {
            other[key_words..].copy_from_slice(words);
            self.covers(state, &other)
        })
    }
}
