//! Schedules of traces, executed again: strictly, or as far as what they did can still be done.
//!
//! A strict replay takes the recorded choices and compares every step. A tolerant one looks in each state for a choice of the same
//! thread that does the same to the same object, wherever it stands in the source by now, and passes over steps that
//! have vanished: schedules outlive small changes of a program.

use turnpike_model::Trace;
use turnpike_model::label::{Action, Label};
use turnpike_scheduler::{Detail, End, Execution, Executor, GuestError, Plan};

use crate::guard::ended;
use crate::incident::is_place;
use crate::model::ProgramModel;
use crate::texts;

/// Where a trace and a program part.
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
    /// Steps of the trace that were passed over, from 1.
    pub skipped: Vec<usize>,
    /// Why and where it ended early.
    pub parting: Option<Parting>,
}

impl ProgramModel {
    /// Executes the schedule of a trace; any difference is told and ends it.
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

    /// Does what a trace did as far as it can still be done; steps that cannot are passed over.
    pub fn follow_loosely(&self, trace: &Trace) -> Result<Followed, GuestError> {
        self.follow_labels(trace, true)
    }

    fn follow_labels(&self, trace: &Trace, loosely: bool) -> Result<Followed, GuestError> {
        let mut executor = self.executor()?;
        let mut execution = Execution::default();
        let mut followed = Followed::default();
        let mut enabled: Option<Vec<String>> = None;
        for (index, wanted) in trace.labels().enumerate() {
            let now = match &mut enabled {
                Some(enabled) => enabled,
                None => {
                    let plan =
                        Plan { prefix: &followed.choices, detail: Detail::Full, ..self.options().plan() };
                    executor.run(&plan, &mut execution)?;
                    let range = match execution.end {
                        End::Stopped => execution.last_choices..execution.choices.len(),
                        _ => 0..0,
                    };
                    enabled.insert(tell(&execution, range, &mut *executor))
                }
            };
            let place = now.iter().position(|label| label == wanted);
            match place.or_else(|| loosely.then(|| alike(wanted, now)).flatten()) {
                Some(choice) => {
                    followed.choices.push(choice as u32);
                    followed.labels.push(now.swap_remove(choice));
                    enabled = None;
                }
                None if loosely => followed.skipped.push(index + 1),
                None => {
                    let found = match now.is_empty() {
                        true => ended(&execution),
                        false => "the program cannot do that".to_owned(),
                    };
                    let (expected, enabled) = (wanted.to_owned(), std::mem::take(now));
                    followed.parting = Some(Parting { step: index + 1, expected, found, enabled });
                    break;
                }
            }
        }
        self.put_back(executor);
        Ok(followed)
    }
}

/// The labels of some choices of an execution with full detail.
fn tell(execution: &Execution, range: std::ops::Range<usize>, executor: &mut dyn Executor) -> Vec<String> {
    let choices = execution.choices.get(range).unwrap_or_default();
    choices.iter().map(|choice| texts::label(execution, choice, executor).text).collect()
}

/// The choice that does the same, wherever it stands in the source; the same thread and operation on the same object, whatever else
/// was chosen, will do.
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
