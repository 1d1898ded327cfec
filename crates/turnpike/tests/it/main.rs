//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod attribute;
mod blocked;
mod checks;
mod fresh_crate;
mod native;
mod passing;
mod philosophers;
mod stacks;
