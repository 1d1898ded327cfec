//! Queries about timed automata: each is a search of its own, on zones made for it, and the answer is what finding
//! something means for the query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::Diagnostic;
use turnpike_search::strategy::{Descriptor, Dfs};
use turnpike_search::{
    Limits, Objective, RunReport, SearchOptions, SearchReport, StopReason, StoreKind, Strategy, Verdict,
    WitnessReport,
};
use turnpike_timed::network::QueryText;
use turnpike_timed::query;

use super::extremes::{self, Extremes};
use super::flags::Args;
use super::trace_file::TraceFile;
use super::{executed, human, json, search_options, warnings};
use crate::cli::Format;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, interrupt, repeat};
use turnpike_session::{Purpose, Session, Timed, Zeno};

/// The model with the queries about it.
pub(crate) struct Asked<'s> {
    session: &'s Session,
    timed: &'s Timed,
    queries: Vec<QueryText>,
}

/// What the flags say, apart from the queries.
pub(crate) struct Plan {
    pub(crate) info: &'static Descriptor,
    pub(crate) limits: Limits,
    pub(crate) store: StoreKind,
    pub(crate) trace: Option<TraceFile>,
}

/// A query with its answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct QueryOutput {
    /// The formula.
    text: String,
    /// The remark that goes with it.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    comment: String,
    /// Whether it holds; null when that is not known.
    satisfied: Option<bool>,
    /// Why it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What was looked for; null when it could not be asked.
    objective: Option<String>,
    /// The strategy.
    strategy: Option<String>,
    /// What the search concluded.
    verdict: Option<Verdict>,
    /// Why it stopped.
    stop: Option<StopReason>,
    /// Expansions.
    states: u64,
    /// Distinct states met; null when they were not counted.
    considered: Option<u64>,
    /// With `--cover`: states that no other covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<u64>,
    /// Transitions of expanded states.
    transitions: u64,
    /// Transitions to the deepest expanded state.
    depth: u32,
    /// Wall-clock time.
    seconds: f64,
    /// The trace that was found: it shows that the query holds, or refutes it.
    witness: Option<WitnessReport>,
    /// Of `sup`, `inf` and `bounds`: what was measured, in order; empty when no reachable state counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<extremes::ValueOutput>>,
}

/// What a witness that is a whole run means.
const ABOUT_RUNS: &str = "the run: 'rest' is where time passes for ever or nothing is possible any more";

/// An answer.
struct Answer<'a> {
    query: &'a QueryText,
    outcome: Result<Told, Failure>,
    seconds: f64,
}

/// What was told about a query.
enum Told {
    /// By a search.
    Searched(Box<Searched>),
    /// By measuring all states.
    Measured(Extremes),
}

/// What a search told about a query.
struct Searched {
    report: SearchReport,
    options: SearchOptions,
    satisfied: Option<bool>,
    /// Why covering everything proves nothing.
    left_out: Option<String>,
    files: Vec<String>,
    /// What is known of the run that was found.
    zeno: Option<Zeno>,
}

/// The queries that are asked, if any: by flags, or by the model itself when no flag tells what to find.
pub(crate) fn asked<'s>(args: &Args, session: &'s Session) -> Outcome<Option<Asked<'s>>> {
    let goal = &args.goal;
    let flag = match (goal.query.is_empty(), &goal.queries) {
        (false, _) => Some("--query"),
        (true, Some(_)) => Some("--queries"),
        (true, None) => None,
    };
    if flag.is_none() && !goal.find.is_empty() {
        return Ok(None);
    }
    if args.model.program.program.is_some() {
        return match flag {
            Some(flag) => Err(Failure::usage(format!("{flag} is for timed automata, not for programs"))),
            None => Ok(None),
        };
    }
    let Some(timed) = session.timed() else {
        return match flag {
            Some(flag) => {
                let name = session.name();
                Err(Diagnostic::error(format!(
                    "{flag} is for timed automata, but {name} is not a timed automaton"
                ))
                .help("--find tells what to look for in any model")
                .into())
            }
            None => Ok(None),
        };
    };
    let mut queries: Vec<QueryText> =
        goal.query.iter().map(|text| QueryText { text: text.clone(), comment: String::new() }).collect();
    if let Some(file) = &goal.queries {
        let of_file = turnpike_session::read_queries(file)?;
        if of_file.is_empty() && queries.is_empty() {
            return Err(Failure::usage(format!("{file} has no queries")));
        }
        queries.extend(of_file);
    }
    if flag.is_none() {
        queries = timed.queries()?;
    }
    Ok((!queries.is_empty()).then_some(Asked { session, timed, queries }))
}

/// Answers all queries. One that cannot be asked does not keep the others from being answered.
pub(crate) fn run(args: &Args, asked: &Asked<'_>, plan: Plan, format: Format) -> Outcome {
    let interrupt = interrupt::install()?;
    let started = Instant::now();
    let human = format == Format::Human;
    let mut answers: Vec<Answer<'_>> = Vec::new();
    let mut files = 0;
    for query in &asked.queries {
        let begun = Instant::now();
        let mut outcome = answer(args, asked, &plan, query, interrupt);
        if let (Ok(Told::Searched(told)), Some(trace)) = (&mut outcome, &plan.trace) {
            told.files = trace.write_after(files, &told.report)?;
            files += told.files.len();
        }
        let answer = Answer { query, outcome, seconds: begun.elapsed().as_secs_f64() };
        match &answer.outcome {
            // Alone, it is the command that failed.
            Err(_) if asked.queries.len() == 1 => {}
            _ if human => show(args, asked, &answer),
            _ => {}
        }
        answers.push(answer);
    }
    if let [Answer { outcome: Err(_), .. }] = answers.as_slice()
        && let Some(Answer { outcome: Err(failure), .. }) = answers.pop()
    {
        return Err(failure);
    }
    let verdict = overall(&answers);
    if human {
        output::line(&format!("repeat: {}", repeat::exactly(args.running.seed)));
    } else {
        let interrupted = interrupt.load(Ordering::Relaxed);
        let seconds = started.elapsed().as_secs_f64();
        output::json(&object(args, asked, &answers, verdict, (interrupted, seconds)));
    }
    if answers.iter().any(|answer| answer.outcome.is_err()) {
        return Ok(Exit::Usage);
    }
    Ok(super::exit_of(verdict))
}

fn answer(
    args: &Args,
    asked: &Asked<'_>,
    plan: &Plan,
    query: &QueryText,
    interrupt: &AtomicBool,
) -> Result<Told, Failure> {
    let Asked { session, timed, .. } = *asked;
    let pointing = |error| Failure { source: Some(query.text.clone()), ..Failure::from(error) };
    if let Some(question) = extremes::question(timed, &query.text).map_err(pointing)? {
        return extremes::measure(args, timed, &question, &plan.limits, interrupt).map(Told::Measured);
    }
    let search = query::Asked::new(&timed.names, &timed.network, &query.text).map_err(pointing)?;
    let objectives: Vec<Objective> = vec![search.objective.parse()?];
    let purpose = Purpose { non_zeno: args.goal.non_zeno, ..Purpose::of(&objectives) };
    let named = session.prepare(&purpose)?;
    let model = named.model;
    let about_runs = objectives[0].is_accepting();
    let strategy = match plan.info.name {
        "auto" if about_runs => Strategy::from(Dfs::default()),
        _ => plan.info.build(&args.strategy.options.0, model.info())?,
    };
    let mut options = search_options(args, strategy, objectives, plan.limits.clone(), plan.store);
    // Cycles may lead through states that others cover.
    options.cover &= !about_runs;
    let mut report = executed(args, &*model, &options, interrupt)?;
    report.warnings = warnings::of(&*model, &options.objectives, &args.goal);
    let satisfied = match report.verdict {
        Verdict::Found => Some(search.satisfied_if_found),
        Verdict::None => Some(!search.satisfied_if_found),
        Verdict::Measured | Verdict::Inconclusive => None,
    };
    let resting =
        |witness: &WitnessReport| witness.trace.steps.last().is_some_and(|step| step.label == "rest");
    let rests = report.witness().is_some_and(resting);
    let zeno = named
        .zeno
        .filter(|zeno| zeno.is_told(report.verdict == Verdict::Found && !rests, args.goal.non_zeno));
    let left_out = model.left_out();
    Ok(Told::Searched(Box::new(Searched { report, options, satisfied, left_out, files: Vec::new(), zeno })))
}

/// Found if anything was, none if everything was covered for each query.
fn overall(answers: &[Answer<'_>]) -> Verdict {
    let verdict = |answer: &Answer<'_>| match &answer.outcome {
        Ok(Told::Searched(told)) => told.report.verdict,
        Ok(Told::Measured(extremes)) => extremes.verdict(),
        Err(_) => Verdict::Inconclusive,
    };
    let verdicts: Vec<Verdict> = answers.iter().map(verdict).collect();
    if verdicts.contains(&Verdict::Found) {
        Verdict::Found
    } else if verdicts.contains(&Verdict::Inconclusive) {
        Verdict::Inconclusive
    } else {
        Verdict::None
    }
}

fn word(satisfied: Option<bool>) -> &'static str {
    match satisfied {
        Some(true) => "satisfied",
        Some(false) => "not satisfied",
        None => "inconclusive",
    }
}

/// One block: the query, the answer, how it was found, the trace.
fn show(args: &Args, asked: &Asked<'_>, answer: &Answer<'_>) {
    let QueryText { text, comment } = answer.query;
    for line in comment.lines().map(str::trim).filter(|line| !line.is_empty() && !args.progress.quiet) {
        output::line(&format!("// {line}"));
    }
    output::line(text.trim());
    let told = match &answer.outcome {
        Ok(told) => told,
        Err(failure) => {
            let message = failure.diagnostics.first().map_or("", |first| first.message.as_str());
            output::line(&format!("error: {message}"));
            for help in failure.diagnostics.iter().filter_map(|diagnostic| diagnostic.help.as_ref()) {
                output::line(&format!("help: {help}"));
            }
            output::line("");
            return;
        }
    };
    let told = match told {
        Told::Searched(told) => told,
        Told::Measured(extremes) => {
            extremes.lines(args.progress.quiet, answer.seconds).iter().for_each(|line| output::line(line));
            return;
        }
    };
    output::line(word(told.satisfied));
    if args.progress.quiet {
        return;
    }
    let Searched { options, report, .. } = &**told;
    for warning in &report.warnings {
        output::diagnostic("", None, warning);
    }
    let context = human::Context {
        model: asked.timed.name.clone(),
        strategy: options.strategy.name(),
        seed: repeat::seed(options.seed),
        objectives: options.objectives.iter().map(|objective| (objective.text().to_owned(), false)).collect(),
        exact: options.store.is_exact(),
        many: args.running.runs.is_some(),
        runs: options.runs,
        witness: options.witness,
        seconds: answer.seconds,
        files: told.files.clone(),
        unwritten: None,
        zeno: told.zeno,
        incidents: Vec::new(),
        left_out: told.left_out.clone(),
        repeat: String::new(),
    };
    human::runs(report, &context).iter().for_each(|line| output::line(line));
    if report.witness().is_some_and(|witness| witness.loop_start.is_some()) {
        output::line(ABOUT_RUNS);
    }
    told.files.iter().for_each(|file| output::line(&format!("wrote: {file}")));
    output::line("");
}

fn object(
    args: &Args,
    asked: &Asked<'_>,
    answers: &[Answer<'_>],
    verdict: Verdict,
    (interrupted, seconds): (bool, f64),
) -> json::SearchOutput {
    let told = || {
        answers.iter().filter_map(|answer| match &answer.outcome {
            Ok(Told::Searched(told)) => Some(told),
            _ => None,
        })
    };
    let runs: Vec<RunReport> = told().flat_map(|told| told.report.runs.iter().cloned()).collect();
    let report = SearchReport {
        verdict,
        runs,
        warnings: told()
            .flat_map(|told| told.report.warnings.iter().cloned().chain(told.zeno.and_then(Zeno::warning)))
            .collect(),
    };
    let context = json::Context {
        model: asked.timed.name.clone(),
        strategy: told().next().map_or("auto", |told| told.options.strategy.name()),
        seed: args.running.seed,
        objective: told().map(|told| told.options.objectives[0].text()).collect::<Vec<_>>().join("; "),
        many: false,
        interrupted,
        seconds,
        files: told().flat_map(|told| told.files.iter().cloned()).collect(),
        program: None,
        repeat: repeat::result(args.running.seed),
    };
    json::of_queries(&report, context, answers.iter().map(entry).collect())
}

fn entry(answer: &Answer<'_>) -> QueryOutput {
    let QueryText { text, comment } = answer.query.clone();
    let entry = QueryOutput {
        text,
        comment,
        satisfied: None,
        error: None,
        objective: None,
        strategy: None,
        verdict: None,
        stop: None,
        states: 0,
        considered: None,
        stored: None,
        transitions: 0,
        depth: 0,
        seconds: answer.seconds,
        witness: None,
        values: None,
    };
    let told = match &answer.outcome {
        Ok(told) => told,
        Err(failure) => {
            let error = failure.diagnostics.first().map(|first| first.message.clone());
            return QueryOutput { error: Some(error.unwrap_or_default()), ..entry };
        }
    };
    let told = match told {
        Told::Searched(told) => told,
        Told::Measured(extremes) => {
            return QueryOutput {
                verdict: Some(extremes.verdict()),
                stop: Some(extremes.stop),
                states: extremes.answer.states,
                transitions: extremes.answer.transitions,
                values: Some(extremes.values()),
                ..entry
            };
        }
    };
    let runs = &told.report.runs;
    let only = match runs.as_slice() {
        [run] => Some(run),
        _ => None,
    };
    let decisive = runs.iter().find(|run| run.verdict == told.report.verdict);
    QueryOutput {
        satisfied: told.satisfied,
        objective: Some(told.options.objectives[0].text().to_owned()),
        strategy: Some(told.options.strategy.name().to_owned()),
        verdict: Some(told.report.verdict),
        stop: Some(decisive.map_or(StopReason::Interrupted, |run| run.stop)),
        states: runs.iter().map(|run| run.states).sum(),
        considered: only.and_then(|run| run.considered),
        stored: only.and_then(|run| run.stored),
        transitions: runs.iter().map(|run| run.transitions).sum(),
        depth: runs.iter().map(|run| run.depth).max().unwrap_or(0),
        witness: told.report.witness().cloned(),
        ..entry
    }
}
