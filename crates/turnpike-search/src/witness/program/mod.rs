//! Witnesses of programs: told apart, shortened, explained and executed again.

mod signature;

pub(crate) use signature::signature;
