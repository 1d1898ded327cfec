//! Strategies that follow whole executions of a program: one call a path instead of one a step.
//!
//! Every other strategy works on programs too, state by state; these are for those that never look back. They ask the
//! system's [paths](turnpike_model::paths::Paths) directly, judge the objectives by how an execution ended, and
//! count its steps as states.

mod auto;
mod dpor;
mod enumerate;
mod genetic;
mod pool;
mod sampling;
mod summary;

pub(crate) use auto::search as portfolio;
pub(crate) use dpor::search as explore;
pub(crate) use enumerate::search as enumerate;
pub(crate) use genetic::{judges, search as breed};
pub(crate) use sampling::{Extent, Sampler, search as sample};
pub(crate) use summary::Ending;
use turnpike_model::{Diagnostic, ModelInfo};

use crate::objective::Judge;
use crate::run::Run;

/// Whether the run is about a program, and all that is looked for can be told from executions.
pub(crate) fn applies(run: &Run<'_>) -> bool {
    run.paths.is_some() && Judge::new(run.objectives).is_ok()
}

/// The error for a strategy that needs a program.
pub(crate) fn needs_program(strategy: &str, info: &ModelInfo) -> Diagnostic {
    Diagnostic::error(format!(
        "{strategy} schedules the threads of a program, but {} is a model without threads",
        info.name
    ))
    .help("random, rdfs, highway, drs and genetic search any model")
}
