//! Re-execution: of a witness before it is reported, and of a trace file on a model.

use turnpike_model::{Claim, Explorer, Model, ModelInfo, StateValues, Step, StepError, Successors, Trace};

use super::{Path, Witness};
use crate::error::SearchError;
use crate::objective::{Goal, HitKind, Monitor, Objective};
use crate::options::SearchOptions;

/// Names and values of a state.
pub(crate) fn values(explorer: &mut dyn Explorer, names: &[String], state: &[u32]) -> StateValues {
    let mut texts = Vec::new();
    explorer.state_values(state, &mut texts);
    names.iter().cloned().zip(texts).collect()
}

/// Re-executes a witness on a fresh explorer, checks that it shows what it claims, and writes it down.
pub(crate) fn confirm(
    model: &dyn Model,
    witness: &Witness,
    objective: &Objective,
    options: &SearchOptions,
    with_states: bool,
) -> Result<Trace, SearchError> {
    let failed = |error: StepError| SearchError::Replay(error.message);
    let trace = Trace {
        objective: objective.text().to_owned(),
        loop_start: witness.loop_start,
        ..trace_of(model, &witness.choices, with_states).map_err(failed)?
    };
    let info = model.info();
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let states = Path::Choices(witness.choices.clone()).into_states(explorer).map_err(failed)?;
    if witness.loop_start.is_some_and(|anchor| states.get(anchor) != states.last()) {
        return Err(SearchError::Replay("the loop does not close".into()));
    }
    let expanded = &states[witness.stem];
    if objective.is_accepting() {
        let accepted =
            is_accepting(explorer, info, objective, &states, witness.loop_start).map_err(failed)?;
        return accepted
            .then_some(trace)
            .ok_or_else(|| SearchError::Replay("the loop is not accepting".into()));
    }
    let mut successors = Successors::new(info.width);
    // The objective is judged afresh: by a monitor and an explorer that have seen nothing else.
    let (internal, lookahead) = (&options.internal, options.lookahead);
    let mut monitor = Monitor::new(std::slice::from_ref(objective), internal, lookahead, explorer, info)?;
    let mut hits = Vec::new();
    monitor.examine_here(explorer, expanded, &mut hits).map_err(failed)?;
    // A state that is what was looked for by itself needs no successors, which may be wrong in their own right.
    if witness.kind == HitKind::Here && !hits.is_empty() {
        return Ok(trace);
    }
    hits.clear();
    explorer.successors(expanded, &mut successors).map_err(failed)?;
    monitor.examine(explorer, expanded, &successors, &mut hits).map_err(failed)?;
    let met = hits.iter().any(|hit| match (&hit.kind, &witness.kind) {
        (HitKind::Lasso { .. }, HitKind::Lasso { .. }) => true,
        (one, other) => one == other,
    });
    if !met {
        return Err(SearchError::Replay(format!("the last step does not meet '{objective}'")));
    }
    Ok(trace)
}

/// Whether the end of these states, from `loop_start` on, is a cycle that is accepting.
fn is_accepting(
    explorer: &mut dyn Explorer,
    info: &ModelInfo,
    objective: &Objective,
    states: &[Vec<u32>],
    loop_start: Option<usize>,
) -> Result<bool, StepError> {
    let Some(cycle) = loop_start.and_then(|start| states.get(start..states.len() - 1)) else {
        return Ok(false);
    };
    let monitor = Monitor::new(std::slice::from_ref(objective), &[], false, explorer, info)
        .map_err(|diagnostic| StepError::new(diagnostic.message))?;
    Ok(cycle.first() == states.last() && monitor.accepts(explorer, cycle)?)
}

/// Whether a witness is a run of the model: those of models that show more than there is have to be confirmed.
pub(crate) fn is_real(
    model: &dyn Model,
    witness: &Witness,
    objective: &Objective,
) -> Result<bool, StepError> {
    let Some(approximation) = model.approximation() else { return Ok(true) };
    let claim = match &objective.goal {
        _ if witness.loop_start.is_some() => Claim::Repeats,
        Goal::State(condition) => Claim::Reaches(Some(condition)),
        Goal::Action(_) | Goal::Label(_) | Goal::Cover(_) => Claim::Reaches(None),
        Goal::Livelock | Goal::Accepting(_) => Claim::Repeats,
        Goal::Deadlock
        | Goal::Nondeterminism
        | Goal::Violation(_)
        | Goal::AnyError
        | Goal::Extreme { .. } => Claim::Stuck,
    };
    approximation.confirms(&witness.choices, claim)
}

/// Writes down when the steps of a trace, with all its choices, are taken, if the model knows time.
pub(crate) fn tell_times(
    model: &dyn Model,
    trace: &mut Trace,
    objective: Option<&Objective>,
) -> Result<(), StepError> {
    let choices: Vec<u32> = trace.steps.iter().filter_map(|step| step.choice).collect();
    let target = objective.and_then(|objective| match &objective.goal {
        Goal::State(condition) => Some(condition.as_str()),
        _ => None,
    });
    if let Some(timing) = model.timing() {
        trace.set_times(timing.schedule(&choices, target)?);
    }
    Ok(())
}

/// The trace that these choices make from the initial state, with the values of its states if wanted.
pub(crate) fn trace_of(model: &dyn Model, choices: &[u32], with_states: bool) -> Result<Trace, StepError> {
    let info = model.info();
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut trace = Trace { model: info.name.clone(), fingerprint: info.fingerprint, ..Trace::default() };
    trace.initial = with_states.then(|| values(explorer, &info.parameters, &state));
    let mut successors = Successors::new(info.width);
    for &choice in choices {
        explorer.successors(&state, &mut successors)?;
        if choice as usize >= successors.len() {
            return Err(StepError::new(format!(
                "choice {choice} of step {} is not enabled",
                trace.len() + 1
            )));
        }
        state.clear();
        state.extend_from_slice(successors.state(choice as usize));
        trace.steps.push(Step {
            label: explorer.label(successors.label(choice as usize)).text,
            choice: Some(choice),
            state: with_states.then(|| values(explorer, &info.parameters, &state)),
            ..Step::default()
        });
    }
    Ok(trace)
}

/// A trace, re-executed as far as it goes.
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
    /// Why the model cannot go on from the last state reached, if going on is an error of the model.
    pub error: Option<String>,
}

/// Where a trace and a model part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step, from 1.
    pub step: usize,
    /// What is different.
    pub reason: String,
}

/// Re-executes a trace on a model by its labels, and by its states where it has them.
///
/// A trace of labels alone may fit several paths of a nondeterministic model: all of them are followed together, and
/// the first that fits to the end is told.
pub fn replay(model: &dyn Model, trace: &Trace) -> Result<Replayed, StepError> {
    let info = model.info();
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let mut initial = Vec::new();
    explorer.initial(&mut initial)?;
    // All ways to follow the trace so far: levels of (parent index, choice, state).
    let mut levels: Vec<Vec<(usize, u32, Vec<u32>)>> = vec![vec![(0, 0, initial)]];
    let mut divergence = None;
    let mut successors = Successors::new(info.width);
    if let Some(expected) = &trace.initial
        && let Some(reason) = difference(expected, &values(explorer, &info.parameters, &levels[0][0].2))
    {
        divergence = Some(Divergence { step: 0, reason: format!("the initial state differs: {reason}") });
    }
    let steps = if divergence.is_some() { &[][..] } else { &trace.steps[..] };
    for (index, step) in steps.iter().enumerate() {
        let mut next: Vec<(usize, u32, Vec<u32>)> = Vec::new();
        let (mut with_label, mut state_difference) = (false, None);
        for (parent, (_, _, state)) in levels[index].iter().enumerate() {
            explorer.successors(state, &mut successors)?;
            for choice in 0..successors.len() {
                if explorer.label(successors.label(choice)).text != step.label {
                    continue;
                }
                with_label = true;
                let target = successors.state(choice);
                let different = step
                    .state
                    .as_ref()
                    .and_then(|expected| difference(expected, &values(explorer, &info.parameters, target)));
                match different {
                    Some(reason) => state_difference = Some(reason),
                    None if next.iter().any(|(_, _, known)| known == target) => {}
                    None => next.push((parent, choice as u32, target.to_vec())),
                }
            }
        }
        if next.is_empty() {
            let reason = match state_difference {
                Some(reason) => format!("'{}' leads to another state: {reason}", step.label),
                None if with_label => unreachable!("a transition with the label leads somewhere"),
                None => format!("'{}' is not enabled", step.label),
            };
            divergence = Some(Divergence { step: index + 1, reason });
            break;
        }
        levels.push(next);
    }
    // Told backwards along the first way that got furthest.
    let mut executed = Vec::new();
    let mut at = 0;
    for (index, level) in levels.iter().enumerate().skip(1).rev() {
        let (parent, choice, state) = &level[at];
        let state = values(explorer, &info.parameters, state);
        executed.push(Step {
            label: trace.steps[index - 1].label.clone(),
            choice: Some(*choice),
            state: Some(state),
            ..Step::default()
        });
        at = *parent;
    }
    executed.reverse();
    let last = &levels[levels.len() - 1][0].2;
    let (mut deadlock, mut enabled, mut error) = (false, Vec::new(), None);
    match explorer.successors(last, &mut successors) {
        Ok(()) => {
            deadlock = explorer.is_deadlock(last, &successors);
            enabled.extend((0..successors.len()).map(|index| explorer.label(successors.label(index)).text));
        }
        Err(failure) => error = Some(failure.message),
    }
    let initial = Some(values(explorer, &info.parameters, &levels[0][0].2));
    let mut trace = Trace {
        model: info.name.clone(),
        fingerprint: info.fingerprint,
        initial,
        steps: executed,
        // A loop that was not reached does not close.
        loop_start: trace.loop_start.filter(|_| divergence.is_none()),
        last_delay: None,
        ..trace.clone()
    };
    // A trace from elsewhere may be a run only of the abstraction: then there are no times to tell.
    let objective = trace.objective.parse::<Objective>().ok().filter(|_| divergence.is_none());
    let _ = tell_times(model, &mut trace, objective.as_ref());
    Ok(Replayed { trace, divergence, enabled, deadlock, error })
}

/// Whether a trace that was replayed to its end meets an objective there, judged afresh: on its last transition, in its
/// last state, or by its loop. `None` for what is only measured. `internal` names the actions that count as internal.
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
    let choices: Vec<u32> = replayed.trace.steps.iter().filter_map(|step| step.choice).collect();
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
    // What the last state leads to is only looked at when nothing else decides: it may be an error of the model.
    hits.clear();
    explorer.successors(last, &mut successors).map_err(failed)?;
    monitor.examine(explorer, last, &successors, &mut hits).map_err(failed)?;
    Ok(Some(hits.iter().any(|hit| hit.kind == HitKind::Here)))
}

/// The first value that differs, told; `None` when all agree.
fn difference(expected: &StateValues, found: &StateValues) -> Option<String> {
    expected.iter().find_map(|(name, value)| match found.get(name) {
        Some(other) if other == value => None,
        Some(other) => Some(format!("{name} is {other}, the trace has {value}")),
        None => Some(format!("the model has no parameter {name}")),
    })
}
