//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod corpus;
mod definitions;
mod known;
mod oracle;
mod relations;
