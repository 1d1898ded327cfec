//! `turnpike convert`.

use serde_json::json;
use turnpike_model::{Diagnostic, Severity};
use turnpike_session::Session;
use turnpike_timed::compile::analysis::check_initial;
use turnpike_timed::tck;

use super::search::human::counted;
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};
use crate::source::FileArgs;

/// Flags of `turnpike convert`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  turnpike convert train-gate.xml -o train-gate.tck
  turnpike convert models/timed/fischer.xta --set N=8 > fischer8.tck

turnpike instantiates templates, flattens arrays of structs, folds constants and writes binary channels as
synchronisation vectors. It rejects features that the format cannot express.")]
pub(crate) struct Args {
    #[command(flatten)]
    model: FileArgs,
    /// Where to write the .tck file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let name = &args.model.model;
    let session = match args.model.reading.format_of(name) {
        Some(format) if format.is_timed() => Some(Session::open(&args.model.reading.source(name))?),
        _ => None,
    };
    let Some(timed) = session.as_ref().and_then(Session::timed) else {
        return Err(Failure::usage(format!(
            "{name} is not a timed automaton; only timed automata can be converted"
        )));
    };
    if let Err(error) = check_initial(&timed.network) {
        let warning = Diagnostic { severity: Severity::Warning, ..error };
        output::diagnostic(name, Some(&timed.source), &warning);
    }
    let text = tck::write(&timed.network).map_err(|diagnostics| Failure {
        origin: name.clone(),
        source: Some(timed.source.clone()),
        diagnostics,
        ..Failure::usage("")
    })?;
    let Some(path) = &args.output else {
        match format {
            Format::Human => output::line(text.trim_end()),
            Format::Json => output::json(&json!({
                "turnpike": VERSION, "command": "convert", "model": name, "text": text,
            })),
        }
        return Ok(Exit::Clean);
    };
    std::fs::write(path, &text).map_err(|error| Failure::file(path, "write", &error))?;
    match format {
        Format::Human => {
            let processes = counted(timed.network.processes.len() as u64, "process");
            output::line(&format!("wrote {path}: {processes}"));
        }
        Format::Json => output::json(&json!({
            "turnpike": VERSION, "command": "convert", "model": name, "file": path,
        })),
    }
    Ok(Exit::Clean)
}
