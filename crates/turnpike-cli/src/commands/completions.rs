//! `turnpike completions`: a script that completes commands and flags.

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::cli::{Cli, Format};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::output::{self, VERSION};

/// Flags of `turnpike completions`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "turnpike", &mut script);
    let script = String::from_utf8_lossy(&script);
    match format {
        Format::Human => output::line(script.trim_end()),
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "completions",
            "shell": args.shell.to_string(),
            "script": script,
        })),
    }
    Ok(Exit::Clean)
}
