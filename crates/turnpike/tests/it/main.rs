//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod attribute;
mod book;
mod checks;
mod native;
mod philosophers;
