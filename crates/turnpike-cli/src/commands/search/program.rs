//! What a search found out about a program: the incident that a witness shows, for people and as JSON.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use turnpike_model::{Model, Trace};
use turnpike_program::{Incident, ProgramModel, Row, Waiting};

use crate::failure::{Failure, Outcome};

/// Columns of a schedule fit into this many characters.
pub(crate) const WIDTH: usize = 110;

/// The program behind a search.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProgramOutput {
    /// Arguments of the program.
    arguments: Vec<String>,
    /// Hash of the program, its arguments and what is visible, as in traces.
    hash: String,
    /// Why finding nothing proves nothing, as far as executions showed; null when nothing was left out.
    left_out: Option<String>,
    /// What the witness shows; null when there is none.
    incident: Option<IncidentOutput>,
}

/// What an execution showed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IncidentOutput {
    /// `deadlock`, `livelock`, `assertion`, `panic`, `crash`, `heap`, `misuse`, `hang`, `race`, `leak`, `step-limit`, `finished` or `open`.
    kind: String,
    /// One sentence.
    message: String,
    /// The thread that failed.
    thread: Option<String>,
    /// Where it failed.
    place: Option<String>,
    /// Steps before which another thread ran.
    context_switches: usize,
    /// Those away from a thread that could have gone on.
    preemptions: usize,
    /// Of a deadlock or livelock: who waits for what.
    waiting: Vec<WaitingOutput>,
    /// Races, leaked threads and calls outside control.
    findings: Vec<String>,
    /// What the program printed in this execution.
    output: String,
    /// The steps.
    schedule: Vec<RowOutput>,
}

/// A thread that cannot go on.
#[derive(Serialize, JsonSchema)]
struct WaitingOutput {
    thread: String,
    /// What it waits for: `to lock mutex 2`.
    what: String,
    place: Option<String>,
    /// Who holds it, or whose end it waits for.
    holder: Option<String>,
    /// Where the holder got it.
    since: Option<String>,
}

/// A step.
#[derive(Serialize, JsonSchema)]
struct RowOutput {
    thread: String,
    /// What it does: `lock mutex 2`.
    operation: String,
    place: Option<String>,
    /// Whether another thread took the step before although that one could have gone on.
    preempts: bool,
}

impl From<&Incident> for IncidentOutput {
    fn from(incident: &Incident) -> Self {
        let waiting = |one: &Waiting| WaitingOutput {
            thread: one.thread.clone(),
            what: one.what.clone(),
            place: one.place.clone(),
            holder: one.holder.clone(),
            since: one.since.clone(),
        };
        let row = |row: &Row| RowOutput {
            thread: row.thread.clone(),
            operation: row.deed.clone(),
            place: row.place.clone(),
            preempts: row.preempts,
        };
        IncidentOutput {
            kind: incident.kind.keyword().to_owned(),
            message: incident.message.clone(),
            thread: incident.thread.clone(),
            place: incident.place.clone(),
            context_switches: incident.context_switches(),
            preemptions: incident.preemptions(),
            waiting: incident.waiting.iter().map(waiting).collect(),
            findings: incident.findings.clone(),
            output: incident.output.clone(),
            schedule: incident.rows.iter().map(row).collect(),
        }
    }
}

/// Executes the schedule of a witness once more and tells what it shows.
pub(crate) fn incident(program: &ProgramModel, trace: &Trace) -> Outcome<Incident> {
    let choices: Vec<u32> = trace.steps.iter().filter_map(|step| step.choice).collect();
    program
        .incident(&choices)
        .map_err(|error| Failure::usage(error.to_string()).in_file(&program.info().name))
}

/// The program as JSON.
pub(crate) fn output(
    program: &Arc<ProgramModel>,
    arguments: &[std::ffi::OsString],
    incident: Option<&Incident>,
) -> ProgramOutput {
    ProgramOutput {
        arguments: arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        hash: format!("{:016x}", program.info().fingerprint),
        left_out: program.left_out(),
        incident: incident.map(IncidentOutput::from),
    }
}
