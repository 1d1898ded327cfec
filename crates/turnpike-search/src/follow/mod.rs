//! Follows whole paths of a system, from the start to an end.
//!
//! Strategies that never look back are written on paths, each once. There are two ways to follow one:
//!
//! - A system that offers [paths](turnpike_model::paths::Paths) follows them itself, one call a path
//!   instead of one a step. [`pool`] does so on any number of threads, [`summary`] judges the
//!   objectives by how the path ended, and its steps count as states.
//! - Any other system is walked state by state, with the monitor watching ([`walk`]). Threads make numbered portions of such walks [`ahead`].

pub(crate) mod ahead;
pub(crate) mod pool;
pub(crate) mod summary;
pub(crate) mod walk;

use turnpike_model::{Diagnostic, ModelInfo};

use crate::objective::Judge;
use crate::run::Run;

/// Whether the system follows paths itself, and paths show all that is looked for.
pub(crate) fn natively(run: &Run<'_>) -> bool {
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
