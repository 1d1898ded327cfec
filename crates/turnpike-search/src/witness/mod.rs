//! Witnesses: from what a strategy stores to a trace that is re-executed before it is reported.

mod budget;
mod confirm;
mod corridor;
mod delete;
mod finish;
mod participants;
mod path;
mod program;
mod replay;
mod shorten;

use budget::shorten_budget;
pub(crate) use confirm::{TraceDetail, add_obstacles, add_times, choices_of, confirm, is_real, trace_of};
pub(crate) use finish::finish;
pub use participants::add_participants;
pub use path::Path;
pub(crate) use path::Witness;
pub use replay::{Divergence, Replayed, judge, replay};
use shorten::{Shortened, shorten};
