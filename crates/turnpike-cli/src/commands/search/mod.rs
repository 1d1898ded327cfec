//! `turnpike search`.

mod extremes;
pub(crate) mod flags;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod limits;
pub(crate) mod program;
mod queries;
pub(crate) mod strategy;
mod summary;
mod trace_file;
pub(crate) mod values;
mod warnings;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub(crate) use flags::Args;
use flags::{AcceptArg, GoalArgs};
use turnpike_model::predicate::MeasureExpression;
use turnpike_model::{Diagnostic, Model};
use turnpike_program::ProgramModel;
use turnpike_search::strategy::Descriptor;
use turnpike_search::{
    Accept, Goal, Limits, Objective, SearchError, SearchOptions, SearchReport, StoreKind, Strategy, Verdict,
    WitnessReport,
};
use turnpike_session::{Prepared, Purpose, Session, Zeno};

use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::progress::Reporter;
use crate::output::{self, interrupt, repeat};
use crate::source;
use trace_file::TraceFile;
pub(crate) use trace_file::writable;

pub(crate) fn run(args: Args, format: Format) -> Outcome {
    // Everything that can be wrong without the model comes first: reading it may take long.
    let plan = Plan::of(&args)?;
    let trace = args.results.trace.as_deref().map(TraceFile::prepare).transpose()?;
    let session = args.model.open()?;
    if let Some(asked) = queries::asked(&args, &session)? {
        let Plan { info, limits, store, .. } = plan;
        return queries::run(&args, &asked, queries::Plan { info, limits, store, trace }, format);
    }
    let (named, options) = plan.ready(&args, &session)?;
    if let Some(remark) = source::remark(&named).filter(|_| format == Format::Human && !args.progress.quiet) {
        output::note(&remark);
    }
    let (model, zeno, program) = (named.model, named.zeno, named.program);
    let (runs, many) = (options.runs, args.running.runs.is_some());

    // Before the search, not after it: a misspelt action is no reason to wait for hours.
    let mut warnings = warnings::of(&*model, &options.objectives, &args.goal);
    warnings.extend(warnings::of_covering(model.info(), options.cover));
    if format == Format::Human && !args.progress.quiet {
        for warning in &warnings {
            output::diagnostic("", None, warning);
        }
    }

    let interrupt = interrupt::install()?;
    let started = Instant::now();
    let mut report = executed(&args, &*model, &options, interrupt)?;
    let seconds = started.elapsed().as_secs_f64();
    report.warnings = warnings;
    let zeno = zeno.filter(|zeno| zeno.is_told(report.verdict == Verdict::Found, args.goal.non_zeno));
    report.warnings.extend(zeno.and_then(Zeno::warning));
    let files = trace.map(|file| file.write(&report)).transpose()?.unwrap_or_default();
    let asked = args.results.trace.as_ref().filter(|_| files.is_empty());
    let unwritten = asked.map(|path| path.display().to_string());
    let incidents = match &program {
        Some(program) => incidents(program, &report)?,
        None => Vec::new(),
    };

    let left_out = match &program {
        Some(program) => program.left_out(),
        None => model.left_out(),
    };
    let model = model.info().name.clone();
    let strategy = options.strategy.name();
    match format {
        Format::Json => output::json(&json::object(
            &report,
            json::Context {
                model,
                strategy,
                seed: options.seed,
                objective: texts(&options.objectives).join("; "),
                many,
                interrupted: interrupt.load(Ordering::Relaxed),
                seconds,
                files,
                program: program.as_ref().map(|program| {
                    let incident = incidents.first().map(|shown| &shown.incident);
                    program::output(program, &args.model.program.arguments, incident)
                }),
                repeat: repeat::result(options.seed),
            },
        )),
        Format::Human => {
            let context = human::Context {
                model,
                strategy,
                seed: repeat::seed(options.seed),
                objectives: options
                    .objectives
                    .iter()
                    .map(|objective| (objective.text().to_owned(), objective.is_measure()))
                    .collect(),
                exact: options.store.is_exact(),
                many,
                runs,
                witness: options.witness,
                seconds,
                files,
                unwritten,
                zeno,
                incidents,
                left_out,
                repeat: repeat::exactly(options.seed),
            };
            print(&report, &context, args.progress.quiet);
        }
    }
    Ok(exit_of(report.verdict))
}

/// Whether the flags make sense, as far as that can be told without the model.
pub(crate) fn checked(args: &Args) -> Outcome<()> {
    Plan::of(args).map(|_| ())
}

/// A search that is ready to begin, for whoever makes many of them.
pub(crate) fn prepared(args: &Args) -> Outcome<(Prepared, SearchOptions)> {
    let plan = Plan::of(args)?;
    let session = args.model.open()?;
    if queries::asked(args, &session)?.is_some() {
        let error = Diagnostic::error("queries are answered by `turnpike search` alone");
        return Err(error.help("say with --find what to look for").into());
    }
    plan.ready(args, &session)
}

/// What the flags alone say.
struct Plan {
    info: &'static Descriptor,
    objectives: Vec<Objective>,
    limits: Limits,
    store: StoreKind,
}

impl Plan {
    fn of(args: &Args) -> Outcome<Plan> {
        let info = args.strategy.descriptor()?;
        let objectives = objectives(&args.goal)?;
        Ok(Plan { info, objectives, limits: args.limits.limits()?, store: store(args, info)? })
    }

    /// Prepares the model for what is asked.
    fn ready(mut self, args: &Args, session: &Session) -> Outcome<(Prepared, SearchOptions)> {
        if self.objectives.is_empty() {
            self.objectives.push(match args.model.program.program {
                Some(_) => "any-error".parse()?,
                None => Objective::deadlock(),
            });
        }
        let purpose = Purpose { non_zeno: args.goal.non_zeno, ..Purpose::of(&self.objectives) };
        if purpose.non_zeno && !purpose.cycles {
            return Err(Zeno::useless("none are looked for").into());
        }
        let named = session.prepare(&purpose)?;
        let strategy = self.info.build(&args.strategy.options.0, named.model.info())?;
        let options = search_options(args, strategy, self.objectives, self.limits, self.store);
        Ok((named, options))
    }
}

/// What the witnesses that will be shown show, the first of them first.
fn incidents(program: &ProgramModel, report: &SearchReport) -> Outcome<Vec<human::Shown>> {
    let Some((_, run, best)) = summary::Summary::of(&report.runs).best else { return Ok(Vec::new()) };
    let witnesses = if run.witnesses.is_empty() { std::slice::from_ref(best) } else { &run.witnesses };
    let shown = |witness: &WitnessReport| {
        let choices = witness.trace.steps.iter().filter_map(|step| step.choice).collect();
        Ok(human::Shown { choices, incident: program::incident(program, &witness.trace)? })
    };
    witnesses.iter().map(shown).collect()
}

/// What the flags say about a search for these objectives.
fn search_options(
    args: &Args,
    strategy: Strategy,
    objectives: Vec<Objective>,
    limits: Limits,
    store: StoreKind,
) -> SearchOptions {
    let runs = args.running.runs.unwrap_or(1);
    let mut options = SearchOptions::new(strategy);
    options.threads = args.running.threads.unwrap_or_else(|| {
        let program = args.model.program.program.is_some();
        if runs > 1 || options.strategy.descriptor().parallel.helps(program) {
            limits::all_cores()
        } else {
            1
        }
    });
    options.objectives = objectives;
    options.all = args.goal.all;
    options.lookahead = args.goal.lookahead;
    options.accept = match args.goal.accept {
        AcceptArg::Generation => Accept::Generation,
        AcceptArg::Pop => Accept::Pop,
    };
    options.cover = args.model.reading.covering();
    options.source_dpor = args.model.program.source_dpor();
    options.internal = args.goal.tau.clone();
    options.limits = limits;
    options.seed = args.running.seed;
    options.runs = runs;
    options.store = store;
    options.witness = !args.results.no_witness;
    options.shorten = !args.results.no_shorten;
    options.shorten_budget = args.results.shorten_budget;
    options
}

/// Searches, with progress.
fn executed(
    args: &Args,
    model: &dyn Model,
    options: &SearchOptions,
    interrupt: &AtomicBool,
) -> Outcome<SearchReport> {
    let reporter = Reporter::new(args.progress, options.runs);
    let outcome = turnpike_search::search(model, options, &|event| reporter.event(event), interrupt);
    drop(reporter);
    outcome.map_err(|error| match error {
        SearchError::Usage(diagnostic) => pointing(diagnostic, &options.objectives, model),
        error => Failure::from(error).in_file(&model.info().name),
    })
}

fn print(report: &SearchReport, context: &human::Context, quiet: bool) {
    output::line(&human::verdict(report, context));
    if !quiet {
        for line in human::details(report, context) {
            output::line(&line);
        }
    }
}

fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Found => Exit::Found,
        Verdict::None | Verdict::Measured => Exit::Clean,
        Verdict::Inconclusive => Exit::Inconclusive,
    }
}

fn objectives(goal: &GoalArgs) -> Outcome<Vec<Objective>> {
    let mut objectives: Vec<Objective> = Vec::new();
    for text in &goal.find {
        if text.trim().is_empty() {
            let error = Diagnostic::error("--find needs an objective");
            return Err(error.help("for example --find deadlock").into());
        }
        // Where time is counted, it is so in states that meet a condition: any will do.
        let any = goal.non_zeno && text.trim() == "accepting";
        let objective = if any { "accepting true".parse()? } else { text.parse()? };
        // Asked for twice, it is still one.
        if !objectives.contains(&objective) {
            objectives.push(objective);
        }
    }
    Ok(objectives)
}

/// An error in a state expression, with the expression it points into.
fn pointing(diagnostic: Diagnostic, objectives: &[Objective], model: &dyn Model) -> Failure {
    let expressions = objectives.iter().flat_map(|objective| match objective.goal() {
        Goal::State(condition) => std::slice::from_ref(condition),
        Goal::Accepting(sets) => sets,
        _ => &[],
    });
    let mut explorer = model.explorer();
    let is_wrong = |text: &&String| match explorer.predicate(text) {
        Ok(Some(_)) => false,
        Ok(None) => MeasureExpression::parse(text, model.info()).is_err_and(|error| error == diagnostic),
        Err(error) => error == diagnostic,
    };
    let source = expressions.into_iter().find(is_wrong).cloned();
    Failure { source, ..Failure::from(diagnostic) }
}

fn texts(objectives: &[Objective]) -> Vec<&str> {
    objectives.iter().map(Objective::text).collect()
}

/// The store with its size, unless the strategy has no use for it.
fn store(args: &Args, strategy: &Descriptor) -> Outcome<StoreKind> {
    let store = match (args.running.store.parse::<StoreKind>()?, args.running.bitstate_size) {
        (StoreKind::Bitstate { .. }, Some(bytes)) => {
            limits::within_machine("--bitstate-size", bytes)?;
            StoreKind::Bitstate { bytes }
        }
        (store, Some(_)) => {
            let message = format!("--bitstate-size belongs to --store bitstate, but the store is {store}");
            return Err(Diagnostic::error(message).help("leave it out, or add --store bitstate").into());
        }
        (store, None) => store,
    };
    if !matches!(store, StoreKind::Auto | StoreKind::Exact) && !strategy.stores_states {
        let message = format!("--store {store} has no use: {} remembers no states", strategy.name);
        return Err(Diagnostic::error(message).help("leave it out, or choose another strategy").into());
    }
    Ok(store)
}
