#![doc = include_str!("../README.md")]

mod choice;
mod context;
mod executor;
mod fiber;
mod options;
mod own_state;
mod panics;
mod runtime;
mod site;
mod stack;
mod tag;
mod traits;
mod watchdog;

pub mod bench;
pub mod cell;
pub mod collections;
pub mod crossbeam;
pub mod future;
pub mod hint;
pub mod once_cell;
pub mod parking_lot;
pub mod schedule;
pub mod sync;
pub mod thread;
pub mod time;
pub mod tokio;

pub use choice::{choose, mark_assertion, mark_message};
pub use executor::Guest;
pub use options::{GuestOptions, Panics};
pub use watchdog::{Blocked, Watch, Watchdog};

/// Whether the calling code runs inside a check.
pub fn is_checking() -> bool {
    context::active().is_some()
}
