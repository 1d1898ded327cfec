//! Labels of steps: `lock(main.0, mutex 2, bank.c:31)`. The action is the kind of operation, its
//! arguments are the thread, the object, what was chosen if there was a choice, and the place in
//! the source, in this order.

use turnpike_model::label::{Action, Label};
use turnpike_scheduler::{Choice, Execution, Executor, Frame, Kind, ObjectId, Site, ThreadId};

use crate::memory;
use crate::steps::verb;

use crate::words::{duration, names_thread};

/// The name of a thread, in an execution with full detail.
pub(crate) fn thread(execution: &Execution, id: ThreadId) -> String {
    execution
        .threads
        .get(id.0 as usize)
        .map_or_else(|| format!("thread {}", id.0), |record| plain(&record.name))
}

/// The name of an object, in an execution with full detail.
pub(crate) fn object(execution: &Execution, id: ObjectId) -> Option<String> {
    (id != ObjectId::NONE).then(|| {
        execution
            .objects
            .get(id.0 as usize)
            .map_or_else(|| format!("object {}", id.0), |record| plain(&record.name))
    })
}

/// A place in the source, if it is known.
pub(crate) fn place(executor: &mut dyn Executor, site: Site) -> Option<String> {
    if site == Site::default() {
        return None;
    }
    let text = executor.site(site);
    // Labels must not depend on the folders of the machine that compiled the program.
    let file = text.rsplit('/').next().unwrap_or(&text);
    Some(plain(file)).filter(|text| !text.is_empty())
}

/// The place of what a thread does. If none of the user's functions is on its stack (a library
/// starts threads of its own, or a compiler replaced a tail call by a jump), that is where the
/// thread was created.
pub(crate) fn place_in(
    execution: &Execution,
    thread: ThreadId,
    site: Site,
    executor: &mut dyn Executor,
) -> Option<String> {
    if let Some(record) = execution.threads.get(thread.0 as usize)
        && is_foreign(executor, site)
        && !is_foreign(executor, record.site)
        && let Some(creation) = place(executor, record.site)
    {
        return Some(format!("thread of {creation}"));
    }
    place(executor, site)
}

/// Whether it is known that no function of the user is at a place.
fn is_foreign(executor: &mut dyn Executor, site: Site) -> bool {
    site != Site::default()
        && executor.frames(site.0).is_some_and(|frames| !frames.iter().any(Frame::is_user))
}

/// A name without commas, which separate arguments.
fn plain(name: &str) -> String {
    if name.contains(',') { name.replace(", ", ";").replace(',', ";") } else { name.to_owned() }
}

/// What a step works on and what was chosen, without thread and place.
pub(crate) fn operands(execution: &Execution, choice: &Choice) -> Vec<String> {
    let mut operands = Vec::new();
    operands.extend(object(execution, choice.object));
    operands.extend(object(execution, choice.second));
    if names_thread(choice.kind) {
        operands.push(thread(execution, ThreadId(choice.argument as u32)));
    }
    match choice.kind {
        Kind::Toss => operands.push(choice.alternative.to_string()),
        Kind::Sleep => operands.push(duration(choice.argument)),
        Kind::Assert => operands.push(if choice.argument == 0 { "false" } else { "true" }.to_owned()),
        _ if choice.alternative == Choice::TIMEOUT => operands.push("timed out".to_owned()),
        _ if choice.alternative == Choice::STAY => operands.push("not woken".to_owned()),
        _ if choice.alternative == Choice::SPURIOUS => operands.push("woken for no reason".to_owned()),
        Kind::NotifyOne if choice.argument == u64::MAX => operands.push("nobody waits".to_owned()),
        Kind::NotifyOne => {
            operands.push(format!("wakes {}", thread(execution, ThreadId(choice.argument as u32))));
        }
        _ if choice.is_weak() => operands.extend(memory::sight(execution, choice)),
        _ if choice.alternative > 0 => operands.push(format!("alternative {}", choice.alternative)),
        _ => {}
    }
    operands
}

/// The label of a step.
pub(crate) fn label(execution: &Execution, choice: &Choice, executor: &mut dyn Executor) -> Label {
    let mut arguments = vec![thread(execution, choice.thread)];
    arguments.extend(operands(execution, choice));
    arguments.extend(place_in(execution, choice.thread, choice.site, executor));
    let name = verb(choice.kind).to_owned();
    let text = format!("{name}({})", arguments.join(", "));
    Label { text, actions: vec![Action { name, arguments }] }
}

/// A step without its thread: `lock mutex 2`.
pub(crate) fn deed(execution: &Execution, choice: &Choice) -> String {
    let operands = operands(execution, choice);
    let word = verb(choice.kind);
    if operands.is_empty() { word.to_owned() } else { format!("{word} {}", operands.join(" ")) }
}
