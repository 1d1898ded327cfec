//! All integration tests of this crate, in one binary because linking takes longer than most of
//! them.

mod bakery;
mod buffers;
mod common;
mod counts;
mod differential_processes;
mod differential_structures;
mod guides;
mod promises;
