//! Zones: convex sets of clock valuations as closed difference bound matrices.
//!
//! A matrix of dimension `n` speaks of `n - 1` clocks; row and column 0 are the constant zero. Entry `(i, j)` bounds `x_i - x_j` from above.
//! Which clock a row stands for is the caller's business: a state's matrix has rows for its *active* clocks only.

mod bound;
mod dbm;
mod table;

pub use bound::Bound;
pub use dbm::{Dbm, Extrapolation, NO_BOUND, Origin};
pub use table::{ZoneId, Zones};
