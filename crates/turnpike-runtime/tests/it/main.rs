//! All integration tests of this crate, in one binary: linking takes longer than running most of
//! them.

mod against_tokio;
mod channels;
mod common;
mod drop_in;
mod locks;
mod outside;
mod references;
mod threads;
mod unwinding;
