//! All integration tests of this crate, in one binary: linking takes longer than running most of
//! them. Unit tests too: the modules that have any use nothing else of the crate, and the crate is not compiled again.

mod against_tokio;
mod channels;
mod common;
mod drop_in;
mod locks;
mod outside;
mod references;
mod threads;
mod unwinding;

#[allow(dead_code, unreachable_pub, reason = "only the tests in it are of interest here")]
#[path = "../../src"]
mod units {
    mod schedule;
    mod stack;
}
