//! `turnpike replay`: re-executes a trace on a model, and reports the first difference.

mod debugger;
mod program;
mod recorder;

use std::path::Path;

use clap::builder::ArgPredicate;
use serde_json::{Value, json};
use turnpike_lts::trace::stuck_lines;
use turnpike_model::{Diagnostic, Model, Trace};
use turnpike_session::{Goal, Objective, Replayed, judge, replay};
use turnpike_timed::zeno::TICKER;

use crate::cli::Format;
use crate::commands::show;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::known_programs;
use crate::options::Options;
use crate::output::{self, VERSION};
use crate::source::{ProgramArgs, ReadingArgs, source};
use crate::steps::{self, ViewArgs};
use turnpike_session::Limits;
use turnpike_session::values;
use turnpike_session::{Location, Problem, ProgramSource, Purpose, Reading, Session, Source};

const EXAMPLES: &str = "\
Examples:
  turnpike replay lift.mcrl2 witness.json
  turnpike replay witness.json
  turnpike replay --program ./bank witness.json -- 3 accounts
  turnpike replay witness.json --gdb
  turnpike replay witness.json --rr
  turnpike replay --program ./bank witness.json --tolerant --continue pos";

/// Flags of `turnpike replay`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model file (.mcrl2, .tck, .xml, .xta, .ta, .aut, .aut.gz), `builtin:NAME`, or `-` for standard input; or --program
    #[arg(
        value_name = "MODEL",
        required = false,
        required_unless_present = "program",
        default_value_if("program", ArgPredicate::IsPresent, "")
    )]
    model: String,
    #[command(flatten)]
    reading: ReadingArgs,
    /// The trace: .json, .txt with one label per line, an .aut path, or `-` for standard input
    #[arg(value_name = "TRACE")]
    file: Option<String>,
    // After the trace: what comes behind `--` must be the last of all.
    #[command(flatten)]
    program: ProgramArgs,
    /// Actions that count as internal besides tau, for traces of livelocks
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tau: Vec<String>,
    #[command(flatten)]
    view: ViewArgs,
    /// Write the executed trace with its states (.json, .txt, .aut)
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// For programs: look for the same steps of the same threads wherever they are now, and skip those
    /// that no longer exist
    #[arg(long)]
    tolerant: bool,
    /// For programs: show all frames of call stacks, also those of libraries
    #[arg(long, short)]
    verbose: bool,
    /// For programs: continue with this search strategy where the trace ends or no longer fits
    #[arg(long = "continue", value_name = "STRATEGY")]
    go_on: Option<String>,
    /// With --continue: the random seed
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = values::seed)]
    seed: u64,
    #[command(flatten)]
    limits: Options<Limits>,
    /// For programs: open the debugger gdb where the trace ends, with all threads in place
    #[arg(long, conflicts_with_all = ["go_on", "tolerant", "trace"])]
    gdb: bool,
    /// For programs: record the replay with rr, which can step through it forwards and backwards
    #[arg(long, conflicts_with = "gdb")]
    rr: bool,
}

pub(crate) fn run(mut args: Args, format: Format) -> Outcome {
    // A program is named by a flag, so that the first file is the trace. Without a program, a single file
    // is the trace, which says what it belongs to.
    let named = args.file.is_some() || args.program.program.is_some();
    let file = match args.file.take() {
        Some(file) => file,
        None => std::mem::take(&mut args.model),
    };
    if file.is_empty() {
        return Err(Failure::usage("replay needs a trace"));
    }
    if args.model == "-" && file == "-" {
        return Err(Failure::usage("only one of model and trace can come from standard input"));
    }
    let trace = show::read(&file)?;
    let objective: Vec<Objective> = trace.objective.parse().into_iter().collect();
    let mut purpose = Purpose::of(&objective);
    // Who steps by hand looks for nothing but sees deadlocks: such a trace was written for that view.
    purpose.deadlock |= objective.is_empty();
    // The states of the trace show how it was found.
    purpose.non_zeno = trace.initial.as_ref().is_some_and(|values| values.contains_key(TICKER));
    let source = choose_source(&args, named, &file, &trace)?;
    if let Source::Model { location, .. } = &source {
        refuse_for_models(&args, &location.to_string())?;
    } else if args.rr {
        return recorder::run(std::env::args_os());
    }
    let explain = |problem| if named { problem } else { explain_absence(problem, &source, &file) };
    let session = Session::open(&source).map_err(explain)?;
    let named = session.prepare(&purpose).map_err(explain)?;
    if let Some(program) = &named.program {
        if let (true, Source::Program(source)) = (args.gdb, session.source()) {
            return debugger::run(source, program, &trace);
        }
        return program::run(&args, &file, &trace, program, format);
    }
    let model = named.model;
    let info = model.info();
    let replayed = replay(&*model, &trace).map_err(|error| Failure::usage(error.to_string()))?;
    let end = Ending::of(&trace, &replayed);
    let mut warnings = Vec::new();
    if trace.fingerprint != 0 && trace.fingerprint != info.fingerprint {
        warnings.push(different_model(&trace, &info.name));
    }
    let met = if end == Ending::Fits { met(&*model, &trace, &replayed, &args.tau) } else { None };
    if met == Some(false) {
        warnings.push(unmet(&trace.objective));
    }
    if let Some(path) = &args.trace {
        turnpike_lts::trace::write_file(&replayed.trace, path)?;
    }
    match format {
        Format::Human => {
            for warning in &warnings {
                output::diagnostic("", None, warning);
            }
            output::line(&format!("replaying {file} ({} steps) on {}", trace.len(), info.name));
            for line in steps::lines(&replayed.trace, &args.view.view()) {
                output::line(&line);
            }
            for line in conclusion(&trace, &replayed, &end, met) {
                output::line(&line);
            }
            for line in stuck_lines(&replayed.trace.stuck) {
                output::line(&line);
            }
            if let Some(path) = &args.trace {
                output::line(&format!("wrote {path}"));
            }
        }
        Format::Json => output::json(&report(&file, &trace, &replayed, (&end, met), &warnings)),
    }
    Ok(if end == Ending::Fits { Exit::Clean } else { Exit::Found })
}

/// What the user names, or what the trace says that it belongs to.
fn choose_source(args: &Args, named: bool, file: &str, trace: &Trace) -> Outcome<Source> {
    match (named, remembered(trace)) {
        (true, old) => {
            let source = with_remembered(source(&args.model, &args.reading, &args.program)?, old);
            known_programs::remember(&source);
            Ok(source)
        }
        (false, Some(old)) => {
            refuse_reading_flags(file, &args.reading, &args.program, "turnpike replay MODEL TRACE")?;
            known_programs::check(&old, file, "turnpike replay --program PATH TRACE")?;
            Ok(old)
        }
        (false, None) => {
            let error = Diagnostic::error(format!("{file} does not say which model it belongs to"));
            Err(error.help("name the model before the trace: turnpike replay MODEL TRACE").into())
        }
    }
}

/// Models have neither threads nor memory to look at.
fn refuse_for_models(args: &Args, model: &str) -> Outcome<()> {
    let flags = [
        ("--gdb", args.gdb),
        ("--rr", args.rr),
        ("--tolerant", args.tolerant),
        ("--continue", args.go_on.is_some()),
        ("--verbose", args.verbose),
    ];
    match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let error = Diagnostic::error(format!("{flag} is for programs, and {model} is a model"));
            Err(error.help("to step through a model by hand, use `turnpike simulate`").into())
        }
        None => Ok(()),
    }
}

/// A trace that is given alone says how its model is read: flags about that would have no effect.
pub(crate) fn refuse_reading_flags(
    trace: &str,
    reading: &ReadingArgs,
    program: &ProgramArgs,
    instead: &str,
) -> Outcome<()> {
    let Some(flag) = reading.first_given().map(str::to_owned).or_else(|| program.first_given()) else {
        return Ok(());
    };
    let message = format!("{flag} says how a model is read, but {trace} says that already");
    Err(Diagnostic::error(message).help(format!("name the model as well: {instead}")).into())
}

/// What the trace belongs to, if it says so.
pub(crate) fn remembered(trace: &Trace) -> Option<Source> {
    serde_json::from_str(&trace.source).ok()
}

/// A source that is named without any flags or arguments gets those with which the trace was found, also if it
/// is now in another folder.
fn with_remembered(given: Source, old: Option<Source>) -> Source {
    match (given, old) {
        (Source::Program(given), Some(Source::Program(old)))
            if given.path.file_name() == old.path.file_name()
                && given == (ProgramSource { path: given.path.clone(), ..ProgramSource::default() }) =>
        {
            Source::Program(ProgramSource { path: given.path, ..old })
        }
        (Source::Model { location, reading: given }, Some(Source::Model { location: old, reading }))
            if given == Reading::default() && has_same_name(&location, &old) =>
        {
            Source::Model { location, reading }
        }
        (given, _) => given,
    }
}

fn has_same_name(one: &Location, other: &Location) -> bool {
    match (one, other) {
        (Location::File(one), Location::File(other)) => {
            Path::new(one).file_name() == Path::new(other).file_name()
        }
        _ => one == other,
    }
}

/// The file of a source that does not exist.
fn absent_file(source: &Source) -> Option<String> {
    let path = match source {
        Source::Program(program) => program.path.display().to_string(),
        Source::Model { location: Location::File(path), .. } => path.clone(),
        Source::Model { .. } => return None,
    };
    (!Path::new(&path).exists()).then_some(path)
}

/// Says how to name a source that is not where the trace was written.
fn explain_absence(mut problem: Problem, source: &Source, trace: &str) -> Problem {
    let Some(absent) = absent_file(source) else { return problem };
    let absent = absent.as_str();
    let beside = Path::new(trace).parent().map(|folder| folder.join(absent)).filter(|path| path.exists());
    let path = beside.map_or_else(|| "PATH".to_owned(), |path| path.display().to_string());
    let help = match Path::new(absent).extension() {
        Some(_) if turnpike_session::Reading::default().format_of(&absent.into()).is_some() => {
            format!("the trace names it as it was typed; from here, `turnpike replay {path} {trace}`")
        }
        _ => format!(
            "the trace names it as it was typed; from here, `turnpike replay --program {path} {trace}`"
        ),
    };
    if let Some(first) = problem.diagnostics.first_mut() {
        first.help = Some(help);
    }
    problem
}

/// Whether the trace still shows what it was written for; `None` when that is not known or cannot be judged.
fn met(model: &dyn Model, trace: &Trace, replayed: &Replayed, internal: &[String]) -> Option<bool> {
    let objective: Objective = trace.objective.parse().ok()?;
    judge(model, replayed, &objective, internal).ok()?
}

/// How a replay ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Fits,
    /// At this step, for this reason.
    Parts(usize, String),
}

impl Ending {
    fn of(trace: &Trace, replayed: &Replayed) -> Self {
        if let Some(divergence) = &replayed.divergence {
            return Ending::Parts(divergence.step, divergence.reason.clone());
        }
        let Some(start) = trace.loop_start.filter(|_| !replayed.loop_closes) else {
            return Ending::Fits;
        };
        Ending::Parts(
            trace.len(),
            format!("the loop does not close: the end is not the state after step {start}"),
        )
    }
}

/// The trace fits, but is not a witness of its objective.
fn unmet(objective: &str) -> Diagnostic {
    if objective.parse().is_ok_and(|objective: Objective| *objective.goal() == Goal::Livelock) {
        let message = "the trace was written for 'livelock', but its loop has actions that are not internal";
        return Diagnostic::warning(message).help("pass --tau NAMES to make more actions internal");
    }
    Diagnostic::warning(format!("the trace was written for '{objective}', but does not show it"))
}

fn different_model(trace: &Trace, name: &str) -> Diagnostic {
    let from = if trace.model.is_empty() { "another model" } else { &trace.model };
    let message = if from == name {
        format!("{name} was changed after the trace was written, or is read in another way")
    } else {
        format!("the trace was written for {from}, not for {name}")
    };
    Diagnostic::warning(message)
}

/// Enabled transitions that are listed before the rest is only counted.
const LISTED: usize = 20;

fn conclusion(trace: &Trace, replayed: &Replayed, end: &Ending, met: Option<bool>) -> Vec<String> {
    let mut lines = Vec::new();
    let place = match end {
        Ending::Fits => {
            lines.push(format!("the trace fits: all {} steps were executed", trace.len()));
            if met == Some(true) {
                lines.push(format!("objective met: {}", trace.objective));
            }
            "at its end"
        }
        Ending::Parts(step, reason) => {
            let place = if *step == 0 { "the initial state".to_owned() } else { format!("step {step}") };
            lines.push(format!("the trace does not fit at {place}: {reason}"));
            "there"
        }
    };
    let enabled = &replayed.enabled;
    lines.push(if let Some(error) = &replayed.error {
        format!("{place}: an error of the model: {error}")
    } else if replayed.deadlock {
        format!("{place}: deadlock, no transition is enabled")
    } else if enabled.is_empty() {
        format!("{place}: successful termination, no transition is enabled")
    } else {
        let mut labels = enabled.clone();
        labels.dedup();
        let more = labels.len().saturating_sub(LISTED);
        labels.truncate(LISTED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{place}: {} enabled: {}{rest}", enabled.len(), labels.join(", "))
    });
    lines
}

fn report(
    file: &str,
    trace: &Trace,
    replayed: &Replayed,
    (end, met): (&Ending, Option<bool>),
    warnings: &[Diagnostic],
) -> Value {
    let divergence = match end {
        Ending::Fits => Value::Null,
        Ending::Parts(step, reason) => json!({"step": step, "reason": reason}),
    };
    json!({
        "turnpike": VERSION,
        "command": "replay",
        "model": replayed.trace.model,
        "trace": file,
        "objective": trace.objective,
        "fits": *end == Ending::Fits,
        "length": trace.len(),
        "executed": replayed.trace.len(),
        "divergence": divergence,
        "met": met,
        "deadlock": replayed.deadlock,
        "error": replayed.error,
        "enabled": replayed.enabled,
        "warnings": warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>(),
        "witness": show::witness(&replayed.trace),
    })
}
