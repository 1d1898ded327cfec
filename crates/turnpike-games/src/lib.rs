#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod game;
mod rows;
mod solution;
mod solve;

pub use game::{Game, Player};
pub use solution::{Flaw, Solution};
