#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod enumerate;
pub mod evaluate;
pub mod explore;
pub mod expression;
pub mod linear;
pub mod lint;
pub mod rewriter;
pub mod sorts;
pub mod syntax;
pub mod value;
