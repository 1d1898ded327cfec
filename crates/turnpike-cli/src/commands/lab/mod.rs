//! `turnpike lab`: experiments.

mod files;
mod new;
mod results;
mod running;

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Outcome;

const AFTER_HELP: &str = "\
Examples:
  turnpike lab list
  turnpike lab run experiments/highway-table1.toml --scale 0.05
  turnpike lab run experiments/*.toml --models mcrl2/examples --models 2008
  turnpike lab status --cells
  turnpike lab report -o report
  turnpike lab export mine --figures pictures
  turnpike lab new model.mcrl2 --find 'action error' > mine.toml

The lab stores experiments and results in a database (--database, turnpike-lab.db by default).
If you interrupt or kill it, the same command continues where it stopped. It repeats a run only if
the model, the flags or the version of turnpike change.
`status`, `report` and `export` need nothing but the database.";

/// Flags of `turnpike lab`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// List experiments with their cells, runs and papers.
    List(Experiments),
    /// Run what is missing.
    Run(running::Args),
    /// Show the progress of experiments.
    Status(results::StatusArgs),
    /// Write the report: one page, and CSV files.
    Report(results::ReportArgs),
    /// Print all runs as CSV, or write figures to files.
    Export(results::ExportArgs),
    /// Print an experiment file for your own model.
    New(new::Args),
}

/// Which experiments.
#[derive(clap::Args, Clone, Debug)]
struct Experiments {
    /// Experiment files [default: all files in the folder `experiments`]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The database unless another is named.
const DATABASE: &str = "turnpike-lab.db";

/// Where results are.
#[derive(clap::Args, Clone, Debug)]
struct Database {
    /// The database of results
    #[arg(long, value_name = "FILE", default_value = DATABASE)]
    database: PathBuf,
}

/// Which cells.
#[derive(clap::Args, Clone, Debug)]
struct Only {
    /// Only cells whose `MODEL / STRATEGY`, model or strategy has this name, as it is printed
    /// (repeatable); * and ? are wildcards
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    match args.task {
        Task::List(args) => files::list(&args, format),
        Task::Run(args) => running::run(&args, format),
        Task::Status(args) => results::status(&args, format),
        Task::Report(args) => results::report(&args, format),
        Task::Export(args) => results::export(&args, format),
        Task::New(args) => new::run(&args),
    }?;
    Ok(Exit::Clean)
}
