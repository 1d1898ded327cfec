//! What numbers of runs say: rates with intervals, summaries, curves, effect sizes.
//!
//! All functions are pure; the same runs in any order give the same result. Values that are not numbers are never passed in.

mod curve;
mod effect;
mod equivalence;
mod histogram;
mod proportion;
mod summary;
mod survival;

pub use curve::{Curve, Point};
pub use effect::{Magnitude, superiority};
pub use equivalence::Equivalence;
pub use histogram::{Bin, Histogram};
pub use proportion::{Interval, Proportion};
pub use summary::Summary;
pub use survival::{Observation, Survival};
