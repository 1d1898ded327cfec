//! All integration tests of this crate, in one binary.

mod families;
mod naive;
mod random;
