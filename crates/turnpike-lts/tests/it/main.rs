//! All integration tests of this crate, in one binary because linking takes longer than most of
//! them.

mod corpus;
mod definitions;
mod known;
mod oracle;
mod relations;
