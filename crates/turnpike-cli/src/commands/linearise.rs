//! `turnpike linearise`.

use serde_json::json;
use turnpike_model::Diagnostic;
use turnpike_session::Format as InputFormat;
use turnpike_session::Location;

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};
use crate::source::FileArgs;

/// What `turnpike linearise --help` ends with.
const AFTER_HELP: &str = "\
search and generate work on the linear process. Its parameters are the values of a state. Each summand
has a condition, an action, and the new values of the parameters.

Examples:
  turnpike linearise protocol.mcrl2
  turnpike linearise protocol.mcrl2 --set window=2 -o linear.txt";

/// Flags of `turnpike linearise`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    model: FileArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let name = &args.model.model;
    let reading = &args.model.reading;
    let piped = name == "-" && reading.reading().format.is_none_or(|format| format == InputFormat::MCRL2);
    if !piped && reading.format_of(name) != Some(InputFormat::MCRL2) {
        let error = Diagnostic::error(format!("{name} is not an mCRL2 specification"));
        return Err(error.help("the file name must end in .mcrl2; --as mcrl2 overrides this").into());
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
