//! Where threads are at the end of an execution, and where objects came from.

use turnpike_scheduler::{Choice, Execution, Executor, Frame, Object};

use crate::stack::{ThisProcess, brief_name, user_part};
use crate::texts;

/// The most threads whose stacks are shown, unless all are.
const THREADS: usize = 8;
/// The most frames of a stack that are shown, unless all are.
const FRAMES: usize = 16;

/// Where a thread is at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The thread's name.
    pub thread: String,
    /// The function it is in and its callers, innermost first.
    pub frames: Vec<Frame>,
}

/// An object that is not a static variable, so that its name does not say which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its name: `mutex 2`.
    pub object: String,
    /// Where it was created, or first used.
    pub place: String,
    /// Whether it was created there; otherwise that is where it was first used.
    pub created: bool,
}

impl Made {
    /// `mutex 2 was created at bank.c:12`.
    pub fn sentence(&self) -> String {
        let how = if self.created { "created" } else { "first used" };
        format!("{} was {how} at {}", self.object, self.place)
    }
}

/// The stacks of threads that have not ended.
pub(super) fn stacks(execution: &Execution, executor: &mut dyn Executor) -> Vec<Stack> {
    let mut here = ThisProcess::default();
    let mut stacks = Vec::new();
    for stack in &execution.stacks {
        let mut frames = Vec::new();
        for &address in &stack.addresses {
            match executor.frames(address) {
                Some(found) => frames.extend(found),
                None => frames.extend(here.frames(address)),
            }
        }
        if !frames.is_empty() {
            stacks.push(Stack { thread: texts::thread(execution, stack.thread), frames });
        }
    }
    stacks.sort_by(|one, other| super::path(&one.thread).cmp(&super::path(&other.thread)));
    stacks
}

/// The objects that steps or waiting threads use, as far as they are not static variables.
pub(super) fn made(execution: &Execution, executor: &mut dyn Executor) -> Vec<Made> {
    let waits = execution.threads.iter().filter_map(|thread| thread.waits.as_ref());
    let choices = execution.steps.iter().map(|step| &step.choice).chain(waits.map(|(choice, _)| choice));
    let mut used: Vec<u32> = choices.flat_map(|choice| [choice.object.0, choice.second.0]).collect();
    used.sort_unstable();
    used.dedup();
    let mut made = Vec::new();
    for id in used {
        let Some(object) = execution.objects.get(id as usize) else { continue };
        let numbered = object.name.rsplit_once(' ').is_some_and(|(_, number)| number.parse::<u32>().is_ok());
        if !numbered || matches!(object.object, Object::Memory | Object::Region | Object::Futex) {
            continue;
        }
        // The step that used it first, if that is known.
        let uses = |choice: &Choice| choice.object.0 == id && choice.site == object.site;
        let first = execution.steps.iter().map(|step| &step.choice).find(|choice| uses(choice));
        let found = match first {
            Some(first) => texts::place_in(execution, first.thread, object.site, executor),
            None => texts::place(executor, object.site),
        };
        if let Some(place) = found {
            made.push(Made { object: object.name.clone(), place, created: object.created });
        }
    }
    made
}

/// The stacks in lines: the user's part of each, or everything.
pub(super) fn lines(stacks: &[Stack], first: Option<&str>, all: bool) -> Vec<String> {
    let mut order: Vec<&Stack> = stacks.iter().collect();
    // The thread that failed comes first.
    order.sort_by_key(|stack| Some(stack.thread.as_str()) != first);
    let shown = if all { order.len() } else { order.len().min(THREADS) };
    let mut out = Vec::new();
    for stack in &order[..shown] {
        out.push(format!("stack of {}:", stack.thread));
        let frames = if all { &stack.frames[..] } else { user_part(&stack.frames) };
        let visible = if all { frames.len() } else { frames.len().min(FRAMES) };
        for (number, frame) in frames[..visible].iter().enumerate() {
            let mut frame = frame.clone();
            if !all {
                frame.function = frame.function.as_deref().map(brief_name);
            }
            out.push(format!("  #{number} {frame}"));
        }
        if frames.len() > visible {
            out.push(format!("  ... {} more frames", frames.len() - visible));
        }
    }
    if order.len() > shown {
        out.push(format!("... and the stacks of {} more threads", order.len() - shown));
    }
    out
}
