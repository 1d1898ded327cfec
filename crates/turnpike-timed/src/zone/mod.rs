//! Zones: convex sets of clock valuations as closed difference bound matrices.
//!
//! A matrix of dimension `n` speaks of `n - 1` clocks; row and column 0 are the constant zero.
//! Entry `(i, j)` bounds `x_i - x_j` from above. Which clock a row stands for is the caller's
//! business: a state's matrix has rows for its *active* clocks only.

mod bound;
mod closure;
mod dbm;
mod delay;
mod display;
mod extrapolate;
mod inclusion;
mod lanes;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod oracle;
mod pack;
mod point;
mod subtract;
mod table;

pub use bound::Bound;
pub use dbm::{Dbm, NO_BOUND, Origin};
pub use display::ZoneText;
pub use extrapolate::Extrapolation;
pub use point::Point;
pub use subtract::subtract;
pub use table::{Near, RowBounds, ZoneId, Zones};
