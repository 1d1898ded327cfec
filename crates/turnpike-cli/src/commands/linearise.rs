//! `turnpike linearise`.

use serde_json::json;
use turnpike_model::Diagnostic;
use turnpike_session::Format::Mcrl2;
use turnpike_session::Location;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};
use crate::source::FileArgs;

/// What `turnpike linearise --help` ends with.
const AFTER_HELP: &str = "\
The linear process is what search and generate work on: its parameters are the values of a state, its
summands say when which action happens and what the parameters become.

Examples:
  turnpike linearise protocol.mcrl2
  turnpike linearise protocol.mcrl2 --set window=2 -o linear.txt";

/// Flags of `turnpike linearise`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    model: FileArgs,
    /// Write it to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let name = &args.model.model;
    let reading = &args.model.reading;
    let piped = name == "-" && reading.reading().format.is_none_or(|format| format == Mcrl2);
    if !piped && reading.format_of(name) != Some(Mcrl2) {
        let error =
            Diagnostic::error(format!("{name} is no mCRL2 specification, and only those are linearised"));
        return Err(error.help("its name ends in .mcrl2, or --as mcrl2 says so").into());
    }
    let process = turnpike_session::read_linear_process(&Location::from(name.as_str()), &reading.reading())?;
    let text = process.text();
    if let Some(path) = &args.output {
        std::fs::write(path, format!("{}\n", text.trim_end()))
            .map_err(|error| Failure::file(path, "write", &error))?;
    }
    match format {
        Format::Human if args.output.is_none() => output::line(text.trim_end()),
        Format::Human => output::line(&format!("wrote {}", args.output.unwrap_or_default())),
        Format::Json => output::json(&json!({
            "turnpike": VERSION,
            "command": "linearise",
            "model": name,
            "parameters": process.parameters.iter().map(|parameter| &parameter.name).collect::<Vec<_>>(),
            "summands": process.summands.len(),
            "text": text,
            "file": args.output,
        })),
    }
    Ok(Exit::Clean)
}
