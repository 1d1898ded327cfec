#![doc = include_str!("../README.md")]

pub mod components;
pub mod diagnostic;
pub mod hash;
pub mod id_table;
pub mod label;
pub mod native;
pub mod paths;
pub mod predicate;
mod successors;
mod system;
pub mod trace;

pub use diagnostic::{Diagnostic, Severity};
pub use id_table::IdTable;
pub use label::{Label, LabelId};
pub use successors::Successors;
pub use system::{
    Capabilities, Claim, Concrete, Explorer, MeasureInfo, Model, ModelInfo, Moment, PredicateId, Schedule,
    StepError, StepErrorKind, Violation, ViolationKind,
};
pub use trace::{StateValues, Step, Trace};
