//! Limits for work that may explode.

/// The default limit: about a gigabyte.
pub const DEFAULT_LIMIT: usize = 100_000_000;

/// A relation could not be decided, because the work exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Explosion {
    /// The sets of states that traces lead to, with all their members.
    #[error("the sets of states that traces lead to have more than {0} members")]
    Determinising(usize),
    /// The steps with any number of internal steps before and after them.
    #[error("the steps up to internal steps are more than {0}")]
    Saturating(usize),
    /// The pairs of a state and a state that may simulate it.
    #[error("the pairs of states that may simulate each other are more than {0}")]
    Pairing(usize),
}

impl Explosion {
    /// An error if `used` exceeds `limit`.
    pub(crate) fn check(used: usize, limit: usize, kind: fn(usize) -> Explosion) -> Result<(), Explosion> {
        // Positions in lists have four bytes.
        if used > limit.min(u32::MAX as usize / 2) { Err(kind(limit)) } else { Ok(()) }
    }
}
