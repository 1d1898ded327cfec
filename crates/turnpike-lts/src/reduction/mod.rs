//! Minimising and comparing systems up to bisimilarity.

mod branching;
mod compare;
mod components;
mod equivalence;
mod experiment;
mod graph;
mod quotient;
mod signature;
mod strong;
mod traces;

pub use compare::{Comparison, Difference, Move, Side, compare};
pub use equivalence::{Equivalence, Partition, UnknownEquivalence, partition};
pub use quotient::reduce;

/// The label that stands for an endless run of internal steps in a [`Difference`].
pub const DIVERGENCE: &str = "an endless run of tau";
