//! What a search found out about a program: the incident that a witness shows, for people and as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_session::{Findings, IncidentOutput};

use crate::options::spell_all;

/// The program behind a search.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProgramOutput {
    /// Arguments of the program.
    arguments: Vec<String>,
    /// Hash of the program, its arguments and what is visible, as in traces.
    hash: String,
    /// Why finding nothing proves nothing, as far as executions showed; null when nothing was left out.
    left_out: Option<String>,
    /// The bound within which schedules were tried (`2 preemptions`), when it alone is what was left
    /// out; null when nothing was bounded.
    bound: Option<String>,
    /// What to do because executions were cut and nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    advice: Vec<String>,
    /// Signatures of errors that the search went on past (`--suppress`) and that executions showed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    suppressed: Vec<String>,
    /// What the witness shows; null when there is none.
    incident: Option<IncidentOutput>,
}

/// Signatures of errors that the search went on past.
pub(super) fn suppressed(findings: &Findings) -> impl Iterator<Item = &str> {
    findings.suppressed.iter().filter(|(_, met)| *met).map(|(signature, _)| signature.as_str())
}

/// The program of a search as JSON.
pub(crate) fn output(findings: &Findings) -> Option<ProgramOutput> {
    let program = findings.program.as_ref()?;
    Some(ProgramOutput {
        arguments: program.arguments.clone(),
        hash: format!("{:016x}", program.hash),
        left_out: findings.left_out.clone(),
        bound: findings.bound.clone(),
        advice: findings.advice.iter().map(|advice| spell_all(advice)).collect(),
        suppressed: suppressed(findings).map(str::to_owned).collect(),
        incident: program.incidents.first().map(|shown| IncidentOutput::from(&shown.incident)),
    })
}
