//! Adds to a trace who takes part in its steps.

use turnpike_model::paths::{Chooser, Detail, Paths, Request};
use turnpike_model::{Model, StepError, Successors, Trace};

/// Adds the components of a system, and who takes part in each step, to a trace with choices. Leaves
/// traces of systems without components as they are.
pub fn add_participants(model: &dyn Model, trace: &mut Trace) -> Result<(), StepError> {
    let choices: Vec<u32> = trace.steps.iter().map_while(|step| step.choice).collect();
    if choices.len() < trace.len() {
        return Err(StepError::new("the trace does not say which transitions its steps are"));
    }
    if let Some(mut paths) = model.paths() {
        let max_steps = paths.info().max_steps.max(choices.len() as u32);
        let detail = Detail::Full;
        let chooser = Chooser::Continue;
        paths.follow(&Request { prefix: &choices, chooser, max_steps, detail, reduced: true })?;
        add_from_path(&*paths, trace);
        return Ok(());
    }
    let mut explorer = model.explorer();
    let Some(participants) = explorer.participants() else { return Ok(()) };
    let components = participants.components();
    let mut successors = Successors::new(model.info().width);
    let mut state = Vec::new();
    explorer.initial(&mut state)?;
    let mut all = Vec::with_capacity(choices.len());
    for &choice in &choices {
        let position = choice as usize;
        if let Some(participants) = explorer.participants() {
            all.push(participants.participants(&state, position)?);
        }
        explorer.successors_up_to(&state, position, &mut successors)?;
        if position >= successors.len() {
            return Err(StepError::new(format!("choice {choice} of step {} is not enabled", all.len())));
        }
        state.clear();
        state.extend_from_slice(successors.state(position));
    }
    trace.components = components;
    for (step, parts) in trace.steps.iter_mut().zip(all) {
        step.parts = Some(parts);
    }
    Ok(())
}

/// Adds who takes part in the steps of a path that was followed with full detail.
pub(super) fn add_from_path(paths: &dyn Paths, trace: &mut Trace) {
    let Some((components, all)) = paths.participants() else { return };
    trace.components = components;
    for (step, parts) in trace.steps.iter_mut().zip(all) {
        step.parts = Some(parts);
    }
}
