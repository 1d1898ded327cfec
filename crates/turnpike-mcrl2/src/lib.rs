#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod builtin;
pub mod compile;
pub mod explore;
pub mod lint;
pub mod lower;
pub mod syntax;
pub mod typed;
pub mod value;
