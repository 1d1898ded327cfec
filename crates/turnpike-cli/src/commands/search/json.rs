//! The JSON object of a search. Its fields are a published interface: `docs/schema/search.json` guards them.

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use turnpike_model::Diagnostic;
use turnpike_session::{Answer, Conclusion, Findings, FormulaAnswer, Report, Scope, Spread, Summary};
use turnpike_session::{
    ExecutionCounts, Generation, Goal, Objective, RunReport, SignatureReport, StopReason, Verdict,
    WitnessReport,
};

use super::formulas::FormulaOutput;
use super::program::{self, ProgramOutput};
use super::queries::QueryOutput;
use crate::output::VERSION;
use crate::output::repeat::Invocation;

/// The result of `turnpike search`. Timing and memory fields (`seconds`, `peak_bytes`) are the only ones that differ
/// when a search is repeated. With `--runs`, the counts at top level are totals over all runs (`depth` and
/// `peak_bytes` the largest), `witness` is the shortest one, and `runs` has one object of the same form for each run.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "turnpike search")]
pub(crate) struct SearchOutput {
    /// Version of turnpike.
    turnpike: String,
    /// `search`.
    command: String,
    /// The model with its parameters.
    model: String,
    /// The strategy.
    strategy: String,
    /// The seed; in `runs`, the run's own seed, which repeats it alone with `--runs 1`.
    seed: u64,
    /// What was concluded.
    verdict: Verdict,
    /// Why it stopped.
    stop: StopReason,
    /// The objectives, joined with `; `.
    objective: String,
    /// Expansions.
    states: u64,
    /// Distinct states met, expanded or not; null when they were not counted.
    considered: Option<u64>,
    /// Size of the set `generated` (Deep Random Search only).
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<u64>,
    /// Most candidates held at once for the next level, by strategies that go by levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<u64>,
    /// With `--cover`: states that no other covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<u64>,
    /// Transitions of expanded states.
    transitions: u64,
    /// Transitions to the deepest expanded state.
    depth: u32,
    /// Wall-clock time.
    seconds: f64,
    /// Peak resident memory of the process.
    peak_bytes: u64,
    /// Expansions spent on shortening witnesses. An expansion with very many transitions counts as several.
    shorten_states: u64,
    /// Transitions per action name.
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    actions: IndexMap<String, u64>,
    /// The witness of the first objective met; null when there is none.
    witness: Option<WitnessReport>,
    /// With `--all`: a witness of every objective met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witnesses: Vec<WitnessReport>,
    /// With queries: the answers, in the order in which they are asked. The counts at top level are totals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    queries: Vec<QueryOutput>,
    /// With formulas: their verdicts, in the order in which they are given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    formulas: Vec<FormulaOutput>,
    /// With `--program`: the program, and what the witness shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<ProgramOutput>,
    /// Declared actions that were never taken.
    never_taken: Vec<String>,
    /// With `cover`: by pattern, the labels seen and the number of runs that saw each.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(
        default,
        with = "std::collections::BTreeMap<String, std::collections::BTreeMap<String, u64>>"
    )]
    covered: IndexMap<String, IndexMap<String, u64>>,
    /// With `min` and `max`: the most extreme value seen; null when none was.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Option<f64>>")]
    extreme: IndexMap<String, Value>,
    /// Genetic search: fitness per generation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    generations: Vec<Generation>,
    /// Programs: executions, counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    executions: Option<ExecutionCounts>,
    /// Programs: errors by their signatures, with `--all`, and those that `--suppress` passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    signatures: Vec<SignatureReport>,
    /// The odds of a lossy store, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    odds: Option<String>,
    /// Whether that is what was expected (`--expect`), which the exit code says too.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<bool>,
    /// What the search was about, if not everything: `synchronisation` of a program whose memory
    /// accesses are not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    /// Files that were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Warnings about the text of the model and about the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    /// The command that repeats the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<String>,
    /// With `--runs`: the share of runs that found something.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_rate: Option<f64>,
    /// With `--runs`: mean of `states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_mean: Option<f64>,
    /// With `--runs`: median of `states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_median: Option<f64>,
    /// With `--runs`: mean length of the witnesses; null when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    length_mean: Option<Option<f64>>,
    /// With `--runs`: median length of the witnesses; null when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    length_median: Option<Option<f64>>,
    /// With `--runs`: every run, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<SearchOutput>>,
}

/// Something that is probably a mistake.
#[derive(Serialize, JsonSchema, PartialEq, Eq, Hash)]
pub(crate) struct Warning {
    message: String,
    help: Option<String>,
}

impl From<&Diagnostic> for Warning {
    fn from(diagnostic: &Diagnostic) -> Self {
        Warning { message: diagnostic.message.clone(), help: diagnostic.help.clone() }
    }
}

/// Warnings about the text of the model and about what was asked; what several questions share, once.
fn unite_warnings(report: &Report, asked: impl IntoIterator<Item = Diagnostic>) -> Vec<Warning> {
    let all: IndexSet<Warning> =
        report.text_warnings.iter().cloned().chain(asked).map(|one| Warning::from(&one)).collect();
    all.into_iter().collect()
}

/// What every object of a search has.
struct Context<'a> {
    model: &'a str,
    strategy: &'static str,
    seed: u64,
    objective: String,
    interrupted: bool,
    seconds: f64,
}

/// The one object for a whole search.
pub(super) fn of_search(
    report: &Report,
    findings: &Findings,
    invocation: &Invocation,
    files: Vec<String>,
) -> SearchOutput {
    let running = &invocation.request.search.running;
    let context = Context {
        model: &findings.model,
        strategy: findings.strategy,
        seed: running.seed,
        objective: joined(&findings.objectives),
        interrupted: report.interrupted,
        seconds: report.seconds,
    };
    let mut whole = match findings.runs.as_slice() {
        [run] => of_run(run, &context),
        runs => total(runs, report.verdict, &context),
    };
    if running.runs.is_some() {
        let summary = Summary::of(&findings.runs);
        let mean = |spread: &Option<Spread>| spread.map(|spread| spread.mean);
        let median = |spread: &Option<Spread>| spread.map(|spread| spread.median);
        whole.success_rate = Some(summary.success_rate());
        whole.states_mean = Some(mean(&summary.states).unwrap_or(0.0));
        whole.states_median = Some(median(&summary.states).unwrap_or(0.0));
        whole.length_mean = Some(mean(&summary.length));
        whole.length_median = Some(median(&summary.length));
        whole.runs = Some(findings.runs.iter().map(|run| of_run(run, &context)).collect());
    }
    whole.seed = context.seed;
    whole.program = program::output(findings);
    whole.expected = expected(report.conclusion);
    whole.scope = findings.scope.map(word_of_scope);
    whole.files = files;
    whole.warnings = unite_warnings(report, findings.all_warnings());
    whole.repeat = Some(invocation.result());
    whole
}

/// The one object for queries: totals, and an answer for each.
pub(super) fn of_queries(
    report: &Report,
    answers: &[Answer],
    invocation: &Invocation,
    files: Vec<String>,
) -> SearchOutput {
    let findings = || answers.iter().filter_map(Answer::findings);
    let runs: Vec<RunReport> = findings().flat_map(|one| one.runs.iter().cloned()).collect();
    let objectives: Vec<Objective> = findings().flat_map(|one| one.objectives.iter().cloned()).collect();
    let context = Context {
        model: &report.model,
        strategy: findings().next().map_or("auto", |one| one.strategy),
        seed: invocation.request.search.running.seed,
        objective: joined(&objectives),
        interrupted: report.interrupted,
        seconds: report.seconds,
    };
    let mut whole = total(&runs, report.verdict, &context);
    whole.queries = answers.iter().map(QueryOutput::from).collect();
    whole.expected = expected(report.conclusion);
    whole.files = files;
    whole.warnings = unite_warnings(report, findings().flat_map(Findings::all_warnings));
    whole.repeat = Some(invocation.result());
    whole
}

/// The one object for formulas: totals, and a verdict for each.
pub(super) fn of_formulas(
    report: &Report,
    answers: &[FormulaAnswer],
    invocation: &Invocation,
    files: Vec<String>,
) -> SearchOutput {
    let context = Context {
        model: &report.model,
        strategy: "game",
        seed: invocation.request.search.running.seed,
        objective: String::new(),
        interrupted: report.interrupted,
        seconds: report.seconds,
    };
    let mut whole = total(&[], report.verdict, &context);
    let replies = || answers.iter().filter_map(|answer| answer.reply.as_ref().ok());
    let undecided = replies().find(|reply| reply.holds.is_none());
    whole.stop = undecided.or_else(|| replies().next_back()).map_or(StopReason::Finished, |reply| reply.stop);
    whole.states = replies().map(|reply| reply.progress.states).sum();
    whole.considered = Some(replies().map(|reply| reply.progress.considered).sum());
    whole.formulas = answers.iter().map(FormulaOutput::from).collect();
    whole.expected = expected(report.conclusion);
    whole.warnings = unite_warnings(report, replies().flat_map(|reply| reply.warnings.iter().cloned()));
    whole.files = files;
    whole.repeat = Some(invocation.result());
    whole
}

pub(crate) fn word_of_scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Synchronisation { .. } => "synchronisation",
        _ => "partial",
    }
}

/// Whether a result is what was expected, if that is known.
pub(super) fn expected(conclusion: Conclusion) -> Option<bool> {
    match conclusion {
        Conclusion::Passed => Some(true),
        Conclusion::Failed => Some(false),
        _ => None,
    }
}

fn joined(objectives: &[Objective]) -> String {
    objectives.iter().map(Objective::text).collect::<Vec<_>>().join("; ")
}

fn of_run(run: &RunReport, context: &Context<'_>) -> SearchOutput {
    SearchOutput {
        seed: run.seed,
        objective: run.objective.clone(),
        states: run.states,
        considered: run.considered,
        generated: run.generated,
        held: run.held,
        stored: run.stored,
        transitions: run.transitions,
        depth: run.depth,
        seconds: run.seconds,
        peak_bytes: run.peak_bytes,
        shorten_states: run.shorten_states,
        actions: run.actions.clone(),
        witness: run.witness.clone(),
        witnesses: run.witnesses.clone(),
        never_taken: run.never_taken.clone(),
        covered: run.covered.clone(),
        extreme: run.extreme.iter().map(|(text, value)| (text.clone(), number(*value))).collect(),
        generations: run.generations.clone(),
        executions: run.executions,
        signatures: run.signatures.clone(),
        odds: run.odds.clone(),
        ..unfilled(context, run.verdict, run.stop)
    }
}

/// Totals over any number of runs, none included: a search can be interrupted before the first one ends.
fn total(runs: &[RunReport], verdict: Verdict, context: &Context<'_>) -> SearchOutput {
    let sum = |count: fn(&RunReport) -> u64| runs.iter().map(count).sum::<u64>();
    let stop = match runs.iter().find(|run| run.verdict == verdict) {
        _ if context.interrupted => StopReason::Interrupted,
        Some(run) => run.stop,
        None => StopReason::Interrupted,
    };
    let best = Summary::of(runs).best;
    SearchOutput {
        states: sum(|run| run.states),
        transitions: sum(|run| run.transitions),
        depth: runs.iter().map(|run| run.depth).max().unwrap_or(0),
        peak_bytes: runs.iter().map(|run| run.peak_bytes).max().unwrap_or(0),
        shorten_states: sum(|run| run.shorten_states),
        witness: best.map(|(_, _, witness)| witness.clone()),
        witnesses: best.map(|(_, run, _)| run.witnesses.clone()).unwrap_or_default(),
        never_taken: never_taken(runs),
        executions: total_executions(runs),
        signatures: merged_signatures(runs),
        actions: merged_actions(runs),
        covered: merged_cover(runs),
        extreme: merged_extremes(runs).into_iter().map(|(text, value)| (text, number(value))).collect(),
        ..unfilled(context, verdict, stop)
    }
}

/// What every result has, and nothing of what only some have.
fn unfilled(context: &Context<'_>, verdict: Verdict, stop: StopReason) -> SearchOutput {
    SearchOutput {
        turnpike: VERSION.to_owned(),
        command: "search".to_owned(),
        model: context.model.to_owned(),
        strategy: context.strategy.to_owned(),
        seed: context.seed,
        verdict,
        expected: None,
        scope: None,
        stop,
        objective: context.objective.clone(),
        states: 0,
        considered: None,
        generated: None,
        held: None,
        stored: None,
        transitions: 0,
        depth: 0,
        seconds: context.seconds,
        peak_bytes: 0,
        shorten_states: 0,
        actions: IndexMap::new(),
        witness: None,
        witnesses: Vec::new(),
        queries: Vec::new(),
        formulas: Vec::new(),
        program: None,
        never_taken: Vec::new(),
        covered: IndexMap::new(),
        extreme: IndexMap::new(),
        generations: Vec::new(),
        executions: None,
        signatures: Vec::new(),
        odds: None,
        files: Vec::new(),
        warnings: Vec::new(),
        repeat: None,
        success_rate: None,
        states_mean: None,
        states_median: None,
        length_mean: None,
        length_median: None,
        runs: None,
    }
}

/// Transitions per action over all runs, in the order of the names.
pub(crate) fn merged_actions(runs: &[RunReport]) -> IndexMap<String, u64> {
    let mut merged: IndexMap<String, u64> = IndexMap::new();
    for (name, count) in runs.iter().flat_map(|run| &run.actions) {
        *merged.entry(name.clone()).or_default() += count;
    }
    merged.sort_unstable_keys();
    merged
}

/// Executions of all runs together; the share of new states is that of each run alone.
pub(crate) fn total_executions(runs: &[RunReport]) -> Option<ExecutionCounts> {
    let counts = runs.iter().filter_map(|run| run.executions);
    counts.reduce(|one, other| ExecutionCounts {
        executions: one.executions + other.executions,
        completed: one.completed + other.completed,
        blocked: one.blocked + other.blocked,
        cut: one.cut + other.cut,
        distinct: None,
    })
}

/// The errors of all runs, by their signatures.
pub(crate) fn merged_signatures(runs: &[RunReport]) -> Vec<SignatureReport> {
    let mut merged: Vec<SignatureReport> = Vec::new();
    for one in runs.iter().flat_map(|run| &run.signatures) {
        match merged.iter_mut().find(|other| other.signature == one.signature) {
            Some(other) => other.met += one.met,
            None => merged.push(one.clone()),
        }
    }
    merged
}

/// Actions that no run took.
pub(crate) fn never_taken(runs: &[RunReport]) -> Vec<String> {
    let Some((first, rest)) = runs.split_first() else { return Vec::new() };
    let missed = |name: &&String| rest.iter().all(|run| run.never_taken.contains(*name));
    first.never_taken.iter().filter(missed).cloned().collect()
}

/// By pattern, the labels seen and the number of runs that saw each.
pub(crate) fn merged_cover(runs: &[RunReport]) -> IndexMap<String, IndexMap<String, u64>> {
    let mut merged: IndexMap<String, IndexMap<String, u64>> = IndexMap::new();
    for (pattern, labels) in runs.iter().flat_map(|run| &run.covered) {
        let seen = merged.entry(pattern.clone()).or_default();
        for (label, count) in labels {
            *seen.entry(label.clone()).or_default() += count;
        }
    }
    merged.values_mut().for_each(IndexMap::sort_unstable_keys);
    merged
}

/// The most extreme values over all runs.
pub(crate) fn merged_extremes(runs: &[RunReport]) -> IndexMap<String, Option<f64>> {
    let mut merged: IndexMap<String, Option<f64>> = IndexMap::new();
    let is_largest = |text: &str| {
        let objective = text.parse::<Objective>();
        objective.is_ok_and(|one| matches!(one.goal(), Goal::Extreme { maximise: true, .. }))
    };
    for (text, value) in runs.iter().flat_map(|run| &run.extreme) {
        let best = merged.entry(text.clone()).or_default();
        *best = match (*best, *value) {
            (Some(best), Some(value)) if is_largest(text) => Some(best.max(value)),
            (Some(best), Some(value)) => Some(best.min(value)),
            (best, value) => best.or(value),
        };
    }
    merged
}

/// A number as people write it: 24, not 24.0. JSON has no infinities: null.
pub(crate) fn number(value: Option<f64>) -> Value {
    /// Up to here every whole number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() <= EXACT => Value::from(value as i64),
        Some(value) => Value::from(value),
        None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn whole_numbers_have_no_point() {
        assert_eq!(number(Some(24.0)).to_string(), "24");
        assert_eq!(number(Some(-0.5)).to_string(), "-0.5");
        assert_eq!(number(Some(f64::INFINITY)).to_string(), "null");
        assert_eq!(number(None).to_string(), "null");
    }
}
