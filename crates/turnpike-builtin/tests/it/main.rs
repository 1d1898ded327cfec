//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod bakery;
mod buffers;
mod common;
mod counts;
mod differential_processes;
mod differential_structures;
mod guides;
mod promises;
