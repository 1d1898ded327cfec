//! All integration tests of this crate, in one binary: linking takes longer than running most of
//! them.

mod common;
mod executions;
mod policies;
mod robust;
mod semantics;
mod traces;
mod weak;
