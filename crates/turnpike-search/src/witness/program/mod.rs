//! Witnesses of programs: compared, shortened, explained and executed again.
//!
//! A schedule is short if it has few context switches, because a reader follows one thread at a
//! time. Every attempt costs one execution, and is kept if the failure stays the same.

mod attempt;
mod confirm;
mod explain;
mod finish;
mod shorten;

use attempt::Attempts;
use confirm::confirm_schedule;
pub(crate) use confirm::is_judged_by_paths;
use explain::explain;
pub(crate) use finish::finish_schedule;
use shorten::shorten_schedule;
