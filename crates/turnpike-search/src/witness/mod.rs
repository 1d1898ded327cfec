//! Witnesses: from what a strategy stores to a trace that is re-executed before it is reported.

mod confirm;
mod corridor;
mod delete;
mod finish;
mod path;
mod program;
mod replay;
mod shorten;

pub(crate) use confirm::{add_obstacles, add_times, choices_of, confirm, is_real, trace_of};
pub(crate) use finish::finish;
pub(crate) use path::{Path, Witness};
pub use replay::{Divergence, Replayed, judge, replay};
use shorten::{Budget, Shortened, shorten};
