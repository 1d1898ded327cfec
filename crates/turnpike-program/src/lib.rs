//! Real concurrent programs as models: a path is a schedule, a state is a happens-before
//! fingerprint.

mod advice;
mod after;
#[cfg(target_os = "linux")]
mod discover;
mod elf;
mod follow;
mod guard;
mod handover;
mod incident;
mod memory;
mod model;
mod names;
#[cfg(target_os = "linux")]
pub mod native;
mod order;
mod paths;
mod record;
mod settings;
mod signature;
pub mod stack;
mod steps;
mod texts;
mod words;

pub use advice::Advice;
pub use elf::Executable;
pub use follow::{Followed, Parting};
pub use incident::{HeldLock, Incident, IncidentKind, Made, Row, Stack, Waiting, legend, lines, rows_of};
pub use model::{Launch, ProgramModel};
pub use settings::{DEFAULT_CHECK_EVERY, DEFAULT_MAX_STEPS, ProgramOptions};
pub use signature::check_signature;
pub use steps::verb;
pub use turnpike_preload::{HEADER, LIBRARY};
