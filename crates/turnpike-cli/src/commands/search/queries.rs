//! Answers to queries, for people and as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_session::{Answer, Bound, Conclusion, Extent, Extremes, Problem, QueryText, Reply, Search};
use turnpike_session::{StopReason, Verdict, WitnessReport};

use super::human;
use crate::options::spell_all;
use crate::output;

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
    /// Whether the answer is the expected one; null when it is not known.
    expected: Option<bool>,
    /// Why it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether it was left out because it is not supported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    skipped: bool,
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
    values: Option<Vec<ValueOutput>>,
}

/// The values of one expression.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ValueOutput {
    /// What was measured.
    expression: String,
    /// The smallest value, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<EndOutput>,
    /// The largest value, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<EndOutput>,
}

/// One end of the values.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EndOutput {
    /// The number; null when values grow without bound.
    value: Option<i64>,
    /// Whether values come as close to it as one likes without reaching it.
    strict: bool,
    /// Whether this is the end; otherwise there are values beyond it, or there may be.
    exact: bool,
}

impl From<Bound> for EndOutput {
    fn from(Bound { value, strict, exact }: Bound) -> Self {
        EndOutput { value, strict, exact }
    }
}

impl From<Extent> for ValueOutput {
    fn from(Extent { expression, low, high }: Extent) -> Self {
        ValueOutput { expression, low: low.map(EndOutput::from), high: high.map(EndOutput::from) }
    }
}

/// What a witness that is a whole run means.
const ABOUT_RUNS: &str = "the run; at 'rest' time passes forever or no transition is possible";

fn word(satisfied: Option<bool>) -> &'static str {
    match satisfied {
        Some(true) => "satisfied",
        Some(false) => "not satisfied",
        None => "inconclusive",
    }
}

/// The verdict on a query, in one line.
fn verdict(answer: &Answer) -> String {
    let text = answer.query.text.trim();
    match &answer.reply {
        Ok(Reply::Searched { satisfied, .. }) => format!("{}: {text}", word(*satisfied)),
        Ok(Reply::Measured(extremes)) => {
            let values = extremes.comparisons();
            let doubt = if extremes.verdict() == Verdict::Inconclusive { "inconclusive: " } else { "" };
            match values.is_empty() {
                true => format!("{doubt}{}: {text}", no_value(extremes)),
                false => format!("{doubt}{}: {text}", values.join(", ")),
            }
        }
        Err(problem) => format!("{}: {}: {text}", failure_word(answer), message(problem)),
    }
}

/// A query that is not supported is left out; any other that cannot be asked is wrong.
fn failure_word(answer: &Answer) -> &'static str {
    if answer.conclusion == Conclusion::Skipped { "skipped" } else { "error" }
}

fn message(problem: &Problem) -> String {
    problem.diagnostics.first().map_or_else(String::new, |first| spell_all(&first.message))
}

/// One block: the query, the answer, how it was found, the trace. When quiet, the verdict alone.
pub(super) fn show(answer: &Answer, search: &Search, quiet: bool, files: &[String]) {
    if quiet {
        output::line(&verdict(answer));
        return;
    }
    let QueryText { text, comment, .. } = &answer.query;
    for line in comment.lines().map(str::trim).filter(|line| !line.is_empty()) {
        output::line(&format!("// {line}"));
    }
    output::line(text.trim());
    let (findings, satisfied) = match &answer.reply {
        Ok(Reply::Searched { findings, satisfied }) => (findings, satisfied),
        Ok(Reply::Measured(extremes)) => {
            measured(extremes, answer.seconds).iter().for_each(|line| output::line(line));
            return;
        }
        Err(problem) => {
            output::line(&format!("{}: {}", failure_word(answer), message(problem)));
            for help in problem.diagnostics.iter().filter_map(|diagnostic| diagnostic.help.as_ref()) {
                output::line(&format!("help: {}", spell_all(help)));
            }
            output::line("");
            return;
        }
    };
    let expected = match (answer.conclusion, satisfied) {
        (Conclusion::Passed, Some(false)) => ", as expected",
        (Conclusion::Failed, Some(true)) => ", which is not expected",
        _ => "",
    };
    output::line(&format!("{}{expected}", word(*satisfied)));
    for warning in &findings.warnings {
        output::diagnostic("", None, warning);
    }
    let context = human::Context::of_query(findings, search, files);
    human::runs(&context).iter().for_each(|line| output::summary(line));
    if findings.witness().is_some_and(|witness| witness.loop_start.is_some()) {
        output::line(ABOUT_RUNS);
    }
    files.iter().for_each(|file| output::line(&format!("wrote: {file}")));
    output::line("");
}

/// What is said of a query that measured nothing.
fn no_value(extremes: &Extremes) -> &'static str {
    match extremes.is_complete() {
        true => "no reachable state counts",
        false => "no state was found that counts",
    }
}

/// Extreme values, line by line.
fn measured(extremes: &Extremes, seconds: f64) -> Vec<String> {
    let mut lines = extremes.comparisons();
    if lines.is_empty() {
        lines.push(no_value(extremes).to_owned());
    }
    if extremes.verdict() == Verdict::Inconclusive {
        lines.push("inconclusive: not all values are known".to_owned());
    }
    lines.push(format!(
        "measured: {} states, {} transitions, {seconds:.3} s",
        extremes.states(),
        extremes.transitions()
    ));
    lines.push(String::new());
    lines
}

impl From<&Answer> for QueryOutput {
    fn from(answer: &Answer) -> Self {
        let QueryText { text, comment, .. } = answer.query.clone();
        let entry = QueryOutput {
            text,
            comment,
            satisfied: None,
            expected: super::json::expected(answer.conclusion),
            error: None,
            skipped: answer.conclusion == Conclusion::Skipped,
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
        let (findings, satisfied) = match &answer.reply {
            Ok(Reply::Searched { findings, satisfied }) => (findings, satisfied),
            Ok(Reply::Measured(extremes)) => {
                return QueryOutput {
                    verdict: Some(extremes.verdict()),
                    stop: Some(extremes.stop),
                    states: extremes.states(),
                    transitions: extremes.transitions(),
                    values: Some(extremes.values().into_iter().map(ValueOutput::from).collect()),
                    ..entry
                };
            }
            Err(problem) => {
                let error = problem.diagnostics.first().map(|first| first.message.clone());
                return QueryOutput { error: Some(error.unwrap_or_default()), ..entry };
            }
        };
        let runs = &findings.runs;
        let only = match runs.as_slice() {
            [run] => Some(run),
            _ => None,
        };
        let decisive = runs.iter().find(|run| run.verdict == findings.verdict);
        QueryOutput {
            satisfied: *satisfied,
            objective: findings.objectives.first().map(ToString::to_string),
            strategy: Some(findings.strategy.to_owned()),
            verdict: Some(findings.verdict),
            stop: Some(decisive.map_or(StopReason::Interrupted, |run| run.stop)),
            states: runs.iter().map(|run| run.states).sum(),
            considered: only.and_then(|run| run.considered),
            stored: only.and_then(|run| run.stored),
            transitions: runs.iter().map(|run| run.transitions).sum(),
            depth: runs.iter().map(|run| run.depth).max().unwrap_or(0),
            witness: findings.witness().cloned(),
            ..entry
        }
    }
}
