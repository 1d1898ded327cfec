//! Prepares a network for exploration: scaled constants, clock bounds by location, edges by
//! location, and the bit layout of states.

pub mod analysis;
pub(crate) mod layout;
pub(crate) mod scale;
pub(crate) mod tables;
