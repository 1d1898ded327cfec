//! Re-executes a trace file on a model, and judges whether it meets an objective.

use turnpike_model::{
    Describer, ExactStates, Explorer, Model, StateValues, Step, StepError, Successors, Trace,
};

use super::Path;
use super::confirm::{add_obstacles, add_times, choices_of, describe, is_accepting};
use super::participants::add_participants;
use crate::error::SearchError;
use crate::objective::{Goal, HitKind, Monitor, Objective};

/// A trace, re-executed as far as possible.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The steps that were executed, with choices and states filled in.
    pub trace: Trace,
    /// Why and where it stopped early.
    pub divergence: Option<Divergence>,
    /// Whether the last step leads back to where the loop of the trace begins, if it has a loop.
    pub loop_closes: bool,
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
    let abstracted = abstracted_parameters(model);
    let (levels, mut divergence) = follow(model, explorer, trace, &abstracted)?;
    // Backwards along the first path that got furthest.
    let (mut executed, mut states) = (Vec::new(), Vec::new());
    let mut at = 0;
    for (index, level) in levels.iter().enumerate().skip(1).rev() {
        let candidate = &level[at];
        let label = trace.steps[index - 1].label.clone();
        executed.push(Step { label, choice: Some(candidate.choice), ..Step::default() });
        states.push(candidate.state.clone());
        at = candidate.parent;
    }
    states.push(levels[0][0].state.clone());
    executed.reverse();
    states.reverse();
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
    let mut shown = Trace {
        model: info.name.clone(),
        fingerprint: info.fingerprint,
        steps: executed,
        // A loop that was not reached does not close.
        loop_start: trace.loop_start.filter(|_| divergence.is_none()),
        last_delay: None,
        stuck: Vec::new(),
        ..trace.clone()
    };
    describe(model, explorer, &mut shown, &states)?;
    if divergence.is_none() {
        divergence = first_difference(model, trace, &shown, &abstracted);
    }
    let loop_closes = trace.loop_start.is_none_or(|start| states.get(start) == states.last());
    let mut trace = shown;
    if deadlock {
        add_obstacles(model, &mut trace, &Objective::deadlock())?;
    }
    // A trace from elsewhere may be a run only of the abstraction, which has no times.
    let objective = trace.objective.parse::<Objective>().ok().filter(|_| divergence.is_none());
    let _ = add_times(model, &mut trace, objective.as_ref());
    add_participants(model, &mut trace)?;
    Ok(Replayed { trace, divergence, loop_closes, enabled, deadlock, error })
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
    model: &dyn Model,
    explorer: &mut dyn Explorer,
    trace: &Trace,
    abstracted: &[&str],
) -> Result<(Vec<Vec<Candidate>>, Option<Divergence>), StepError> {
    let info = model.info();
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut describer = Describer::of_states(info);
    let is_compared = |name: &str| !abstracted.contains(&name);
    let differs = trace
        .initial
        .as_ref()
        .and_then(|expected| difference(model, expected, &describer.state(explorer, &state), is_compared));
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
                let different = step.state.as_ref().and_then(|expected| {
                    difference(model, expected, &describer.state(explorer, target), is_compared)
                });
                match different {
                    Some(reason) => state_difference = Some(reason),
                    None if next.iter().any(|known| known.state == target) => {}
                    None => {
                        next.push(Candidate { parent, choice: choice as u32, state: target.to_vec() });
                        // The path that was recorded comes first.
                        if parent == 0 && step.choice == Some(choice as u32) {
                            let last = next.len() - 1;
                            next.swap(0, last);
                        }
                    }
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

/// The parameters of which the explored states show an abstraction only.
fn abstracted_parameters(model: &dyn Model) -> Vec<&str> {
    let abstracted = model.exact_states().map_or(Vec::new(), ExactStates::abstracted_parameters);
    abstracted.into_iter().map(|index| model.info().parameters[index].as_str()).collect()
}

/// The first state of a trace in which one of these parameters has another value than where the
/// trace was followed.
fn first_difference(
    model: &dyn Model,
    trace: &Trace,
    followed: &Trace,
    parameters: &[&str],
) -> Option<Divergence> {
    let is_compared = |name: &str| parameters.contains(&name);
    let states = |trace: &'_ Trace| -> Vec<Option<StateValues>> {
        let steps = trace.steps.iter().map(|step| step.state.clone());
        std::iter::once(trace.initial.clone()).chain(steps).collect()
    };
    let pairs = states(trace).into_iter().zip(states(followed)).enumerate();
    pairs.into_iter().find_map(|(step, (expected, found))| {
        let different = difference(model, &expected?, &found?, is_compared)?;
        let label = step.checked_sub(1).map(|step| trace.steps[step].label.as_str());
        let reason = match label {
            None => format!("the initial state differs: {different}"),
            Some(label) => format!("'{label}' leads to another state: {different}"),
        };
        Some(Divergence { step, reason })
    })
}

/// Describes the first value that differs among those that are compared; `None` if all agree.
fn difference(
    model: &dyn Model,
    expected: &StateValues,
    found: &StateValues,
    is_compared: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut compared = expected.iter().filter(|&(name, _)| is_compared(name));
    compared.find_map(|(name, value)| match found.get(name) {
        Some(other) if other == value || model.descriptions_agree(name, value, other) => None,
        Some(other) => Some(format!("{name} is {other}, the trace has {value}")),
        None => Some(format!("the model has no parameter {name}")),
    })
}
