//! All integration tests of this crate, in one binary: linking takes longer than running most of
//! them. Unit tests too: the modules that have any use nothing else of the crate, and the crate is not compiled again.

extern crate alloc;

mod clocks;
mod common;
mod executions;
mod policies;
mod robust;
mod semantics;
mod traces;
mod weak;

#[allow(dead_code, unreachable_pub, reason = "only the tests in it are of interest here")]
#[path = "../../src"]
mod units {
    mod bits;
    mod fingerprint;
    mod random;
    mod sources;
}
