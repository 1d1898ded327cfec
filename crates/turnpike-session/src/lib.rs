#![doc = include_str!("../README.md")]

mod explicit;
mod problem;
mod program;
mod purpose;
mod session;
mod source;
mod specification;
mod timed;
mod zeno;

pub use explicit::read_system;
pub use problem::Problem;
pub use program::{Output, ProgramSource, Reduction, ThreadsAs, Visible, describe_doubts, read_executable};
pub use purpose::Purpose;
pub use session::{Prepared, Session, Size};
pub use source::{Format, Location, Reading, Source, TimedReading};
pub use specification::{Specification, read_linear_process};
pub use timed::{Timed, read_queries};
pub use zeno::Zeno;
