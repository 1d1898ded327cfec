//! All integration tests of this crate, in one binary.

mod requests;
mod toy_language;
