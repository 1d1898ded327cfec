//! Witnesses: from what a strategy stores to a trace that is re-executed before it is reported.

mod corridor;
mod delete;
mod finish;
mod path;
mod program;
mod replay;
mod shorten;

pub(crate) use finish::finish;
pub(crate) use path::{Path, Witness};
pub use replay::{Divergence, Replayed, judge, replay};
pub(crate) use replay::{confirm, is_real, tell_times, trace_of};
use shorten::{Budget, shorten};
