//! A schedule is executed once more, from nothing but its positions, before anybody sees it.

use turnpike_model::scheduler::{Detail, End, Execution, Plan, Policy};
use turnpike_model::{Model, Step, Trace};

use super::super::Witness;
use crate::error::SearchError;
use crate::objective::{Judge, Objective};
use crate::strategy::execute;

/// Whether an execution alone tells that the objective is met.
pub(crate) fn tells(objective: &Objective) -> bool {
    Judge::new(std::slice::from_ref(objective)).is_ok()
}

/// Executes a witness on a fresh explorer, strictly, and writes it down.
pub(crate) fn confirm_schedule(
    model: &dyn Model,
    base: Plan<'_>,
    witness: &Witness,
    objective: &Objective,
) -> Result<(Trace, Execution), SearchError> {
    let mut explorer = model.explorer();
    let explorer = &mut *explorer;
    let mut execution = Execution::default();
    let plan = Plan { prefix: &witness.choices, policy: Policy::Continue, detail: Detail::Full, ..base };
    execute(explorer, &plan, &mut execution).map_err(SearchError::from_replay_failure)?;
    if let End::Diverged(step) = execution.end {
        let step = step + 1;
        return Err(SearchError::Nondeterministic(format!(
            "step {step} of the schedule that was found cannot be taken again"
        )));
    }
    let judge = Judge::new(std::slice::from_ref(objective))?;
    let met = judge.hits(explorer, &execution).iter().any(|hit| hit.steps <= witness.len());
    if !met {
        return Err(SearchError::Nondeterministic(format!(
            "the schedule that was found does not show '{objective}' again, it ends otherwise: {}",
            words(&execution.end)
        )));
    }
    let info = model.info();
    let mut trace = Trace {
        model: info.name.clone(),
        fingerprint: info.fingerprint,
        objective: objective.text().to_owned(),
        ..Trace::default()
    };
    for (index, &choice) in witness.choices.iter().enumerate() {
        let label = explorer.step_label(&execution, index).text;
        trace.steps.push(Step { label, choice: Some(choice), ..Step::default() });
    }
    Ok((trace, execution))
}

/// The end of an execution in words.
pub(crate) fn words(end: &End) -> String {
    match end {
        End::Finished => "all threads ended".into(),
        End::Deadlock => "deadlock".into(),
        End::Livelock => "livelock: all threads spin".into(),
        End::Failed(failure) => failure.message.clone(),
        End::StepLimit => "the limit on steps was reached".into(),
        End::Stopped => "stopped".into(),
        End::Asleep => "others stand for what follows".into(),
        End::Diverged(step) => format!("step {} is not possible", step + 1),
        End::Hung => "a thread does nothing visible for too long".into(),
    }
}
