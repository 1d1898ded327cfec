//! A search: one or many runs, in order, with their verdict.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use turnpike_model::{Diagnostic, Model, Trace};

use crate::error::{Halt, SearchError};
use crate::event::{Event, EventSink};
use crate::limits::StopReason;
use crate::objective::{Judge, Objective};
use crate::options::SearchOptions;
use crate::report::{RunReport, SearchReport, Verdict, WitnessReport};
use crate::resources;
use crate::rng::run_seed;
use crate::run::{Control, Run, View};
use crate::witness::{self, add_obstacles, add_participants, add_times, choices_of, trace_of};

/// Steps of strategies that would never end by themselves, when no limit is given.
pub const DEFAULT_STEPS: u64 = 1_000_000;

/// Searches a model. Events go to `events`; setting `interrupt` ends the search with a partial
/// report.
pub fn search(
    model: &dyn Model,
    options: &SearchOptions,
    events: &EventSink<'_>,
    interrupt: &AtomicBool,
) -> Result<SearchReport, SearchError> {
    let mut options = with_objectives(model, options);
    validate(&options, model)?;
    // Without a witness nothing could be confirmed.
    options.witness |= model.approximation().is_some();
    let endless = options.strategy.is_endless();
    let limits = &options.limits;
    if endless && limits.states.is_none() && limits.time.is_none() && limits.executions.is_none() {
        options.limits.states = Some(DEFAULT_STEPS);
    }
    let objectives = options.objectives.clone();
    let control = Control { events, interrupt };
    let runs = if options.runs == 1 {
        vec![one_run(model, &options, &objectives, 0, options.threads, control)?]
    } else {
        let mut runs = many_runs(model, &options, &objectives, control)?;
        add_details_to_shortest(model, &options, &mut runs)?;
        runs
    };
    Ok(SearchReport { verdict: SearchReport::overall(&runs), runs })
}

/// Refuses a search that cannot begin, for the same reasons as [`search`], without beginning it.
pub fn check(model: &dyn Model, options: &SearchOptions) -> Result<(), SearchError> {
    let options = with_objectives(model, options);
    validate(&options, model)?;
    View::of_model(model, &options, &options.objectives).map(|_| ())
}

/// The options with objectives: without any, a search looks for what is usually wrong.
fn with_objectives(model: &dyn Model, options: &SearchOptions) -> SearchOptions {
    let mut options = options.clone();
    if options.objectives.is_empty() {
        // A program may fail in more ways than a model.
        let any = model.paths().is_some().then(|| "any-error".parse().ok()).flatten();
        options.objectives.push(any.unwrap_or_else(Objective::deadlock));
    }
    options
}

/// Adds states and times to the shortest witness of many runs, the only one that is shown.
fn add_details_to_shortest(
    model: &dyn Model,
    options: &SearchOptions,
    runs: &mut [RunReport],
) -> Result<(), SearchError> {
    let witnesses = runs.iter_mut().filter_map(|run| run.witness.as_mut());
    let Some(shortest) = witnesses.min_by_key(|witness| witness.length) else { return Ok(()) };
    if shortest.schedule.is_some() {
        return Ok(());
    }
    let choices = choices_of(&shortest.trace);
    let failed = SearchError::from_replay_failure;
    let detailed = trace_of(model, &choices, options.states_in_witness).map_err(failed)?;
    let mut trace = Trace { initial: detailed.initial, steps: detailed.steps, ..shortest.trace.clone() };
    let objective = options.objectives.iter().find(|objective| objective.text() == shortest.objective);
    add_times(model, &mut trace, objective).map_err(failed)?;
    if let Some(objective) = objective {
        add_obstacles(model, &mut trace, objective).map_err(failed)?;
    }
    add_participants(model, &mut trace).map_err(failed)?;
    let detailed = WitnessReport::new(&shortest.objective, shortest.original_length, trace);
    *shortest = WitnessReport { shortest: shortest.shortest, ..detailed };
    Ok(())
}

/// Refuses requests that cannot mean anything.
fn validate(options: &SearchOptions, model: &dyn Model) -> Result<(), Diagnostic> {
    let zero = |what: &str| Err(Diagnostic::error(format!("{what} must be at least 1")));
    options.strategy.check(options)?;
    if model.approximation().is_some()
        && let Some(measure) = options.objectives.iter().find(|objective| objective.is_measure())
    {
        return Err(Diagnostic::error(format!(
            "`{}` cannot be measured: states of this model may show more than its runs lead to",
            measure.text()
        ))
        .help("the objective 'state EXPR' decides whether a value is reached"));
    }
    crate::strategy::validate_lasso(options)?;
    if options.cover {
        crate::strategy::validate_cover(&options.strategy, &options.objectives, model.info())?;
    }
    check_processes(options, model)?;
    check_spill(options)?;
    if options.runs == 0 {
        return zero("the number of runs");
    }
    if options.threads == 0 {
        return zero("the number of threads");
    }
    if let (Some(limit), Some(machine)) = (options.limits.memory, resources::machine_bytes())
        && limit > machine
    {
        return Err(Diagnostic::error(format!(
            "the memory limit of {limit} bytes is more than the machine has ({machine})"
        ))
        .help("without a limit on memory a search stops at three quarters of the machine's memory"));
    }
    if let crate::store::StoreKind::Bitstate { bytes } = options.store
        && resources::machine_bytes().is_some_and(|machine| bytes > machine)
    {
        return Err(Diagnostic::error(format!("a bit table of {bytes} bytes is more than the machine has")));
    }
    Ok(())
}

/// Refuses what cannot be done with states in files.
pub(crate) fn check_spill(options: &SearchOptions) -> Result<(), Diagnostic> {
    if options.spill.is_none() {
        return Ok(());
    }
    let refuse = |message: String, help: &str| Err(Diagnostic::error(message).help(help));
    let apart = |what: &str| format!("{what} cannot be combined with states in files");
    if !options.strategy.spills_states() {
        let name = options.strategy.name();
        return refuse(format!("the strategy {name} does not move states to files"), "the strategy bfs does");
    }
    if options.processes.is_some() || options.checkpoints.are_wanted() {
        let who = if options.processes.is_some() { "several processes" } else { "checkpoints" };
        return refuse(apart(who), "several processes have more memory than one; choose one of the two");
    }
    if options.runs > 1 {
        return refuse(apart("several runs"), "make one run");
    }
    refuse_inexact(options, apart)
}

/// Refuses covering, lossy stores and cycles where each state is looked up by its words.
fn refuse_inexact(options: &SearchOptions, apart: impl Fn(&str) -> String) -> Result<(), Diagnostic> {
    let refuse = |message: String, help: &str| Err(Diagnostic::error(message).help(help));
    if options.cover {
        return refuse(apart("leaving out covered states"), "choose the covering `none`");
    }
    if !options.store.is_exact() {
        return refuse(apart(&format!("the store {}", options.store)), "the stores exact and tree can");
    }
    if let Some(cyclic) = options.objectives.iter().find(|objective| objective.is_about_cycles()) {
        return refuse(apart(&format!("`{}`", cyclic.text())), "look for something else than cycles");
    }
    Ok(())
}

/// Refuses what several processes cannot do together.
pub(crate) fn check_processes(options: &SearchOptions, model: &dyn Model) -> Result<(), Diagnostic> {
    if options.processes.is_none() && !options.checkpoints.are_wanted() {
        return Ok(());
    }
    let who = if options.processes.is_some() { "several processes" } else { "a search with checkpoints" };
    let name = options.strategy.name();
    let refuse = |message: String, help: &str| Err(Diagnostic::error(message).help(help));
    let apart = |what: &str| format!("{what} cannot be combined with {who}");
    if options.processes.is_some() && model.paths().is_some() {
        return check_program(options, apart);
    }
    if !options.strategy.shares_out_states() {
        let message = match options.processes {
            Some(_) => format!("the strategy {name} does not share its states out to several processes"),
            None => format!("the strategy {name} neither writes checkpoints nor goes on from them"),
        };
        return refuse(message, "the strategies bfs, highway and beam do");
    }
    if options.runs > 1 {
        return refuse(apart("several runs"), "make one run");
    }
    refuse_inexact(options, apart)?;
    if model.explorer().portable_states().is_none() {
        let message = format!("the states of {} cannot be written as bytes", model.info().name);
        return refuse(message, "models written in Rust and programs can be searched by threads only");
    }
    Ok(())
}

/// Refuses what several processes cannot do together with a program: they share its executions out.
fn check_program(options: &SearchOptions, apart: impl Fn(&str) -> String) -> Result<(), Diagnostic> {
    let refuse = |message: String, help: &str| Err(Diagnostic::error(message).help(help));
    if !options.strategy.shares_out_paths() {
        let name = options.strategy.name();
        let message = format!("the strategy {name} does not share executions out to several processes");
        return refuse(
            message,
            "the strategies random, pct, pos, weighted, frontier, genetic and mutation do",
        );
    }
    if options.checkpoints.are_wanted() {
        return refuse(apart("checkpoints of a program"), "a seed repeats its executions");
    }
    if options.runs > 1 {
        return refuse(apart("several runs"), "make one run");
    }
    Judge::new(&options.objectives).map(|_| ())
}

/// Runs are independent: threads take the next one each, and results are put back in order.
fn many_runs(
    model: &dyn Model,
    options: &SearchOptions,
    objectives: &[Objective],
    control: Control<'_>,
) -> Result<Vec<RunReport>, SearchError> {
    let next = AtomicU64::new(0);
    let results: Mutex<Vec<(u64, Result<RunReport, SearchError>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.runs || control.interrupt.load(Ordering::Relaxed) {
                return;
            }
            let result = one_run(model, options, objectives, number, 1, control);
            let failed = result.is_err();
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((number, result));
            if failed {
                next.store(options.runs, Ordering::Relaxed);
            }
        }
    };
    if options.threads == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..options.threads {
                scope.spawn(work);
            }
        });
    }
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn one_run(
    model: &dyn Model,
    options: &SearchOptions,
    objectives: &[Objective],
    number: u64,
    threads: usize,
    control: Control<'_>,
) -> Result<RunReport, SearchError> {
    let seed = run_seed(options.seed, number);
    (control.events)(&Event::RunStarted { run: number, seed });
    let mut run = Run::new(model, options, objectives, number, seed, control)?;
    run.team.threads = threads;
    let stop = match options.strategy.search(&mut run) {
        Ok(stop) => stop,
        Err(Halt::Stop(stop)) => stop,
        Err(Halt::Error(error)) => return Err(*error),
    };
    let report = finish(&mut run, stop)?;
    (control.events)(&Event::RunFinished { run: number, verdict: report.verdict, states: report.states });
    Ok(report)
}

/// Shortens and confirms witnesses, and draws the conclusion.
fn finish(run: &mut Run<'_>, stop: StopReason) -> Result<RunReport, SearchError> {
    let mut report = RunReport::new(run.seed, stop);
    report.objective = run.objectives.iter().map(Objective::text).collect::<Vec<_>>().join("; ");
    let (explorer, monitor) = (&mut *run.view.explorer, &run.view.monitor);
    report.actions = monitor.action_counts(explorer);
    report.covered = monitor
        .covered(explorer)
        .into_iter()
        .map(|(pattern, labels)| (pattern, labels.into_iter().map(|label| (label, 1)).collect()))
        .collect();
    report.extreme = monitor.extremes();
    run.counters.report(run.uncounted_levels(), &mut report);
    // Executions have no action counts.
    if report.executions.is_none() {
        report.never_taken = never_taken(run.model, &report);
    }
    report.signatures = run.findings.by_signature();
    let found = run.findings.in_order();
    report.verdict = conclude(run, stop, !found.is_empty());
    let mut witnesses = Vec::new();
    for witness in found.into_iter().filter(|_| run.options.witness) {
        let (finished, spent) = witness::finish(run, witness, stop)?;
        witnesses.push(finished);
        report.shorten_states += spent;
    }
    report.witness = witnesses.first().cloned();
    if run.options.all {
        report.witnesses = witnesses;
    }
    report.seconds = run.seconds();
    report.peak_bytes = resources::peak_bytes();
    Ok(report)
}

fn conclude(run: &Run<'_>, stop: StopReason, found: bool) -> Verdict {
    let complete = stop == StopReason::Exhausted
        && run.options.store.is_exact()
        && !run.view.monitor.gave_up()
        && run.model.left_out().is_none();
    match () {
        () if found => Verdict::Found,
        () if run.objectives.iter().all(Objective::is_measure) => Verdict::Measured,
        () if complete => Verdict::None,
        () => Verdict::Inconclusive,
    }
}

fn never_taken(model: &dyn Model, report: &RunReport) -> Vec<String> {
    let taken = |name: &str| report.actions.keys().any(|key| key.split('|').any(|part| part == name));
    model.info().actions.iter().filter(|name| !taken(name)).cloned().collect()
}
