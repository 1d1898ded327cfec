//! The lab: which strategy finds what, how fast, with how short a witness.
//!
//! An experiment is a TOML file: models, strategies, runs and limits, and what is drawn of them, with
//! published figures to stand beside ours. Its runs are executed by workers and kept in a
//! database that survives being killed at any moment; [`statistics`] condense them, and a report writes one
//! page.

pub mod experiment;
mod lab;
pub mod report;
pub mod runner;
pub mod selection;
pub mod statistics;
pub mod store;
pub mod workshop;

pub use lab::{Happening, How, Lab, Skipped, VERSION};
pub use turnpike_session::{Problem, strategy};
