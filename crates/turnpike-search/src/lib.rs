#![doc = include_str!("../README.md")]

mod c_rand;
pub mod checkpoint;
mod crew;
mod error;
mod event;
pub mod exchange;
mod follow;
pub mod generate;
mod level;
mod limits;
mod objective;
mod options;
mod report;
pub mod resources;
mod rng;
mod run;
mod search;
mod spill;
mod store;
pub mod strategy;
mod wire;
mod witness;

pub use error::SearchError;
pub use event::{Event, EventSink, Progress};
pub use limits::{Limits, StopReason};
pub use objective::{Goal, Objective, Pattern};
pub use options::{Accept, SearchOptions};
pub use report::{
    ExecutionCounts, Explanation, Generation, RunReport, ScheduleReport, SearchReport, SignatureReport,
    StepReport, Verdict, WitnessReport,
};
pub use rng::run_seed;
pub use search::{DEFAULT_STEPS, check, search};
pub use spill::Spill;
pub use store::StoreKind;

/// Raised whenever the same seed gives another result than before. Stored results belong to one
/// such number.
pub const RESULTS: u32 = 1;

pub use strategy::Strategy;
pub use witness::{Divergence, Replayed, add_participants, judge, replay};
