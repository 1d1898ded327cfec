//! Confirms a witness before it is reported: it is executed again, and its objective judged again.

use turnpike_model::{
    Claim, Describer, Explorer, Model, ModelInfo, Step, StepError, StuckComponent, Successors, Trace,
};

use super::{Path, Witness};
use crate::error::SearchError;
use crate::objective::{Goal, HitKind, Monitor, Objective};
use crate::options::SearchOptions;

/// What a trace shows besides its labels.
#[derive(Clone, Copy, Default)]
pub(crate) struct TraceDetail {
    /// The values of its states.
    pub(crate) states: bool,
    /// Who takes part in its steps, as [`super::add_participants`] adds it.
    pub(crate) participants: bool,
}

/// Re-executes a witness on a fresh explorer, judges its objective again, and returns its trace.
pub(crate) fn confirm(
    model: &dyn Model,
    witness: &Witness,
    objective: &Objective,
    options: &SearchOptions,
    detail: TraceDetail,
) -> Result<Trace, SearchError> {
    let failed = |error: StepError| SearchError::Replay(error.message);
    // A new monitor and a new explorer judge the objective: they have seen nothing else.
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let info = model.info();
    let (mut trace, states) = follow(model, explorer, &witness.choices, detail).map_err(failed)?;
    trace.objective = objective.text().to_owned();
    trace.loop_start = witness.loop_start;
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
    let (internal, lookahead) = (&options.internal, options.lookahead);
    let mut monitor = Monitor::new(std::slice::from_ref(objective), internal, lookahead, explorer, info)?;
    let mut hits = Vec::new();
    monitor.examine_here(explorer, expanded, &mut hits).map_err(failed)?;
    // If the state alone meets the objective, its successors do not matter. Computing them could
    // fail for another reason.
    if witness.kind == HitKind::Here && !hits.is_empty() {
        return Ok(trace);
    }
    hits.clear();
    let mut successors = Successors::new(info.width);
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

/// Adds what keeps the components from going on to a trace that ends in a deadlock, if the model can
/// explain it.
pub(crate) fn add_obstacles(
    model: &dyn Model,
    trace: &mut Trace,
    objective: &Objective,
) -> Result<(), StepError> {
    let condition = match &objective.goal {
        Goal::Deadlock | Goal::AnyError => None,
        Goal::State(condition) => Some(condition.as_str()),
        // Runs of a formula may end where nothing can happen.
        Goal::Accepting(sets) if sets.len() == 1 => Some(sets[0].as_str()),
        _ => return Ok(()),
    };
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    if explorer.obstacles().is_none() {
        return Ok(());
    }
    let states = match exact_states(model, trace)? {
        Some(states) => states,
        None => Path::Choices(choices_of(trace)).into_states(explorer)?,
    };
    trace.stuck = stuck_components(explorer, &states[states.len() - 1], condition)?;
    Ok(())
}

/// What keeps the components from going on in a state, if it is a deadlock or meets a condition that
/// asks for one.
pub(super) fn stuck_components(
    explorer: &mut dyn Explorer,
    state: &[u32],
    condition: Option<&str>,
) -> Result<Vec<StuckComponent>, StepError> {
    if condition.is_none() {
        let mut successors = Successors::new(state.len());
        explorer.successors(state, &mut successors)?;
        if !explorer.is_deadlock(state, &successors) {
            return Ok(Vec::new());
        }
    }
    explorer.obstacles().map_or(Ok(Vec::new()), |obstacles| obstacles.stuck_components(state, condition))
}

/// The choices that a trace recorded.
pub(crate) fn choices_of(trace: &Trace) -> Vec<u32> {
    trace.steps.iter().filter_map(|step| step.choice).collect()
}

/// Whether the end of these states, from `loop_start` on, is a cycle that is accepting.
pub(super) fn is_accepting(
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

/// Whether a witness is a real run. Only models whose states show more than their runs need to
/// confirm it.
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

/// Adds the times of its steps to a trace with choices, if the model has time.
pub(crate) fn add_times(
    model: &dyn Model,
    trace: &mut Trace,
    objective: Option<&Objective>,
) -> Result<(), StepError> {
    let choices = choices_of(trace);
    let target = objective.and_then(|objective| match &objective.goal {
        Goal::State(condition) => Some(condition.as_str()),
        _ => None,
    });
    if let Some(timing) = model.timing() {
        trace.set_times(timing.schedule(&choices, target)?);
    }
    Ok(())
}

/// The trace that these choices make from the initial state, with the values of its states if
/// wanted.
pub(crate) fn trace_of(model: &dyn Model, choices: &[u32], states: bool) -> Result<Trace, StepError> {
    let detail = TraceDetail { states, participants: false };
    follow(model, &mut *model.explorer(), choices, detail).map(|(trace, _)| trace)
}

/// The trace that these choices make from the initial state, and its states. What the trace shows of
/// them is exact.
fn follow(
    model: &dyn Model,
    explorer: &mut dyn Explorer,
    choices: &[u32],
    detail: TraceDetail,
) -> Result<(Trace, Vec<Vec<u32>>), StepError> {
    let info = model.info();
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut trace = Trace { model: info.name.clone(), fingerprint: info.fingerprint, ..Trace::default() };
    let mut states = Vec::with_capacity(choices.len() + 1);
    let mut successors = Successors::new(info.width);
    if detail.participants
        && let Some(participants) = explorer.participants()
    {
        trace.components = participants.components();
    }
    for &choice in choices {
        let parts = match explorer.participants().filter(|_| detail.participants) {
            Some(participants) => Some(participants.participants(&state, choice as usize)?),
            None => None,
        };
        explorer.successors_up_to(&state, choice as usize, &mut successors)?;
        if choice as usize >= successors.len() {
            return Err(StepError::new(format!(
                "choice {choice} of step {} is not enabled",
                trace.len() + 1
            )));
        }
        let label = explorer.label(successors.label(choice as usize)).text;
        trace.steps.push(Step { label, choice: Some(choice), parts, ..Step::default() });
        let next = successors.state(choice as usize).to_vec();
        states.push(std::mem::replace(&mut state, next));
    }
    states.push(state);
    if detail.states {
        describe(model, explorer, &mut trace, &states)?;
    }
    Ok((trace, states))
}

/// Adds the values of its states to a trace with choices, exactly.
pub(super) fn describe(
    model: &dyn Model,
    explorer: &mut dyn Explorer,
    trace: &mut Trace,
    states: &[Vec<u32>],
) -> Result<(), StepError> {
    let exact = exact_states(model, trace)?;
    let mut describer = Describer::of_states(model.info());
    let mut values = exact.as_deref().unwrap_or(states).iter().map(|state| describer.state(explorer, state));
    trace.initial = values.next();
    for (step, values) in trace.steps.iter_mut().zip(values) {
        step.state = Some(values);
    }
    Ok(())
}

/// The states along a trace with choices as people should see them, where they are not those that
/// were explored.
fn exact_states(model: &dyn Model, trace: &Trace) -> Result<Option<Vec<Vec<u32>>>, StepError> {
    model.exact_states().map_or(Ok(None), |exact| exact.states_along(&choices_of(trace)))
}
