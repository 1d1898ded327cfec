//! Strategies that follow whole executions of a program: one call a path instead of one a step.
//!
//! Every other strategy works on programs too, state by state; these are for those that never look back. They ask the
//! model's [executor](turnpike_model::Explorer::executor) directly, judge the objectives by how an execution ended, and
//! count its steps as states.

mod auto;
mod dpor;
mod enabled;
mod enumerate;
mod genetic;
mod order;
mod pool;
mod sampling;
mod summary;

pub(crate) use auto::search as portfolio;
pub(crate) use dpor::search as explore;
pub(crate) use enumerate::search as enumerate;
pub(crate) use genetic::{judges, search as breed};
pub(crate) use order::Order;
pub(crate) use sampling::{Extent, Sampler, search as sample};
pub(crate) use summary::Ending;
use turnpike_model::scheduler::{Execution, GuestErrorKind, Plan};
use turnpike_model::{Diagnostic, Explorer, ModelInfo, StepError};

use crate::objective::Judge;
use crate::run::Run;

/// Executes a program once.
pub(crate) fn execute(
    explorer: &mut dyn Explorer,
    plan: &Plan<'_>,
    out: &mut Execution,
) -> Result<(), StepError> {
    let Some(executor) = explorer.executor() else {
        return Err(StepError::new("this model is not a program that can be executed"));
    };
    executor.run(plan, out).map_err(|error| match error.kind {
        GuestErrorKind::Nondeterministic => StepError::nondeterministic(error.message),
        GuestErrorKind::Unavailable => StepError::new(error.message),
    })
}

/// Whether the run is about a program, and all that is looked for can be told from executions.
pub(crate) fn applies(run: &Run<'_>) -> bool {
    run.plan.is_some() && Judge::new(run.objectives).is_ok()
}

/// The error for a strategy that needs a program.
pub(crate) fn needs_program(strategy: &str, info: &ModelInfo) -> Diagnostic {
    Diagnostic::error(format!(
        "{strategy} schedules the threads of a program, but {} is a model without threads",
        info.name
    ))
    .help("random, rdfs, highway, drs and genetic search any model")
}
