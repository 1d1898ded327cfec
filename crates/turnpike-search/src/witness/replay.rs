//! Re-executes a trace file on a model, and judges whether it meets an objective.

use turnpike_model::{
    Describer, Explorer, Model, ModelInfo, StateValues, Step, StepError, Successors, Trace,
};

use super::Path;
use super::confirm::{add_times, choices_of, is_accepting, stuck_components};
use crate::error::SearchError;
use crate::objective::{Goal, HitKind, Monitor, Objective};

/// A trace, re-executed as far as possible.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The steps that were executed, with choices and states filled in.
    pub trace: Trace,
    /// Why and where it stopped early.
    pub divergence: Option<Divergence>,
    /// Transitions enabled in the last state reached.
    pub enabled: Vec<String>,
    /// Whether the last state reached is a deadlock.
    pub deadlock: bool,
    /// Why the model cannot go on from the last state reached, if going on is an error of the
    /// model.
    pub error: Option<String>,
}

/// Where a trace and a model differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step, from 1.
    pub step: usize,
    /// What is different.
    pub reason: String,
}

/// Re-executes a trace on a model by its labels, and by its states where it has them.
///
/// A trace of labels alone may fit several paths of a nondeterministic model. All of them are
/// followed together, and the first that fits to the end is reported.
pub fn replay(model: &dyn Model, trace: &Trace) -> Result<Replayed, StepError> {
    let info = model.info();
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let (levels, divergence) = follow(explorer, info, trace)?;
    // Backwards along the first path that got furthest.
    let mut describer = Describer::of_states(info);
    let mut executed = Vec::new();
    let mut at = 0;
    for (index, level) in levels.iter().enumerate().skip(1).rev() {
        let candidate = &level[at];
        executed.push(Step {
            label: trace.steps[index - 1].label.clone(),
            choice: Some(candidate.choice),
            state: Some(describer.state(explorer, &candidate.state)),
            ..Step::default()
        });
        at = candidate.parent;
    }
    executed.reverse();
    let last = &levels[levels.len() - 1][0].state;
    let mut successors = Successors::new(info.width);
    let (mut deadlock, mut enabled, mut error) = (false, Vec::new(), None);
    match explorer.successors(last, &mut successors) {
        Ok(()) => {
            deadlock = explorer.is_deadlock(last, &successors);
            enabled.extend((0..successors.len()).map(|index| explorer.label(successors.label(index)).text));
        }
        Err(failure) => error = Some(failure.message),
    }
    let initial = Some(describer.state(explorer, &levels[0][0].state));
    let mut trace = Trace {
        model: info.name.clone(),
        fingerprint: info.fingerprint,
        initial,
        steps: executed,
        // A loop that was not reached does not close.
        loop_start: trace.loop_start.filter(|_| divergence.is_none()),
        last_delay: None,
        stuck: Vec::new(),
        ..trace.clone()
    };
    if deadlock {
        trace.stuck = stuck_components(explorer, last, None)?;
    }
    // A trace from elsewhere may be a run only of the abstraction, which has no times.
    let objective = trace.objective.parse::<Objective>().ok().filter(|_| divergence.is_none());
    let _ = add_times(model, &mut trace, objective.as_ref());
    Ok(Replayed { trace, divergence, enabled, deadlock, error })
}

/// A state that a trace may have led to.
struct Candidate {
    /// Index of the candidate that it comes from, one level before.
    parent: usize,
    choice: u32,
    state: Vec<u32>,
}

/// Follows a trace along all paths that fit. Returns the candidates after each step, as far as
/// there are any, and why it stopped early.
fn follow(
    explorer: &mut dyn Explorer,
    info: &ModelInfo,
    trace: &Trace,
) -> Result<(Vec<Vec<Candidate>>, Option<Divergence>), StepError> {
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut describer = Describer::of_states(info);
    let differs =
        trace.initial.as_ref().and_then(|expected| difference(expected, &describer.state(explorer, &state)));
    let mut levels = vec![vec![Candidate { parent: 0, choice: 0, state }]];
    if let Some(reason) = differs {
        let divergence = Divergence { step: 0, reason: format!("the initial state differs: {reason}") };
        return Ok((levels, Some(divergence)));
    }
    let mut successors = Successors::new(info.width);
    for (index, step) in trace.steps.iter().enumerate() {
        let mut next: Vec<Candidate> = Vec::new();
        let mut state_difference = None;
        for (parent, candidate) in levels[index].iter().enumerate() {
            explorer.successors(&candidate.state, &mut successors)?;
            for choice in 0..successors.len() {
                if explorer.label(successors.label(choice)).text != step.label {
                    continue;
                }
                let target = successors.state(choice);
                let different = step
                    .state
                    .as_ref()
                    .and_then(|expected| difference(expected, &describer.state(explorer, target)));
                match different {
                    Some(reason) => state_difference = Some(reason),
                    None if next.iter().any(|known| known.state == target) => {}
                    None => next.push(Candidate { parent, choice: choice as u32, state: target.to_vec() }),
                }
            }
        }
        if next.is_empty() {
            let reason = match state_difference {
                Some(reason) => format!("'{}' leads to another state: {reason}", step.label),
                None => format!("'{}' is not enabled", step.label),
            };
            return Ok((levels, Some(Divergence { step: index + 1, reason })));
        }
        levels.push(next);
    }
    Ok((levels, None))
}

/// Whether a trace that was replayed to its end meets an objective there, judged afresh: on its
/// last transition, in its last state, or by its loop. `None` for what is only measured. `internal`
/// names the actions that count as internal.
pub fn judge(
    model: &dyn Model,
    replayed: &Replayed,
    objective: &Objective,
    internal: &[String],
) -> Result<Option<bool>, SearchError> {
    if objective.is_measure() {
        return Ok(None);
    }
    let failed = |error: StepError| SearchError::Replay(error.message);
    let choices = choices_of(&replayed.trace);
    let info = model.info();
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let states = Path::Choices(choices.clone()).into_states(explorer).map_err(failed)?;
    let mut successors = Successors::new(info.width);
    if objective.is_accepting() {
        let start = replayed.trace.loop_start;
        return is_accepting(explorer, info, objective, &states, start).map(Some).map_err(failed);
    }
    if objective.goal == Goal::Livelock {
        let Some(start) = replayed.trace.loop_start else { return Ok(Some(false)) };
        let mut endless = start < choices.len() && states.get(start) == states.last();
        for (state, &choice) in states.iter().zip(&choices).skip(start) {
            explorer.successors(state, &mut successors).map_err(failed)?;
            let label = explorer.label(successors.label(choice as usize));
            endless &= label.actions.iter().all(|action| internal.contains(&action.name));
        }
        return Ok(Some(endless));
    }
    let mut monitor = Monitor::new(std::slice::from_ref(objective), internal, false, explorer, info)?;
    let mut hits = Vec::new();
    let last = &states[states.len() - 1];
    monitor.examine_here(explorer, last, &mut hits).map_err(failed)?;
    if hits.iter().any(|hit| hit.kind == HitKind::Here) {
        return Ok(Some(true));
    }
    if let Some(&choice) = choices.last() {
        let before = &states[states.len() - 2];
        hits.clear();
        explorer.successors(before, &mut successors).map_err(failed)?;
        monitor.examine(explorer, before, &successors, &mut hits).map_err(failed)?;
        // Any of the transitions that clash shows nondeterminism.
        let label = successors.label(choice as usize);
        let clash =
            |other: u32| objective.goal == Goal::Nondeterminism && successors.label(other as usize) == label;
        if hits.iter().any(|hit| matches!(hit.kind, HitKind::Step(step) if step == choice || clash(step))) {
            return Ok(Some(true));
        }
    }
    // The successors of the last state come last, because computing them may be an error of the
    // model.
    hits.clear();
    explorer.successors(last, &mut successors).map_err(failed)?;
    monitor.examine(explorer, last, &successors, &mut hits).map_err(failed)?;
    Ok(Some(hits.iter().any(|hit| hit.kind == HitKind::Here)))
}

/// Describes the first value that differs; `None` if all agree.
fn difference(expected: &StateValues, found: &StateValues) -> Option<String> {
    expected.iter().find_map(|(name, value)| match found.get(name) {
        Some(other) if other == value => None,
        Some(other) => Some(format!("{name} is {other}, the trace has {value}")),
        None => Some(format!("the model has no parameter {name}")),
    })
}
