//! Minimising and comparing systems.

mod branching;
mod closure;
mod compare;
mod components;
mod determinise;
mod difference;
mod distinguish;
mod equivalence;
mod experiment;
mod formula;
mod graph;
mod inclusion;
mod limit;
mod lists;
mod preorder;
mod quotient;
mod satisfy;
mod saturate;
mod signature;
mod simulation;
mod strong;

pub use compare::{compare, refines};
pub use difference::{Comparison, Difference, Distinction, Move, Reason, Side};
pub use equivalence::{Equivalence, Partition, UnknownEquivalence, partition};
pub use formula::Formula;
pub use limit::{DEFAULT_LIMIT, Explosion};
pub use preorder::{Preorder, UnknownPreorder};
pub use quotient::reduce;

/// The label of divergence in a [`Reason`].
pub const DIVERGENCE: &str = "an endless run of tau";
