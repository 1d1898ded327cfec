//! `turnpike generate`.

mod probabilistic;
mod target;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::{Diagnostic, ModelInfo, StepError};
use turnpike_session::generate::{GenerateError, GenerateOptions, GenerateReport};
use turnpike_session::{Limits, SearchError, StopReason, StoreKind};

use super::search::human::{about_scope, actions, counted};
use super::search::json::word_of_scope;
use crate::checkpoints::{CheckpointArgs, without_flags};
use crate::cli::Format;
use crate::cluster;
use crate::exit::{self, Exit};
use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::output::progress::{ProgressArgs, Reporter};
use crate::output::{self, VERSION, bytes, grouped, interrupt};
use crate::source::ModelArgs;
use target::Target;
use turnpike_session::cluster::{Joined, options_of_source};
use turnpike_session::values;
use turnpike_session::{Prepared, Purpose, Scope};

/// What `turnpike generate --help` ends with.
fn after_help() -> String {
    format!(
        "\
Examples:
  turnpike generate builtin:philosophers --set n=8 -o philosophers.aut
  turnpike generate builtin:diamond --set n=3 -o diamond.svg
  turnpike generate system.aut.gz --format json
  turnpike generate protocol.mcrl2 --set window=2 --unhide lost -o protocol.aut

{}",
        exit::TABLE
    )
}

/// Flags of `turnpike generate`.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Write the system to a file: .aut, .aut.gz, .dot or .svg; - is .aut on standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// How to store states: exact, tree (compressed), or auto (tree for wide states)
    #[arg(long, value_name = "STORE", default_value = "auto")]
    store: String,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = values::positive::<usize>)]
    threads: Option<usize>,
    #[command(flatten)]
    limits: Options<Limits>,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// The result of `turnpike generate`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GenerateOutput {
    /// Version of turnpike.
    turnpike: String,
    /// `generate`.
    command: String,
    /// The model with its parameters.
    model: String,
    /// Why it stopped; `exhausted` when the system is complete.
    stop: StopReason,
    /// Whether every reachable state is there with all its transitions; never of a part (`scope`).
    complete: bool,
    /// What the system shows of a program, if not everything: `synchronisation`, when its accesses to
    /// memory are not visible.
    scope: Option<&'static str>,
    /// States found. In an incomplete system some of them have no transitions yet.
    states: u64,
    /// Transitions.
    transitions: u64,
    /// Expanded states without outgoing transitions; of a program only those in which threads wait
    /// for ever, not those in which it has ended.
    deadlocks: u64,
    /// Breadth-first levels.
    levels: u64,
    /// Wall-clock time.
    seconds: f64,
    /// Peak resident memory of the process.
    peak_bytes: u64,
    /// Bytes of the state store.
    store_bytes: u64,
    /// Bytes that this process sent to the others; null where there are none.
    sent_bytes: Option<u64>,
    /// Transitions per action name.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    actions: IndexMap<String, u64>,
    /// Declared actions that never occur.
    never_taken: Vec<String>,
    /// The file that was written; null when there is none.
    file: Option<String>,
}

/// Whether the whole system was generated.
pub(crate) fn is_complete(report: &GenerateReport) -> bool {
    report.stop == StopReason::Exhausted
}

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    let target = Target::of(args.output.as_deref())?;
    if target == Target::Standard && format == Format::Json {
        return Err(Diagnostic::error("-o - and --format json cannot both use standard output")
            .help("write the system to a file")
            .into());
    }
    if args.checkpoints.are_given() && args.output.is_some() {
        return Err(Diagnostic::error("checkpoints are for counting a system, not for writing it")
            .help("leave out -o")
            .into());
    }
    if args.checkpoints.spill().is_some() && args.output.is_some() {
        return Err(Diagnostic::error("--spill is for counting a system, not for writing it")
            .help("leave out -o")
            .into());
    }
    if cluster::is_member() && args.output.is_some() {
        return Err(Diagnostic::error("several processes count a system, but do not write it")
            .help("leave out -o, or generate with several threads")
            .into());
    }
    let mut options = GenerateOptions {
        limits: args.limits.limits()?,
        threads: args.threads.unwrap_or_else(turnpike_session::all_cores),
        store: exact_store(&args.store)?,
        spill: args.checkpoints.spill(),
        ..GenerateOptions::default()
    };
    let session = args.model.open()?;
    let prepared = session.prepare(&Purpose::default())?;
    let info = prepared.model.info().clone();
    let scope = session.scope(&prepared);
    let specification = session.specification().filter(|found| found.model.is_probabilistic());
    if specification.is_some() {
        refuse_for_probabilistic(&args, &info.name)?;
    }
    options.checkpoints = args.checkpoints.of(|| {
        let (states, depth) = (options.limits.states, options.limits.depth);
        let (fingerprint, reading) = (info.fingerprint, options_of_source(session.source()));
        Ok(format!("turnpike {VERSION}, model {fingerprint:016x}, generate {reading} {states:?} {depth:?}"))
    })?;
    let what = format!("generate {:?} {:?}", options.limits, options.store);
    let joined = cluster::join_to(&session, &what, &options.checkpoints)?;
    if let Some(joined) = &joined {
        options.processes = Some(joined.processes().clone());
        options.threads = args.threads.unwrap_or(joined.threads());
    }
    let (report, file) = match specification {
        Some(found) => {
            let (choice, interrupt) = (found.model.has_initial_choice(), interrupt::install()?);
            probabilistic::generate(&*prepared.model, choice, &options.limits, &target, interrupt)?
        }
        None => listed(prepared, &args, &options, &target, format)?,
    };

    match format {
        Format::Json => {
            let sent_bytes = joined.as_ref().map(Joined::bytes_sent);
            output::json(&GenerateOutput { sent_bytes, ..object(report.clone(), &info, file, scope) })
        }
        Format::Human => {
            // Standard output belongs to the system when it was asked for there.
            let print = if target == Target::Standard { output::note } else { output::line };
            let lines = text(&report, &info, file.as_deref(), scope);
            let shown = if args.progress.quiet { 1 } else { lines.len() };
            lines.iter().take(shown).for_each(|line| print(line));
        }
    }
    if cluster::leave(joined) {
        args.checkpoints.advise(without_flags(output::repeat::typed_words()));
    }
    Ok(if is_complete(&report) { Exit::Clean } else { Exit::Inconclusive })
}

/// Refuses what the generation of probabilistic systems does not do.
fn refuse_for_probabilistic(args: &Args, name: &str) -> Outcome<()> {
    let refuse = |what: &str, help: &str| {
        let error = Diagnostic::error(format!("{what} cannot be used: {name} has probabilistic choices"));
        Err(error.help(help).into())
    };
    match args.checkpoints.first_given() {
        Some(flag) => refuse(flag, &format!("leave out {flag}")),
        None if cluster::is_member() => refuse("several processes", "generate it without launch"),
        None => Ok(()),
    }
}

/// Generates a system whose transitions lead to single states.
fn listed(
    prepared: Prepared,
    args: &Args,
    options: &GenerateOptions,
    target: &Target,
    format: Format,
) -> Outcome<(GenerateReport, Option<String>)> {
    if let Some(remark) = output::remark(&prepared.model.info().name, prepared.warnings.len())
        .filter(|_| format == Format::Human && !args.progress.quiet)
    {
        output::note(&remark);
    }
    let model = &*prepared.model;
    let dialect = args.model.reading.dialect();
    let mut sink = target.open(model, dialect)?;
    let interrupt = interrupt::install()?;
    let reporter = Reporter::new(args.progress, 1);
    let events = |event: &turnpike_session::Event| reporter.event(event);
    let outcome = turnpike_session::generate::generate(model, options, &mut sink, &events, interrupt);
    drop(reporter);
    let report = outcome.map_err(|error| failure(error, model.info()))?;
    let file = target.close(sink, &report, dialect)?;
    Ok((report, file))
}

/// A store in which no state is taken for another.
fn exact_store(text: &str) -> Outcome<StoreKind> {
    let store: StoreKind = text.parse()?;
    if store.is_exact() {
        return Ok(store);
    }
    Err(Diagnostic::error(format!("the store {store} is lossy, so the system would be incomplete"))
        .help("generate takes --store exact or --store tree")
        .into())
}

/// The model could not take a step.
fn unable(error: &StepError, name: &str) -> Failure {
    let help = "`turnpike search --strategy bfs` shows the steps that lead there";
    Failure::from(Diagnostic::error(error.to_string()).help(help)).in_file(name)
}

fn failure(error: GenerateError, model: &ModelInfo) -> Failure {
    match error {
        // No way to a state is remembered here.
        GenerateError::Search(SearchError::Step { error, .. }) => unable(&error, &model.name),
        GenerateError::Search(error) => Failure::from(error).in_file(&model.name),
        GenerateError::Output(error) => {
            match error.get_ref().and_then(|inner| inner.downcast_ref::<Diagnostic>()) {
                Some(diagnostic) => diagnostic.clone().into(),
                None => Failure::usage(format!("cannot write the transition system: {error}")),
            }
        }
        error => Failure::usage(error.to_string()),
    }
}

fn never_taken(report: &GenerateReport, model: &ModelInfo) -> Vec<String> {
    let taken = |name: &str| report.actions.keys().any(|key| key.split('|').any(|part| part == name));
    model.actions.iter().filter(|name| !taken(name)).cloned().collect()
}

fn object(
    report: GenerateReport,
    model: &ModelInfo,
    file: Option<String>,
    scope: Option<Scope>,
) -> GenerateOutput {
    GenerateOutput {
        turnpike: VERSION.to_owned(),
        command: "generate".to_owned(),
        model: model.name.clone(),
        complete: is_complete(&report) && scope.is_none(),
        scope: scope.map(word_of_scope),
        never_taken: never_taken(&report, model),
        stop: report.stop,
        states: report.states,
        transitions: report.transitions,
        deadlocks: report.deadlocks,
        levels: report.levels,
        seconds: report.seconds,
        peak_bytes: report.peak_bytes,
        store_bytes: report.store_bytes,
        sent_bytes: None,
        actions: report.actions,
        file,
    }
}

fn text(report: &GenerateReport, model: &ModelInfo, file: Option<&str>, scope: Option<Scope>) -> Vec<String> {
    let complete = is_complete(report);
    let rate = report.transitions as f64 / report.seconds.max(1e-6);
    let mut out = vec![format!(
        "{}: {}, {} ({})",
        if complete { "generated" } else { "incomplete" },
        counted(report.states, "state"),
        counted(report.transitions, "transition"),
        match (complete, scope) {
            (true, None) => "complete".to_owned(),
            (true, Some(_)) => "synchronisation only".to_owned(),
            (false, _) => format!("stopped: {}", report.stop.describe()),
        }
    )];
    out.push(format!("model: {}", model.name));
    let deadlocks = counted(report.deadlocks, "deadlock");
    out.push(format!("counted: {deadlocks}, {}", counted(report.levels, "level")));
    out.push(format!(
        "cost: {:.2} s ({} transitions/s), {} at most, {} for states",
        report.seconds,
        grouped(rate as u64),
        bytes(report.peak_bytes),
        bytes(report.store_bytes)
    ));
    actions(&report.actions, &never_taken(report, model), &mut out);
    out.extend(scope.map(about_scope));
    if let Some(file) = file {
        let partial = if complete { "" } else { " (partial: states not expanded have no transitions in it)" };
        out.push(format!("wrote: {file}{partial}"));
    }
    out.push(format!("repeat: {}", output::repeat::as_typed()));
    out
}
