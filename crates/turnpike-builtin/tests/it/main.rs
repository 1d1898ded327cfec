//! All integration tests of this crate, in one binary because linking takes longer than most of
//! them. Unit tests too: the modules that have any use nothing else of the crate, and the crate is not compiled again.

mod bakery;
mod buffers;
mod catalogue;
mod common;
mod counts;
mod differential_processes;
mod differential_structures;
mod guides;
mod promises;

#[allow(dead_code, reason = "only the tests in it are of interest here")]
#[path = "../../src"]
mod units {
    mod interner;
    mod lanes;
}
