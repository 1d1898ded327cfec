#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod compile;
pub mod evaluate;
pub mod explore;
pub mod extremum;
pub mod liveness;
mod lower;
pub mod network;
pub mod observe;
pub mod query;
pub mod schedule;
pub mod syntax;
pub mod tck;
mod typed;
pub mod uppaal;
pub mod zeno;
pub mod zone;
