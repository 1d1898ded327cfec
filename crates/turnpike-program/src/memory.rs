//! Describes weak memory: which write a read sees.

use turnpike_scheduler::{Choice, Execution, Executor, Kind};

use crate::texts;

/// A write of a variable: `initial value`, `write 2 of main.0`.
fn write(execution: &Execution, on: &Choice, number: u32) -> String {
    let writes =
        || execution.steps.iter().map(|step| &step.choice).filter(|choice| choice.object == on.object);
    let Some(writer) =
        writes().find(|choice| choice.number_of_write() == Some(number)).filter(|_| number > 0)
    else {
        return "initial value".to_owned();
    };
    let own = |choice: &&Choice| {
        choice.thread == writer.thread && choice.number_of_write().is_some_and(|other| other <= number)
    };
    format!("write {} of {}", writes().filter(own).count(), texts::thread(execution, writer.thread))
}

/// What an atomic step sees under weak memory. For a store that does not become the newest write,
/// the write that it directly follows.
pub(crate) fn sight(execution: &Execution, choice: &Choice) -> Option<String> {
    let write = write(execution, choice, choice.alternative);
    match (choice.kind, choice.newer_writes()) {
        (Kind::Store, 0) => None,
        (Kind::Store, _) => Some(format!("directly after {write}")),
        (_, 0) => Some(format!("sees {write}")),
        _ => Some(format!("sees old {write}")),
    }
}

/// The steps that see old values, and why they may.
pub(crate) fn old_values(execution: &Execution, executor: &mut dyn Executor) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, step) in execution.steps.iter().enumerate() {
        let choice = &step.choice;
        if choice.newer_writes() == 0 || choice.kind == Kind::Store {
            continue;
        }
        let name = texts::object(execution, choice.object).unwrap_or_default();
        let mut text = format!("{} sees an old value of {name}", texts::thread(execution, choice.thread));
        text.extend(texts::place(executor, choice.site).map(|place| format!(" at {place}")));
        let before = execution.steps[..at].iter().map(|step| &step.choice).rev();
        let mut others = before.filter(|other| {
            let number = other.number_of_write();
            other.object == choice.object
                && other.thread != choice.thread
                && number.is_some_and(|number| number != choice.alternative)
        });
        if let Some(newer) = others.next() {
            text.push_str(&format!(": {} wrote a newer one", texts::thread(execution, newer.thread)));
            text.extend(texts::place(executor, newer.site).map(|place| format!(" at {place}")));
            text.push_str(", and nothing orders that before the read");
        }
        lines.push(text);
    }
    lines
}
