//! Zones: convex sets of clock valuations as closed difference bound matrices.
//!
//! A matrix of dimension `n` constrains `n - 1` clocks; row and column 0 are the constant zero.
//! Entry `(i, j)` bounds `x_i - x_j` from above. The caller maps rows to clocks: the matrix of a
//! state has rows for its *active* clocks only.

mod agree;
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

pub use agree::texts_agree;
pub use bound::Bound;
pub use dbm::{Dbm, NO_BOUND, Origin};
pub use display::ZoneText;
pub use extrapolate::Extrapolation;
pub use point::Point;
pub use subtract::subtract;
pub use table::{Near, RowBounds, ZoneId, Zones};
