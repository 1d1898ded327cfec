//! Replacements for the crate `crossbeam` except what is built on epochs, under control of the
//! scheduler: channels, queues, scoped threads and utilities.

pub mod atomic;
pub mod channel;
pub mod queue;
pub mod sync;
pub mod thread;
pub mod utils;

pub use thread::scope;
