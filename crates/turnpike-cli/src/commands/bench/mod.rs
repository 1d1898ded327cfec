//! `turnpike bench`: speed, measured here and now.

mod costly;
mod engine;
mod formula;
mod hand_written;
mod lab;
mod mcrl2;
mod measure;
mod program;
mod scale;
mod table;
mod timed;
mod walks;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::{self, VERSION};
use turnpike_session::values;

/// Flags of `turnpike bench`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to measure
    #[arg(value_enum, value_name = "SUITE", default_value = "engine")]
    suite: Suite,
    /// Use small sizes to check that everything runs; the figures mean little
    #[arg(long)]
    quick: bool,
    /// A folder of public models; also measure those with known figures of other tools
    #[arg(long, value_name = "FOLDER")]
    models: Option<std::path::PathBuf>,
    /// For timed automata and formulas: the figures of TChecker or pbessolve for the models of that folder, one JSON
    /// object per line
    #[arg(long, value_name = "FILE", requires = "models")]
    oracle: Option<std::path::PathBuf>,
    /// Measure each row this many times and report the best [default: 3; with --quick 1]
    #[arg(long, value_name = "N", value_parser = values::positive::<u32>)]
    repeat: Option<u32>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Stores, strategies and reduction, on built-in models
    Engine,
    /// Deciding formulas: one about a bundled specification, and those of a folder next to pbessolve
    Formula,
    /// The overhead of the lab, and the time for a large report
    Lab,
    /// Generating mCRL2 specifications: the bundled ones, and those of a folder next to the mCRL2 tools
    Mcrl2,
    /// Executing programs: Rust programs as in shuttle's benchmarks, and a small C program
    Program,
    /// Threads and processes against one, also those of a folder: speed, memory, bytes sent; and a wide highway
    Scale,
    /// Exploring timed automata: Fischer's protocol, those of a folder next to TChecker, and the cost of zones
    Timed,
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Suite::Engine => "engine",
            Suite::Formula => "formula",
            Suite::Lab => "lab",
            Suite::Mcrl2 => "mcrl2",
            Suite::Program => "program",
            Suite::Scale => "scale",
            Suite::Timed => "timed",
        }
    }
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let repeat = args.repeat.unwrap_or(if args.quick { 1 } else { 3 });
    let human = format == Format::Human;
    if cfg!(debug_assertions) {
        output::note("this is a debug build: the figures say nothing about a release build");
    }
    if human {
        table::header();
    }
    let mut tell = |row: &table::Row| {
        if human {
            table::line(row);
        }
    };
    let rows = match args.suite {
        Suite::Engine => {
            let sizes = if args.quick { engine::QUICK } else { engine::FULL };
            engine::measure(&sizes, repeat, &mut tell)?
        }
        Suite::Formula => {
            let (models, oracle) = (args.models.as_deref(), args.oracle.as_deref());
            formula::measure(models, oracle, args.quick, repeat, &mut tell)?
        }
        Suite::Lab => lab::measure(args.quick, repeat, &mut tell)?,
        Suite::Mcrl2 => mcrl2::measure(args.models.as_deref(), args.quick, repeat, &mut tell)?,
        Suite::Program => program::measure(args.quick, repeat, &mut tell)?,
        Suite::Scale => scale::measure(args.models.as_deref(), args.quick, repeat, &mut tell)?,
        Suite::Timed => {
            let (models, oracle) = (args.models.as_deref(), args.oracle.as_deref());
            timed::measure(models, oracle, args.quick, repeat, &mut tell)?
        }
    };
    if human {
        table::footer(&rows);
        if args.suite == Suite::Timed {
            timed::plot(&rows).iter().for_each(|line| output::line(line));
        }
    } else {
        output::json(&json!({
            "turnpike": VERSION,
            "command": "bench",
            "suite": args.suite.name(),
            "quick": args.quick,
            "repeat": repeat,
            "debug_build": cfg!(debug_assertions),
            "rows": rows,
        }));
    }
    Ok(Exit::Clean)
}
