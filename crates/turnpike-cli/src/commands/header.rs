//! `turnpike header`: the C header for programs under test.

use std::path::PathBuf;

use serde_json::json;
use turnpike_program::HEADER;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// Flags of `turnpike header`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    if let Some(path) = &args.output {
        let file = path.display().to_string();
        std::fs::write(path, HEADER).map_err(|error| Failure::file(&file, "write", &error))?;
        match format {
            Format::Human => output::line(&format!("wrote {file}")),
            Format::Json => output::json(&json!({"turnpike": VERSION, "command": "header", "file": file})),
        }
        return Ok(Exit::Clean);
    }
    match format {
        Format::Human => output::line(HEADER.trim_end()),
        Format::Json => output::json(&json!({"turnpike": VERSION, "command": "header", "header": HEADER})),
    }
    Ok(Exit::Clean)
}
