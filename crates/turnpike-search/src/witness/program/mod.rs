//! Witnesses of programs: told apart, shortened, explained and executed again.
//!
//! A schedule is short when it has few context switches: what a reader follows is one thread after the other. Every
//! attempt costs one execution, and is kept when the failure stays the same failure.

mod attempt;
mod confirm;
mod explain;
mod shorten;

pub(crate) use attempt::Attempts;
pub(crate) use confirm::{confirm_schedule, tells};
pub(crate) use explain::explain;
pub(crate) use shorten::shorten_schedule;
