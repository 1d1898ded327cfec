//! `turnpike completions`.

use crate::cli::Format;
use crate::failure::{Failure, Outcome};

/// Flags of `turnpike completions`.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let Args {} = args;
    let _ = format;
    Err(Failure::usage("not available"))
}
