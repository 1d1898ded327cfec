//! `turnpike show`: prints a trace.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};
use turnpike_lts::trace::{
    self, Drawing, gantt_chart, html_page, sequence_chart, stuck_lines, timeline_chart, wait_chart,
};
use turnpike_model::{Diagnostic, Participant, Pattern, Trace};
use turnpike_program::Row;
use turnpike_session::StepReport;

use crate::cli::Format;
use crate::commands::search::human::counted;
use crate::exit::Exit;
use crate::explicit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::steps::{self, StepView, ViewArgs};

const EXAMPLES: &str = "\
Examples:
  turnpike show witness.json
  turnpike search fischer.xta --find 'state P(1).critical' --trace witness.json
  turnpike show witness.json --chart who.svg --gantt when.svg
  turnpike show witness.json --html witness.html";

/// Flags of `turnpike show`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The trace: .json, .txt with one label per line, an .aut path, or `-` for standard input
    #[arg(value_name = "TRACE")]
    file: String,
    #[command(flatten)]
    view: ViewArgs,
    /// Show all steps, also turns of a loop
    #[arg(long, short)]
    verbose: bool,
    /// Write the trace in another format (.json, .txt, .aut), or draw it (.svg, .dot)
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write one page with all charts, the explanation and the steps, that needs no other file
    #[arg(long, value_name = "FILE.html")]
    html: Option<String>,
    /// Draw a message sequence chart: a line for every component, process or thread, an arrow for every
    /// communication and for every lock or message that is handed over, places and times
    #[arg(long, visible_alias = "svg", value_name = "FILE.svg")]
    chart: Option<String>,
    /// Draw the locations of every process as bars over time, for witnesses of timed automata
    #[arg(long, value_name = "FILE.svg")]
    gantt: Option<String>,
    /// Draw the values of variables as bars over the steps or over time (comma-separated, `*` and `?` are
    /// wildcards)
    #[arg(long, num_args = 2, value_names = ["NAMES", "FILE.svg"])]
    timeline: Vec<String>,
    /// Draw which component waits for which, for witnesses of deadlocks
    #[arg(long, value_name = "FILE.svg")]
    why: Option<String>,
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let mut trace = read(&args.file)?;
    let states = trace.initial.iter().chain(trace.steps.iter().filter_map(|step| step.state.as_ref()));
    args.view.check_hidden(states.flat_map(|values| values.iter().map(|(name, _)| name)))?;
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
    let recorded = trace.clone();
    if let Some(rows) = &rows {
        add_threads(&mut trace, rows);
    }
    let trace = trace;
    let file = args.file.as_str();
    draw(args.chart.as_deref(), "--chart", || Ok(sequence_chart(&trace, None)), file)?;
    draw(args.gantt.as_deref(), "--gantt", || gantt_chart(&trace, None), file)?;
    draw(args.why.as_deref(), "--why", || wait_chart(&trace), file)?;
    let timeline = args.timeline.get(1);
    if let [names, path] = args.timeline.as_slice() {
        let names = chosen_values(&trace, names);
        draw(Some(path), "--timeline", || timeline_chart(&trace, &names, None), file)?;
    }
    if let Some(path) = &args.html {
        if !path.ends_with(".html") && !path.ends_with(".htm") {
            return Err(Failure::usage(format!("--html writes an .html file, not {path}")));
        }
        std::fs::write(path, html_page(&trace)).map_err(|error| Failure::file(path, "write", &error))?;
    }
    match format {
        Format::Human => {
            let explained = args.view.is_plain() && !trace.notes.is_empty();
            let lines = match &rows {
                Some(rows) if explained && args.verbose => {
                    let notes = trace.notes.iter().cloned().chain([String::new(), "all steps:".to_owned()]);
                    notes.chain(schedule(rows, true)).collect()
                }
                _ if explained => trace.notes.clone(),
                Some(rows) if args.view.is_plain() => schedule(rows, args.verbose),
                _ => steps::lines(&trace, &StepView { unfolded: args.verbose, ..args.view.view() }),
            };
            // What the search printed says why already.
            let why = if explained { Vec::new() } else { stuck_lines(&trace.stuck) };
            for line in header(&trace).into_iter().chain(lines).chain(why) {
                output::line(&line);
            }
            let written =
                [args.output.as_ref(), args.chart.as_ref(), args.gantt.as_ref(), timeline, args.why.as_ref()];
            for path in written.into_iter().chain([args.html.as_ref()]).flatten() {
                output::line(&format!("wrote {path}"));
            }
        }
        Format::Json => {
            let mut text = Vec::new();
            recorded.write_json(&mut text)?;
            output::line(String::from_utf8_lossy(&text).trim_end());
        }
    }
    Ok(Exit::Clean)
}

/// The schedule of a program: a column for every thread.
fn schedule(rows: &[Row], all: bool) -> Vec<String> {
    let mut lines = turnpike_program::lines(rows, &[], output::width(), all);
    lines.extend(turnpike_program::legend(rows).map(|text| format!("     {text}")));
    lines
}

/// Adds who takes each step to a trace of a program that does not record it.
fn add_threads(trace: &mut Trace, rows: &[Row]) {
    if trace.steps.iter().any(|step| step.parts.is_some()) {
        return;
    }
    for (step, row) in trace.steps.iter_mut().zip(rows) {
        let part =
            Participant { component: row.thread.clone(), action: row.deed.clone(), ..Participant::default() };
        step.parts = Some(vec![part]);
    }
}

/// The values of a trace that a comma-separated list of names and wildcards means. Commas in brackets
/// belong to names; a name that matches nothing stays, to be refused.
fn chosen_values(trace: &Trace, list: &str) -> Vec<String> {
    // As in the chart: without values of variables, objects have some.
    let complete = if trace.initial.is_none() { trace::with_objects(trace) } else { Cow::Borrowed(trace) };
    let known: Vec<&str> =
        complete.initial.iter().flat_map(|values| values.iter()).map(|(name, _)| name).collect();
    let mut depth = 0_i64;
    let separates = |c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    };
    let mut chosen: Vec<String> = Vec::new();
    for name in list.split(separates).map(str::trim).filter(|name| !name.is_empty()) {
        let pattern = Pattern::new(name);
        let matching: Vec<&str> = known.iter().copied().filter(|other| pattern.matches(other)).collect();
        let found = if matching.is_empty() { vec![name] } else { matching };
        for one in found {
            if !chosen.iter().any(|other| other == one) {
                chosen.push(one.to_owned());
            }
        }
    }
    chosen
}

/// Writes a picture where it was asked for.
fn draw(
    path: Option<&str>,
    flag: &str,
    picture: impl FnOnce() -> Result<Drawing, Diagnostic>,
    trace: &str,
) -> Outcome<()> {
    let Some(path) = path else { return Ok(()) };
    if !path.ends_with(".svg") {
        return Err(Failure::usage(format!("{flag} draws an .svg file, not {path}")));
    }
    let picture = picture().map_err(|error| Failure::from(error).in_file(trace))?;
    std::fs::write(path, picture.file()).map_err(|error| Failure::file(path, "write", &error))
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
