//! `turnpike lab status`, `report` and `export`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_lab::report::{self, Results};
use turnpike_lab::store::Store;

use super::Kept;
use crate::cli::Format;
use crate::failure::{Failure, Outcome};
use crate::output::{self, VERSION};

/// Flags of `turnpike lab report`.
#[derive(clap::Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    kept: Kept,
    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "turnpike-report")]
    output: PathBuf,
}

/// Flags of `turnpike lab export`.
#[derive(clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    kept: Kept,
    /// Print comma-separated values, one run per line
    #[arg(long, required = true)]
    csv: bool,
}

/// What `turnpike lab status --format json` prints.
#[derive(Serialize, JsonSchema)]
struct StatusOutput {
    turnpike: String,
    command: String,
    experiments: Vec<Status>,
}

#[derive(Serialize, JsonSchema)]
struct Status {
    name: String,
    /// Runs that a full experiment has.
    asked: u64,
    /// Runs that are there.
    done: u64,
    /// Cells without any run.
    empty: usize,
}

/// What `turnpike lab report --format json` prints.
#[derive(Serialize, JsonSchema)]
struct ReportOutput {
    turnpike: String,
    command: String,
    files: Vec<String>,
    runs: usize,
}

fn gathered(kept: &Kept) -> Outcome<Vec<Results>> {
    if !kept.database.is_file() {
        return Err(Failure::usage(format!(
            "there is no database {}; run `turnpike lab run` first",
            kept.database.display()
        )));
    }
    let store = Store::open(&kept.database)?;
    let experiments = kept.experiments.read()?;
    Ok(experiments
        .into_iter()
        .map(|named| Results::gather(&named.name, named.experiment, &store))
        .collect::<Result<_, _>>()?)
}

pub(super) fn status(kept: &Kept, format: Format) -> Outcome<()> {
    let experiments: Vec<Status> = gathered(kept)?
        .iter()
        .map(|results| Status {
            name: results.name.clone(),
            asked: results.cells.iter().map(|result| result.cell.runs).sum(),
            done: results.count() as u64,
            empty: results.cells.iter().filter(|result| result.runs.is_empty()).count(),
        })
        .collect();
    if format == Format::Json {
        output::json(&StatusOutput { turnpike: VERSION.into(), command: "lab status".into(), experiments });
        return Ok(());
    }
    for one in experiments {
        let share = 100.0 * one.done as f64 / one.asked.max(1) as f64;
        let empty =
            if one.empty == 0 { String::new() } else { format!(", {} cells without runs", one.empty) };
        output::line(&format!(
            "{}: {} of {} runs ({share:.0}%){empty}",
            one.name,
            output::grouped(one.done),
            output::grouped(one.asked)
        ));
    }
    Ok(())
}

pub(super) fn report(args: &ReportArgs, format: Format) -> Outcome<()> {
    let mut results = gathered(&args.kept)?;
    results.retain(|results| results.count() > 0);
    if results.is_empty() {
        return Err(Failure::usage("these experiments have no runs yet; run `turnpike lab run` first"));
    }
    let runs = results.iter().map(Results::count).sum();
    let files = report::write(&results, VERSION, &args.output)?;
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    match format {
        Format::Json => {
            output::json(&ReportOutput {
                turnpike: VERSION.into(),
                command: "lab report".into(),
                files,
                runs,
            });
        }
        Format::Human => {
            let experiments = if results.len() == 1 { "experiment" } else { "experiments" };
            output::line(&format!(
                "{} runs of {} {experiments}",
                output::grouped(runs as u64),
                results.len()
            ));
            for file in files {
                output::line(&format!("wrote {file}"));
            }
        }
    }
    Ok(())
}

pub(super) fn export(args: &ExportArgs) -> Outcome<()> {
    for (index, results) in gathered(&args.kept)?.iter().enumerate() {
        let text = report::csv(results);
        // One head is enough.
        for line in text.lines().skip(usize::from(index > 0)) {
            output::line(line);
        }
    }
    Ok(())
}
