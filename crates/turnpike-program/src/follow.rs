//! Replays schedules of traces: strictly, or as far as the program can still do what they did.
//!
//! A strict replay takes the recorded choices and compares every step. A tolerant one looks in each
//! state for a choice of the same thread that does the same to the same object, wherever that is in
//! the source now. It lets the thread do other steps before, and skips steps that no longer exist.
//! So schedules survive small changes of a program.

use turnpike_model::Trace;
use turnpike_model::label::{Action, Label};
use turnpike_scheduler::{Detail, End, Execution, Executor, GuestError, Plan};

use crate::guard::ended;
use crate::incident::is_place;
use crate::model::ProgramModel;
use crate::texts;

/// Where a program departs from a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The step, from 1.
    pub step: usize,
    /// What the trace has there.
    pub expected: String,
    /// What the program does instead, or why it does nothing.
    pub found: String,
    /// What it could do.
    pub enabled: Vec<String>,
}

/// A trace, followed as far as it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Positions of the choices that were taken.
    pub choices: Vec<u32>,
    /// The steps that were taken.
    pub labels: Vec<String>,
    /// Steps of the trace that were skipped, from 1.
    pub skipped: Vec<usize>,
    /// Steps that were taken although the trace does not have them.
    pub added: usize,
    /// Where and why it ended early.
    pub parting: Option<Parting>,
}

impl ProgramModel {
    /// Executes the schedule of a trace, and stops at the first difference.
    pub fn follow(&self, trace: &Trace) -> Result<Followed, GuestError> {
        let choices: Vec<u32> = trace.steps.iter().map_while(|step| step.choice).collect();
        if choices.len() < trace.len() {
            return self.follow_labels(trace, false);
        }
        let mut executor = self.executor()?;
        let mut execution = Execution::default();
        let plan = Plan { prefix: &choices, detail: Detail::Full, ..self.options().plan() };
        executor.run(&plan, &mut execution)?;
        let mut followed = Followed::default();
        for (index, (expected, step)) in trace.labels().zip(&execution.steps).enumerate() {
            let label = texts::label(&execution, &step.choice, &mut *executor).text;
            if label != expected {
                let first = step.first_choice as usize;
                let enabled = tell(&execution, first..first + step.count as usize, &mut *executor);
                followed.parting =
                    Some(Parting { step: index + 1, expected: expected.to_owned(), found: label, enabled });
                break;
            }
            followed.choices.push(step.taken);
            followed.labels.push(label);
        }
        if followed.parting.is_none() && execution.steps.len() < trace.len() {
            let step = execution.steps.len();
            followed.parting = Some(Parting {
                step: step + 1,
                expected: trace.steps[step].label.clone(),
                found: ended(&execution),
                enabled: tell(&execution, execution.last_choices..execution.choices.len(), &mut *executor),
            });
        }
        self.put_back(executor);
        Ok(followed)
    }

    /// Does what a trace did as far as possible, and skips steps that are not.
    pub fn follow_loosely(&self, trace: &Trace) -> Result<Followed, GuestError> {
        self.follow_labels(trace, true)
    }

    fn follow_labels(&self, trace: &Trace, loosely: bool) -> Result<Followed, GuestError> {
        let mut walk = Walk::new(self)?;
        let mut followed = Followed::default();
        for (index, wanted) in trace.labels().enumerate() {
            let now = walk.enabled()?;
            let exact = now.iter().position(|label| label == wanted);
            let found = match exact.or_else(|| loosely.then(|| alike(wanted, now)).flatten()) {
                Some(choice) => {
                    walk.take(choice);
                    true
                }
                None => loosely && walk.approach(wanted, &mut followed.added)?,
            };
            if found {
                continue;
            }
            if loosely {
                followed.skipped.push(index + 1);
                continue;
            }
            let enabled = walk.enabled()?.to_vec();
            let found = match enabled.is_empty() {
                true => ended(&walk.execution),
                false => "the program cannot do that".to_owned(),
            };
            followed.parting = Some(Parting { step: index + 1, expected: wanted.to_owned(), found, enabled });
            break;
        }
        (followed.choices, followed.labels) = walk.finish();
        Ok(followed)
    }
}

/// A program being stepped through.
struct Walk<'m> {
    model: &'m ProgramModel,
    executor: Box<dyn Executor>,
    execution: Execution,
    choices: Vec<u32>,
    labels: Vec<String>,
    /// The choices of the current state, computed on demand.
    enabled: Option<Vec<String>>,
}

impl<'m> Walk<'m> {
    fn new(model: &'m ProgramModel) -> Result<Self, GuestError> {
        let executor = model.executor()?;
        let (execution, choices, labels) = (Execution::default(), Vec::new(), Vec::new());
        Ok(Walk { model, executor, execution, choices, labels, enabled: None })
    }

    fn enabled(&mut self) -> Result<&[String], GuestError> {
        if self.enabled.is_none() {
            let plan = Plan { prefix: &self.choices, detail: Detail::Full, ..self.model.options().plan() };
            self.executor.run(&plan, &mut self.execution)?;
            let range = match self.execution.end {
                End::Stopped => self.execution.last_choices..self.execution.choices.len(),
                _ => 0..0,
            };
            self.enabled = Some(tell(&self.execution, range, &mut *self.executor));
        }
        Ok(self.enabled.as_deref().unwrap_or_default())
    }

    fn take(&mut self, choice: usize) {
        if let Some(mut enabled) = self.enabled.take() {
            self.choices.push(choice as u32);
            self.labels.push(enabled.swap_remove(choice));
        }
    }

    /// Lets the thread of a step go on until it comes to that step. If it does not, no step is
    /// taken.
    fn approach(&mut self, wanted: &str, added: &mut usize) -> Result<bool, GuestError> {
        let Some(step) = Step::of(wanted) else { return Ok(false) };
        let (before, enabled) = (self.choices.len(), self.enabled.clone());
        for taken in 0..=DETOUR {
            let now = self.enabled()?;
            if let Some(choice) = alike(wanted, now) {
                self.take(choice);
                *added += taken;
                return Ok(true);
            }
            let same_thread = |label: &String| Step::of(label).is_some_and(|next| next.thread == step.thread);
            let Some(next) = now.iter().position(same_thread).filter(|_| taken < DETOUR) else { break };
            self.take(next);
        }
        self.choices.truncate(before);
        self.labels.truncate(before);
        self.enabled = enabled;
        Ok(false)
    }

    fn finish(self) -> (Vec<u32>, Vec<String>) {
        self.model.put_back(self.executor);
        (self.choices, self.labels)
    }
}

/// The most steps that a thread takes to come to one of the trace.
const DETOUR: usize = 12;

/// The labels of some choices of an execution with full detail.
fn tell(execution: &Execution, range: std::ops::Range<usize>, executor: &mut dyn Executor) -> Vec<String> {
    let choices = execution.choices.get(range).unwrap_or_default();
    choices.iter().map(|choice| texts::label(execution, choice, executor).text).collect()
}

/// The choice that does the same, wherever it is in the source; otherwise one with the same thread,
/// operation and object.
fn alike(wanted: &str, enabled: &[String]) -> Option<usize> {
    let wanted = Step::of(wanted)?;
    let steps: Vec<Option<Step>> = enabled.iter().map(|label| Step::of(label)).collect();
    let find = |same: &dyn Fn(&Step) -> bool| steps.iter().position(|step| step.as_ref().is_some_and(same));
    find(&|step| *step == wanted).or_else(|| {
        find(&|step| {
            step.name == wanted.name
                && step.thread == wanted.thread
                && step.operands.first() == wanted.operands.first()
        })
    })
}

/// A label without its place.
#[derive(PartialEq, Eq)]
struct Step {
    name: String,
    thread: String,
    operands: Vec<String>,
}

impl Step {
    fn of(label: &str) -> Option<Self> {
        let mut actions = Label::parse(label).actions;
        let (Some(Action { name, mut arguments }), true) = (actions.pop(), actions.is_empty()) else {
            return None;
        };
        if arguments.len() > 1 {
            arguments.pop_if(|last| is_place(last));
        }
        if arguments.is_empty() {
            return None;
        }
        let operands = arguments.split_off(1);
        Some(Step { name, thread: arguments.pop()?, operands })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_again_although_lines_moved() {
        let enabled = ["lock(main.0, m, a.c:9)", "lock(main.1, m, a.c:12)", "toss(main.2, 1, a.c:3)"];
        let enabled: Vec<String> = enabled.iter().map(|&label| label.to_owned()).collect();
        for (wanted, place) in [
            ("lock(main.1, m, a.c:11)", Some(1)),
            ("lock(main.1, m)", Some(1)),
            ("lock(main.1, n, a.c:12)", None),
            ("unlock(main.1, m, a.c:12)", None),
            ("toss(main.2, 1, a.c:4)", Some(2)),
            ("tau", None),
            ("lock", None),
        ] {
            assert_eq!(alike(wanted, &enabled), place, "{wanted}");
        }
    }
}
