//! Lowers TChecker declarations to a network.

mod build;
mod expressions;
#[cfg(test)]
mod tests;
mod update;

pub(crate) use build::network;
