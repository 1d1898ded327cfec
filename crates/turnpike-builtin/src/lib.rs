#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod catalogue;
mod interner;
mod lanes;
mod models;
mod packed;

pub use catalogue::{BuiltinError, BuiltinInfo, ParameterInfo, build, catalogue};
