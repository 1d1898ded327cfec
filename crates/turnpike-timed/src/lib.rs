#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod analysis;
pub mod evaluate;
pub mod explore;
pub mod extremum;
pub mod liveness;
pub mod network;
pub mod observe;
pub mod query;
pub mod schedule;
pub mod tck;
pub mod uppaal;
pub mod zeno;
pub mod zone;
