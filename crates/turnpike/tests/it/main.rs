//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod attribute;
mod blocked;
mod checks;
mod native;
mod passing;
mod philosophers;
mod stacks;
