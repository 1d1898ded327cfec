#![doc = include_str!("../README.md")]

mod search;

pub use search::Search;
pub use turnpike_model::native::{Measure, Native, NativeModel};
pub use turnpike_model::{Diagnostic, Model, Trace};
pub use turnpike_search::{
    Limits, Objective, RunReport, SearchError, SearchOptions, SearchReport, StopReason, Strategy, Verdict,
    WitnessReport,
};
