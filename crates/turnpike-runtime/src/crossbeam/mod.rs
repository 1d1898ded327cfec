//! Replacements for the crate `crossbeam` except its data structures, under control of the
//! scheduler: channels, scoped threads and utilities.

pub mod channel;
pub mod sync;
pub mod thread;
pub mod utils;

pub use thread::scope;
