#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod build;
mod evidence;
mod fragment;
mod kinds;
mod monitor;
mod numbers;
mod product;
mod reader;
mod runs;
mod solve;
mod table;

pub use evidence::{Edge, Evidence, Shape};
pub use fragment::{Fragment, fragment};
pub use product::Product;
pub use runs::{Runs, Taken};
pub use solve::{Decision, Failure, Outcome, Progress, solve};
