//! All integration tests of this crate, in one binary.

mod identities;
mod portable_states;
mod reports;
mod requests;
mod toy_language;
