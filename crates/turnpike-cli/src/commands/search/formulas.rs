//! Verdicts on formulas, for people and as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_session::{Evidence, FormulaAnswer, FormulaReply, Fragment, Shape, explain_evidence};

use super::human::counted;
use crate::options::spell_all;
use crate::output;

/// Steps of evidence that are printed.
const MOST_STEPS: usize = 40;

/// A formula with its verdict.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FormulaOutput {
    /// The formula.
    text: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// `holds`, `violated`, `inconclusive` or `error`.
    verdict: &'static str,
    /// Why the verdict is not known, or what is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What it takes to decide it; null when it is wrong.
    fragment: Option<&'static str>,
    /// The strategy that looked for a path; absent when the game of the formula was solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<&'static str>,
    /// Expanded states.
    states: u64,
    /// States that were met.
    considered: u64,
    /// Wall-clock time.
    seconds: f64,
    /// The part of the system that shows the verdict; null when there is none or it is large.
    evidence: Option<EvidenceOutput>,
}

/// The part of a system that shows a verdict.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EvidenceOutput {
    /// `path`, `lasso` or `branching`.
    shape: &'static str,
    /// States; 0 is the initial one.
    states: usize,
    /// The transitions: from, label, to. Those of a path or lasso stand in their order.
    transitions: Vec<(u32, String, u32)>,
    /// Of a lasso: the number of steps before its loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<usize>,
}

/// The verdict in one word.
pub(crate) fn word(answer: &FormulaAnswer) -> &'static str {
    match &answer.reply {
        Err(_) => "error",
        Ok(FormulaReply { holds: Some(true), .. }) => "holds",
        Ok(FormulaReply { holds: Some(false), .. }) => "violated",
        Ok(_) => "inconclusive",
    }
}

/// The formula on one line.
fn title(answer: &FormulaAnswer) -> String {
    match &answer.formula.file {
        Some(file) => file.clone(),
        None => answer.formula.text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// One block: the verdict, how it was reached, and what shows it.
pub(super) fn show(answer: &FormulaAnswer, quiet: bool, files: &[String]) {
    let reply = match &answer.reply {
        Ok(reply) => reply,
        Err(problem) => {
            output::line(&format!("error: {}", title(answer)));
            for diagnostic in &problem.diagnostics {
                output::diagnostic(&problem.origin, problem.source.as_deref(), diagnostic);
            }
            return;
        }
    };
    output::line(&format!("{}: {}", word(answer), title(answer)));
    // A verdict that may mean something else is never without its warnings.
    let origin = answer.formula.file.as_deref().unwrap_or("the formula");
    for warning in &reply.warnings {
        output::diagnostic(origin, Some(&answer.formula.text), warning);
    }
    if quiet {
        return;
    }
    if let Some(reason) = &reply.reason {
        output::line(&format!("  not decided: {reason}"));
    }
    output::line(&format!(
        "  {}{}; {} expanded, {} met, {:.3} s",
        reply.fragment,
        reply.strategy.map(|strategy| format!(", {strategy}")).unwrap_or_default(),
        counted(reply.progress.states, "state"),
        reply.progress.considered,
        answer.seconds
    ));
    if let (Some(evidence), Some(holds)) = (&reply.evidence, reply.holds) {
        let lines = explain(evidence, reply.fragment, holds);
        let is_path = reply.fragment.path_refutes() != Some(holds);
        let sentence = explain_evidence(evidence, &answer.formula.text);
        let sentence = sentence.filter(|_| is_path && !lines.is_empty());
        sentence.iter().chain(&lines).for_each(|line| output::line(&format!("  {line}")));
    }
    files.iter().for_each(|file| output::line(&format!("  wrote: {file}")));
}

/// Evidence in words.
fn explain(evidence: &Evidence, fragment: Fragment, holds: bool) -> Vec<String> {
    if evidence.edges.is_empty() {
        return Vec::new();
    }
    if fragment.path_refutes() == Some(holds) {
        let verb = if holds { "violates" } else { "satisfies" };
        return vec![format!(
            "no path {verb} it: all that matters was explored, {} and {}",
            counted(evidence.states.len() as u64, "state"),
            counted(evidence.edges.len() as u64, "transition")
        )];
    }
    let path = evidence.path();
    let verb = if holds { "shows that it holds" } else { "refutes it" };
    let mut lines = Vec::new();
    let cycle = match evidence.shape() {
        Shape::Path(steps) => {
            lines.push(format!("this path of {} {verb}:", counted(steps as u64, "step")));
            None
        }
        Shape::Lasso { stem, cycle } => {
            let repeated = counted(cycle as u64, "step");
            lines.push(format!(
                "this path of {} and a loop of {repeated}, repeated forever, {verb}:",
                counted(stem as u64, "step")
            ));
            Some(stem)
        }
        Shape::Branching => {
            lines.push(format!(
                "a part of the system with {} and {} {verb}",
                counted(evidence.states.len() as u64, "state"),
                counted(evidence.edges.len() as u64, "transition")
            ));
            return lines;
        }
    };
    for (at, edge) in path.iter().enumerate().take(MOST_STEPS) {
        let mark = if cycle == Some(at) { "  <- the loop starts here" } else { "" };
        lines.push(format!("{:>4} {}{mark}", at + 1, edge.label));
    }
    if path.len() > MOST_STEPS {
        lines.push(format!("     … {} more", path.len() - MOST_STEPS));
    }
    lines
}

/// One line about several formulas.
pub(super) fn summary(answers: &[FormulaAnswer]) -> Option<String> {
    if answers.len() < 2 {
        return None;
    }
    let count = |wanted: &str| answers.iter().filter(|answer| word(answer) == wanted).count();
    let words =
        [("holds", "hold"), ("violated", "violated"), ("inconclusive", "inconclusive"), ("error", "wrong")];
    let parts: Vec<String> = words
        .into_iter()
        .filter_map(|(word, several)| match count(word) {
            0 => None,
            1 if word != "error" => Some(format!("1 {word}")),
            count => Some(format!("{count} {several}")),
        })
        .collect();
    Some(format!("{} formulas: {}", answers.len(), parts.join(", ")))
}

impl From<&FormulaAnswer> for FormulaOutput {
    fn from(answer: &FormulaAnswer) -> Self {
        let reply = answer.reply.as_ref();
        let progress = reply.map(|reply| reply.progress).unwrap_or_default();
        FormulaOutput {
            text: answer.formula.text.clone(),
            file: answer.formula.file.clone(),
            verdict: word(answer),
            reason: match reply {
                Ok(reply) => reply.reason.clone(),
                Err(problem) => Some(spell_all(&problem.to_string())),
            },
            fragment: reply.ok().map(|reply| reply.fragment.name()),
            strategy: reply.ok().and_then(|reply| reply.strategy),
            states: progress.states,
            considered: progress.considered,
            seconds: answer.seconds,
            evidence: reply.ok().and_then(|reply| reply.evidence.as_ref()).map(EvidenceOutput::from),
        }
    }
}

impl From<&Evidence> for EvidenceOutput {
    fn from(evidence: &Evidence) -> Self {
        let (shape, stem) = match evidence.shape() {
            Shape::Path(_) => ("path", None),
            Shape::Lasso { stem, .. } => ("lasso", Some(stem)),
            Shape::Branching => ("branching", None),
        };
        let edges = match shape {
            "branching" => evidence.edges.iter().collect(),
            _ => evidence.path(),
        };
        let transitions = edges.iter().map(|edge| (edge.from, edge.label.clone(), edge.to)).collect();
        EvidenceOutput { shape, states: evidence.states.len(), transitions, stem }
    }
}
