//! What an execution of a program showed, as JSON.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use turnpike_program::stack::{Frame, user_part};
use turnpike_program::{Incident, Made, Row, Stack, Waiting};

/// What an execution showed.
#[derive(Serialize, JsonSchema)]
pub struct IncidentOutput {
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
    /// Where each thread that has not ended is.
    stacks: Vec<StackOutput>,
    /// Where objects that are not static variables came from.
    objects: Vec<MadeOutput>,
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

/// Where a thread is at the end.
#[derive(Serialize, JsonSchema)]
struct StackOutput {
    thread: String,
    /// The functions it is in, from the innermost one of the program under test to its outermost one.
    frames: Vec<FrameOutput>,
}

/// A function on a stack; inlined functions have frames of their own.
#[derive(Serialize, JsonSchema)]
struct FrameOutput {
    function: Option<String>,
    /// Where it is in the source: `bank.c:31`.
    place: Option<String>,
    /// Whether it belongs to the program under test, and not to a library or to turnpike.
    user: bool,
}

/// An object that is not a static variable.
#[derive(Serialize, JsonSchema)]
struct MadeOutput {
    /// Its name: `mutex 2`.
    object: String,
    /// Where it was created, or first used.
    place: String,
    /// Whether it was created there; otherwise that is where it was first used.
    created: bool,
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
        let frame = |frame: &Frame| FrameOutput {
            function: frame.function.clone(),
            place: frame.place.clone(),
            user: frame.is_user(),
        };
        let stack = |stack: &Stack| StackOutput {
            thread: stack.thread.clone(),
            frames: user_part(&stack.frames).iter().map(frame).collect(),
        };
        let made = |made: &Made| MadeOutput {
            object: made.object.clone(),
            place: made.place.clone(),
            created: made.created,
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
            stacks: incident.stacks.iter().map(stack).collect(),
            objects: incident.made.iter().map(made).collect(),
            output: incident.output.clone(),
            schedule: incident.rows.iter().map(row).collect(),
        }
    }
}

/// Writes an incident where it is a part of something larger.
pub(crate) fn serialize<S: Serializer>(incident: &Incident, out: S) -> Result<S::Ok, S::Error> {
    IncidentOutput::from(incident).serialize(out)
}
