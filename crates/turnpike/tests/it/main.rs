//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod attribute;
mod blocked;
mod cells;
mod checks;
mod crossbeam;
mod debugger;
mod everyday;
mod fresh_crate;
mod futures;
mod litmus;
mod native;
mod parking_lot;
mod passing;
mod philosophers;
mod public_suites;
mod random_tasks;
mod stacks;
mod tokio_sync;
mod tokio_time;
mod weak_memory;
mod weak_structures;
