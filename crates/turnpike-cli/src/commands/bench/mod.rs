//! `turnpike bench`: speed, measured here and now.

mod costly;
mod engine;
mod hand_written;
mod table;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::Format;
use crate::commands::search::values;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::{self, VERSION};

/// Flags of `turnpike bench`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to measure
    #[arg(value_enum, value_name = "SUITE", default_value = "engine")]
    suite: Suite,
    /// Small sizes: shows that everything runs, the figures mean little
    #[arg(long)]
    quick: bool,
    /// Measure each row this often and tell the best [default: 3; with --quick 1]
    #[arg(long, value_name = "N", value_parser = values::positive::<u32>)]
    repeat: Option<u32>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Stores, strategies and reduction, on built-in models
    Engine,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let Suite::Engine = args.suite;
    let repeat = args.repeat.unwrap_or(if args.quick { 1 } else { 3 });
    let sizes = if args.quick { engine::QUICK } else { engine::FULL };
    let human = format == Format::Human;
    if cfg!(debug_assertions) {
        output::note("this is a debug build: the figures say nothing about a release build");
    }
    if human {
        table::header();
    }
    let rows = engine::measure(&sizes, repeat, &mut |row| {
        if human {
            table::line(row);
        }
    })?;
    if human {
        table::footer(&rows);
    } else {
        output::json(&json!({
            "turnpike": VERSION,
            "command": "bench",
            "suite": "engine",
            "quick": args.quick,
            "repeat": repeat,
            "debug_build": cfg!(debug_assertions),
            "rows": rows,
        }));
    }
    Ok(Exit::Clean)
}
