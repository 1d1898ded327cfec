#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod compile;
pub mod explore;
pub mod lower;
pub mod rewriter;
pub mod syntax;
pub mod typed;
pub mod value;
