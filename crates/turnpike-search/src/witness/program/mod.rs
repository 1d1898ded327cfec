//! Witnesses of programs: compared, shortened, explained and executed again.
//!
//! A schedule is short if it has few context switches, because a reader follows one thread at a
//! time. Every attempt costs one execution, and is kept if the failure stays the same.

mod attempt;
mod confirm;
mod explain;
mod shorten;

pub(crate) use attempt::Attempts;
pub(crate) use confirm::{confirm_schedule, tells};
pub(crate) use explain::explain;
pub(crate) use shorten::shorten_schedule;
