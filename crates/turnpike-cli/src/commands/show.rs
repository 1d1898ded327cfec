//! `turnpike show`: prints a trace.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};
use turnpike_lts::trace::{self, gantt_chart, sequence_chart};
use turnpike_model::{Diagnostic, Step, Trace};
use turnpike_program::Row;
use turnpike_session::StepReport;

use crate::cli::Format;
use crate::commands::search::human::counted;
use crate::commands::search::program::WIDTH;
use crate::exit::Exit;
use crate::explicit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::steps::{self, ViewArgs};
use crate::stuck;

const EXAMPLES: &str = "\
Examples:
  turnpike show witness.json
  turnpike search fischer.xta --find 'state P(1).critical' --trace witness.json
  turnpike show witness.json --chart who.svg --gantt when.svg";

/// Flags of `turnpike show`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The trace: .json, .txt with one label per line, an .aut path, or `-` for standard input
    #[arg(value_name = "TRACE")]
    file: String,
    #[command(flatten)]
    view: ViewArgs,
    /// Write the trace in another format (.json, .txt, .aut), or draw it (.svg, .dot)
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Draw a witness of timed automata or of a program as a message sequence chart: a line for every
    /// process or thread, an arrow for every synchronisation, locations and times
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<String>,
    /// Draw the locations of every process as bars over time
    #[arg(long, value_name = "FILE.svg")]
    gantt: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let trace = read(&args.file)?;
    if let Some(path) = &args.output {
        if path.ends_with(".svg") || path.ends_with(".dot") {
            explicit::write(&trace::to_lts(&trace)?, path, Default::default())?;
        } else {
            trace::write_file(&trace, path).map_err(|mut error| {
                error.help = error.help.map(|help| help + ", or .svg or .dot (a drawing)");
                error
            })?;
        }
    }
    let rows = turnpike_program::rows_of(&trace);
    let chart = || match &rows {
        Some(rows) => sequence_chart(&lifelines(&trace, rows)),
        // Labels that do not say who takes a step are steps of the system as a whole.
        None => sequence_chart(&trace).or_else(|_| sequence_chart(&single_lifeline(&trace))),
    };
    draw(args.chart.as_deref(), "--chart", chart, &args.file)?;
    draw(args.gantt.as_deref(), "--gantt", || gantt_chart(&trace), &args.file)?;
    match format {
        Format::Human => {
            let lines = match &rows {
                _ if args.view.is_plain() && !trace.notes.is_empty() => trace.notes.clone(),
                Some(rows) if args.view.is_plain() => schedule(rows),
                _ => steps::lines(&trace, &args.view.view()),
            };
            for line in header(&trace).into_iter().chain(lines).chain(stuck::lines(&trace.stuck)) {
                output::line(&line);
            }
            for path in [&args.output, &args.chart, &args.gantt].into_iter().flatten() {
                output::line(&format!("wrote {path}"));
            }
        }
        Format::Json => {
            let mut text = Vec::new();
            trace.write_json(&mut text)?;
            output::line(String::from_utf8_lossy(&text).trim_end());
        }
    }
    Ok(Exit::Clean)
}

/// The schedule of a program: a column for every thread.
fn schedule(rows: &[Row]) -> Vec<String> {
    let mut lines = turnpike_program::lines(rows, &[], WIDTH);
    lines.extend(turnpike_program::legend(rows).map(|text| format!("     {text}")));
    lines
}

/// A trace whose labels say which thread takes each step, as charts want it.
fn lifelines(trace: &Trace, rows: &[Row]) -> Trace {
    let step =
        |row: &Row| Step::new(format!("{}@{}", row.thread, row.deed.replace(['(', ')', '[', ']'], "")));
    Trace { initial: None, steps: rows.iter().map(step).collect(), ..trace.clone() }
}

/// A trace of which every step belongs to the one system.
fn single_lifeline(trace: &Trace) -> Trace {
    let plain = |label: &str| label.replace(['(', '[', '{'], " ").replace([')', ']', '}', '@', ','], " ");
    let words = |label: &str| plain(label).split_whitespace().collect::<Vec<_>>().join(" ");
    let step =
        |step: &Step| Step { time: step.time.clone(), ..Step::new(format!("system@{}", words(&step.label))) };
    Trace { initial: None, steps: trace.steps.iter().map(step).collect(), ..trace.clone() }
}

/// Writes a picture where it was asked for.
fn draw(
    path: Option<&str>,
    flag: &str,
    picture: impl FnOnce() -> Result<String, Diagnostic>,
    trace: &str,
) -> Outcome<()> {
    let Some(path) = path else { return Ok(()) };
    if !path.ends_with(".svg") {
        return Err(Failure::usage(format!("{flag} draws an .svg file, not {path}")));
    }
    let picture = picture().map_err(|error| Failure::from(error).in_file(trace))?;
    std::fs::write(path, picture).map_err(|error| Failure::file(path, "write", &error))
}

/// Reads a trace file, or standard input for `-`.
pub(crate) fn read(file: &str) -> Outcome<Trace> {
    let in_file = |error: Diagnostic| Failure::from(error).in_file(file);
    let format = turnpike_session::Reading::default().format_of(&file.into());
    if format.is_some_and(|format| format != turnpike_session::Format::AUT) {
        let error = Diagnostic::error(format!("{file} is a model, not a trace"));
        return Err(error.help("`turnpike info` and `turnpike simulate` show models").into());
    }
    let mut input: Box<dyn BufRead> = if file == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let input = std::fs::File::open(file).map_err(|error| Failure::file(file, "open", &error))?;
        Box::new(BufReader::new(input))
    };
    // A trace without steps has at least a line that says so; no bytes at all are a mistake.
    if input.fill_buf().is_ok_and(<[u8]>::is_empty) {
        let help = "`turnpike search --trace FILE` writes a trace; a text file has one label per line";
        return Err(in_file(Diagnostic::error("the file is empty").help(help)));
    }
    trace::read(input).map_err(in_file)
}

/// Where the trace comes from, as far as it knows.
fn header(trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("{name:<10} {value}"));
        }
    };
    line("model", &trace.model);
    line("objective", &trace.objective);
    line("strategy", &trace.strategy);
    line("seed", &trace.seed.map_or(String::new(), |seed| format!("{seed:#x}")));
    let turn = match trace.loop_start {
        Some(0) => ", a loop from the initial state".to_owned(),
        Some(step) => format!(", a loop from the state after step {step}"),
        None => String::new(),
    };
    line("length", &format!("{}{turn}", counted(trace.len() as u64, "transition")));
    lines
}

/// A trace as the `witness` of a report.
pub(crate) fn witness(trace: &Trace) -> Value {
    let mut witness = json!({
        "length": trace.len(),
        "loop": trace.loop_start,
        "initial": trace.initial,
        "steps": trace.steps.iter().map(StepReport::from).collect::<Vec<_>>(),
    });
    if let Some(delay) = &trace.last_delay {
        witness["last_delay"] = delay.as_str().into();
    }
    if !trace.stuck.is_empty() {
        witness["stuck"] = json!(trace.stuck);
    }
    witness
}
