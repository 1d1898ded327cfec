//! All integration tests of this crate, in one binary: linking takes longer than running most of them.

mod alternatives;
mod bounds;
mod breeding;
mod covering;
mod crowds;
mod determinism;
mod drs;
mod executions;
mod genetic;
mod intervals;
mod lassos;
mod lifetimes;
mod livelocks;
mod native;
mod objectives;
mod obstacles;
mod paths;
mod philosophers;
mod portfolio;
mod races;
mod reductions;
mod scripts;
mod spinning;
mod times;
mod traces;
mod witnesses;
