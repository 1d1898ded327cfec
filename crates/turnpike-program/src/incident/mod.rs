//! A report of an execution: how it ended, which thread waits for which, and the schedule that
//! leads there.

mod columns;
mod stacks;
mod told;

use crate::steps::verb;
use turnpike_model::Trace;
use turnpike_model::label::Label;
use turnpike_scheduler::{Detail, End, Execution, Executor, FailureKind, Finding, GuestError, Kind, Plan};

pub use columns::{Row, legend, lines};
pub use stacks::{Made, Stack};

use crate::model::ProgramModel;
use crate::texts;
use crate::words::waiting;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncidentKind {
    /// The program ended without an error.
    Finished,
    /// No thread can take a step.
    Deadlock,
    /// All threads spin on values that no thread will change.
    Livelock,
    /// It failed.
    Failed(FailureKind),
    /// A thread does nothing visible for too long.
    Hang,
    /// A data race, in an execution that did not fail.
    Race,
    /// A thread was still there at the end.
    Leak,
    /// The execution was cut at a number of steps.
    StepLimit,
    /// It could go on.
    Open,
}

impl IncidentKind {
    /// One word, as in `--find`.
    pub fn keyword(self) -> &'static str {
        match self {
            IncidentKind::Finished => "finished",
            IncidentKind::Deadlock => "deadlock",
            IncidentKind::Livelock => "livelock",
            IncidentKind::Failed(FailureKind::Assertion) => "assertion",
            IncidentKind::Failed(FailureKind::Panic) => "panic",
            IncidentKind::Failed(FailureKind::Crash) => "crash",
            IncidentKind::Failed(FailureKind::Heap) => "heap",
            IncidentKind::Failed(FailureKind::Misuse) => "misuse",
            IncidentKind::Hang => "hang",
            IncidentKind::Race => "race",
            IncidentKind::Leak => "leak",
            IncidentKind::StepLimit => "step-limit",
            IncidentKind::Open => "open",
        }
    }
}

/// A thread that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread's name.
    pub thread: String,
    /// What it is about to do: `lock mutex 2`.
    pub operation: String,
    /// What it waits for: `to lock mutex 2`.
    pub what: String,
    /// It waits for the end of another thread.
    pub joins: bool,
    /// Where it waits.
    pub place: Option<String>,
    /// The thread that holds it, or whose end it waits for.
    pub holder: Option<String>,
    /// Where the holder got it.
    pub since: Option<String>,
    /// What else is known, such as which thread should have woken it.
    pub note: Option<String>,
}

/// Something that a thread holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The thread's name.
    pub thread: String,
    /// What it is: `mutex 2`.
    pub object: String,
    /// Where the thread got it.
    pub since: Option<String>,
}

/// What one execution showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// What happened.
    pub kind: IncidentKind,
    /// One sentence.
    pub message: String,
    /// The thread that failed.
    pub thread: Option<String>,
    /// Where it failed.
    pub place: Option<String>,
    /// The schedule.
    pub rows: Vec<Row>,
    /// Threads that cannot go on.
    pub waiting: Vec<Waiting>,
    /// Mutexes and other locks that threads hold at the end.
    pub held: Vec<HeldLock>,
    /// Races, leaked threads and calls outside control.
    pub findings: Vec<String>,
    /// Reads that see old values, because memory is weak.
    pub old_values: Vec<String>,
    /// Where each thread is at the end.
    pub stacks: Vec<Stack>,
    /// Where objects that are not static variables came from.
    pub made: Vec<Made>,
    /// What the program printed.
    pub output: String,
}

impl Incident {
    /// Describes an execution with full detail.
    pub fn of(execution: &Execution, executor: &mut dyn Executor) -> Self {
        let findings: Vec<String> =
            execution.findings.iter().map(|finding| tell_finding(execution, finding, executor)).collect();
        let worst = |finding: &Finding| match finding {
            Finding::Race { .. } => Some(IncidentKind::Race),
            Finding::Leak(_) => Some(IncidentKind::Leak),
            Finding::Uncontrolled(_) | Finding::Reuse { .. } => None,
        };
        let found = execution.findings.iter().enumerate();
        let found = found.filter_map(|(index, finding)| Some((worst(finding)?, index))).next();
        let found_stacks = stacks::stacks(execution, executor);
        let (mut thread, mut place) = (None, None);
        let first_finding = || {
            let (kind, index) = found.unwrap_or((IncidentKind::Open, 0));
            (kind, findings.get(index).cloned().unwrap_or_default())
        };
        let (kind, message) = match &execution.end {
            _ if execution.end_is_suppressed && found.is_some() => first_finding(),
            End::Failed(failure) => {
                thread = Some(texts::thread(execution, failure.thread));
                place = texts::place(executor, failure.site);
                correct_place(&mut place, thread.as_deref(), &found_stacks);
                (IncidentKind::Failed(failure.kind), failure.message.clone())
            }
            End::Deadlock => (IncidentKind::Deadlock, "no thread can go on".to_owned()),
            End::Livelock => {
                (IncidentKind::Livelock, "all threads spin on values that no thread will change".to_owned())
            }
            End::Hung => (IncidentKind::Hang, "a thread does nothing visible for too long".to_owned()),
            End::StepLimit => (
                IncidentKind::StepLimit,
                format!("the execution was cut after {} steps", execution.steps.len()),
            ),
            _ if found.is_some() => first_finding(),
            End::Finished => (IncidentKind::Finished, "the program ended".to_owned()),
            End::Stopped | End::Asleep | End::Diverged(_) => {
                (IncidentKind::Open, "the program can go on".to_owned())
            }
        };
        Incident {
            kind,
            message,
            thread,
            place,
            rows: rows(execution, executor),
            waiting: waits(execution, executor),
            held: held(execution, executor),
            findings,
            old_values: crate::memory::old_values(execution, executor),
            made: stacks::made(execution, executor),
            stacks: found_stacks,
            output: String::from_utf8_lossy(&execution.output).into_owned(),
        }
    }

    /// Steps before which another thread ran.
    pub fn context_switches(&self) -> usize {
        self.rows.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }

    /// Context switches away from a thread that could have gone on.
    pub fn preemptions(&self) -> usize {
        self.rows.iter().filter(|row| row.preempts).count()
    }
}

impl ProgramModel {
    /// Executes a schedule and reports what it showed.
    pub fn incident(&self, choices: &[u32]) -> Result<Incident, GuestError> {
        let mut executor = self.executor()?;
        let mut execution = Execution::default();
        let plan = Plan { prefix: choices, detail: Detail::Stacks, ..self.options().plan() };
        let outcome = executor.run(&plan, &mut execution);
        let incident = outcome.map(|()| Incident::of(&execution, &mut *executor));
        self.put_back(executor);
        incident
    }
}

/// Replaces a place in a library by the innermost function of the user on the failing thread's
/// stack, where the mistake is.
fn correct_place(place: &mut Option<String>, thread: Option<&str>, stacks: &[Stack]) {
    let Some(stack) = stacks.iter().find(|stack| Some(stack.thread.as_str()) == thread) else { return };
    let file = |place: &str| place.split(':').next().unwrap_or_default().to_owned();
    let mut users =
        stack.frames.iter().filter(|frame| frame.is_user()).filter_map(|frame| frame.place.clone());
    let Some(innermost) = users.next() else { return };
    let known = place.as_deref().map(file);
    let is_users = |known: &String| {
        let same = |place: &str| {
            let (one, other) = (file(place), known);
            one.ends_with(other.as_str()) || other.ends_with(one.as_str())
        };
        same(&innermost) || users.any(|place| same(&place))
    };
    if !known.as_ref().is_some_and(is_users) {
        *place = Some(innermost);
    }
}

/// The steps of an execution, with the preemptions among them.
fn rows(execution: &Execution, executor: &mut dyn Executor) -> Vec<Row> {
    let mut rows = Vec::with_capacity(execution.steps.len());
    let mut before = None;
    for step in &execution.steps {
        let choice = &step.choice;
        let first = step.first_choice as usize;
        let choices = execution.choices.get(first..first + step.count as usize).unwrap_or_default();
        let could_go_on = |thread| choices.iter().any(|other| other.thread == thread);
        let preempts = before.is_some_and(|thread| thread != choice.thread && could_go_on(thread));
        rows.push(Row {
            thread: texts::thread(execution, choice.thread),
            deed: texts::deed(execution, choice),
            place: texts::place_in(execution, choice.thread, choice.site, executor),
            preempts,
        });
        before = Some(choice.thread);
    }
    rows
}

/// Which thread waits for what, and which one holds that.
fn waits(execution: &Execution, executor: &mut dyn Executor) -> Vec<Waiting> {
    if !matches!(execution.end, End::Deadlock | End::Livelock) {
        return Vec::new();
    }
    let mut told = Vec::new();
    for (thread, id) in execution.threads.iter().zip(0..).filter(|(thread, _)| !thread.ended) {
        let Some((choice, holder)) = &thread.waits else { continue };
        let operands = texts::operands(execution, choice);
        let since = holder.and_then(|holder| {
            let holds = &execution.threads.get(holder.0 as usize)?.holds;
            let wanted = |object| object == choice.object || object == choice.second;
            holds.iter().rev().find(|(object, _)| wanted(*object)).map(|(_, site)| *site)
        });
        let what = match (choice.kind, operands.as_slice()) {
            // It was notified, but another thread holds the mutex.
            (Kind::Reacquire, [condvar, mutex]) if holder.is_some() => {
                format!("to lock {mutex} again after a notification of {condvar}")
            }
            (Kind::Yield, [object, ..]) => format!("for a change of {object}"),
            (Kind::Park, [_, ..]) => format!("to be woken by {}", operands.join(" or ")),
            _ => format!("{} {}", waiting(choice.kind), operands.join(" with ")).trim_end().to_owned(),
        };
        told.push(Waiting {
            thread: thread.name.clone(),
            operation: texts::deed(execution, choice),
            what,
            joins: choice.kind == Kind::Join,
            place: texts::place_in(execution, choice.thread, choice.site, executor),
            holder: holder.map(|holder| texts::thread(execution, holder)),
            since: since.and_then(|site| texts::place(executor, site)),
            note: execution.notes.iter().find(|(noted, _)| noted.0 == id).map(|(_, note)| note.clone()),
        });
    }
    told
}

/// What threads hold at the end, and since when.
fn held(execution: &Execution, executor: &mut dyn Executor) -> Vec<HeldLock> {
    let mut found = Vec::new();
    for thread in execution.threads.iter().filter(|thread| !thread.ended) {
        for &(object, site) in &thread.holds {
            let Some(object) = texts::object(execution, object) else { continue };
            found.push(HeldLock { thread: thread.name.clone(), object, since: texts::place(executor, site) });
        }
    }
    found
}

fn tell_finding(execution: &Execution, finding: &Finding, executor: &mut dyn Executor) -> String {
    match finding {
        Finding::Race { first, second, message } => {
            let places: Vec<String> =
                [*first, *second].into_iter().filter_map(|site| texts::place(executor, site)).collect();
            if places.is_empty() { message.clone() } else { format!("{message}: {}", places.join(" and ")) }
        }
        Finding::Leak(thread) => {
            format!("the thread {} was still there at the end", texts::thread(execution, *thread))
        }
        Finding::Uncontrolled(call) => format!("{call} is not under control"),
        Finding::Reuse { freed, allocated } => {
            let place = |executor: &mut dyn Executor, site| texts::place(executor, site).unwrap_or_default();
            let (freed, allocated) = (place(executor, *freed), place(executor, *allocated));
            format!("memory that was freed at {freed} is not handed out again at {allocated}")
        }
    }
}

/// The parts of a thread's name, numbers by their value: `main.10` comes after `main.9`.
pub(crate) fn path(name: &str) -> Vec<(u64, &str)> {
    name.split('.').map(|part| (part.parse().unwrap_or(0), part)).collect()
}

/// The schedule of a trace, if all its labels are those of a program.
pub fn rows_of(trace: &Trace) -> Option<Vec<Row>> {
    if trace.is_empty() {
        return None;
    }
    let rows = trace.labels().map(|text| {
        let label = Label::parse(text);
        let [action] = label.actions.as_slice() else { return None };
        let (thread, operands) = action.arguments.split_first()?;
        let written = format!("{}({})", action.name, action.arguments.join(", "));
        // Actions of models may have the same names, but their arguments are values.
        let named = !thread.is_empty() && thread.parse::<f64>().is_err();
        if written != text || !Kind::ALL.iter().any(|&kind| verb(kind) == action.name) || !named {
            return None;
        }
        let (operands, place) = match operands.split_last() {
            Some((last, rest)) if is_place(last) => (rest, Some(last.clone())),
            _ => (operands, None),
        };
        let deed = std::iter::once(&action.name).chain(operands).cloned().collect::<Vec<_>>().join(" ");
        Some(Row { thread: thread.clone(), deed, place, preempts: false })
    });
    rows.collect()
}

/// Whether a text is a place in a source: `bank.c:31`, `bank.c:31:7`, `bank+0x1234`.
pub(crate) fn is_place(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.rsplit_once(':').is_some_and(|(_, line)| number(line)) || text.contains("+0x")
}

#[cfg(test)]
mod tests {
    use turnpike_model::Step;

    use super::*;

    #[test]
    fn schedules_are_known_by_their_labels() {
        let trace = |labels: &[&str]| Trace {
            steps: labels.iter().map(|&label| Step::new(label)).collect(),
            ..Trace::default()
        };
        let rows =
            rows_of(&trace(&["lock(main.0, bank.lock, bank.c:31)", "yield(main)"])).expect("a schedule");
        assert_eq!((rows[0].thread.as_str(), rows[0].deed.as_str()), ("main.0", "lock bank.lock"));
        assert_eq!((rows[0].place.as_deref(), rows[1].place.as_deref()), (Some("bank.c:31"), None));
        for other in [
            &[][..],
            &["tau"],
            &["lock(1,1)"],
            &["send(1)"],
            &["lock(main.0, m)", "eat(1)"],
            &["lock"],
            &["P@a,Q@b"],
        ] {
            assert_eq!(rows_of(&trace(other)), None, "{other:?}");
        }
    }
}
