//! Real concurrent programs on the waist: a path is a schedule, a state is a happens-before fingerprint.

mod model;

pub use model::{Launch, ProgramModel, ProgramOptions};
