#![doc = include_str!("../README.md")]

mod choice;
pub mod cluster;
mod command_line;
mod conclusion;
mod elsewhere;
mod explicit;
mod extremes;
mod formulas;
mod front_end;
mod impossible;
mod incident;
mod labels;
mod options;
mod plan;
mod problem;
mod program;
mod purpose;
mod queries;
mod report;
mod request;
mod run;
mod session;
mod simulation;
mod source;
mod specification;
mod summary;
mod timed;
pub mod values;
mod warnings;
mod zeno;

pub use choice::Choice;
pub use command_line::{join_words, quote_word};
pub use conclusion::Conclusion;
pub use elsewhere::{Elsewhere, Existence};
pub use explicit::read_system;
pub use extremes::{Bound, Extent, Extremes};
pub use formulas::{
    AskedFormula, CheckedFormula, FormulaAnswer, FormulaReply, FormulaText, explain_evidence,
    names_formula_files, read_formulas,
};
pub use front_end::{FRONT_ENDS, Format, FrontEnd, ReadText, SourceText};
pub use incident::IncidentOutput;
pub use options::{Given, OptionRow, Section, Takes, takes};
pub use plan::{Plan, all_cores};
pub use problem::{Problem, ProblemKind};
pub use program::{
    GiveUp, Held, MemoryModel, Output, ProgramSource, Reduction, ThreadsAs, Visible, describe_doubts,
    hold_at_end, read_executable,
};
pub use purpose::Purpose;
pub use report::{Answer, Findings, Outcome, ProgramFindings, Reply, Report, Scope, Shown};
pub use request::{
    AcceptAt, Expect, Goals, Request, Running, Search, Store, StrategyChoice, WitnessSettings, check_limits,
};
pub use run::{Observer, Silent};
pub use session::{Prepared, Session, Size};
pub use simulation::{Enabled, Simulation, Visit, without_abstractions};
pub use source::{Covering, Location, OutOfRange, Reading, Source, TimedReading, ZoneExtrapolation};
pub use specification::{Specification, read_linear_process};
pub use summary::{Spread, Summary};
pub use timed::{Timed, read_queries};
pub use turnpike_formula::{Edge, Evidence, Fragment, Progress as GameProgress, Shape};
pub use turnpike_program::HEADER;
pub use turnpike_search::Spill;
pub use turnpike_search::checkpoint::Checkpoints;
pub use turnpike_search::{
    Divergence, Event, EventSink, ExecutionCounts, Explanation, Generation, Goal, Limits, Objective, Pattern,
    Progress, RESULTS, Replayed, RunReport, SearchError, SearchReport, SignatureReport, StepReport,
    StopReason, StoreKind, Strategy, Verdict, WitnessReport, add_participants, generate, judge, replay,
    resources,
};
pub use turnpike_timed::network::QueryText;
pub use zeno::Zeno;

/// The strategies, and the interfaces for further ones.
pub mod strategy {
    pub use turnpike_search::strategy::*;

    // Shadows the function above, because this one also knows the options of requests.
    pub use crate::options::register;
}
