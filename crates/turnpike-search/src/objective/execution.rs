//! Objectives that an execution of a program meets: its end, what was found on the way, and the labels of its steps.

use turnpike_model::scheduler::{End, Execution, Finding};
use turnpike_model::{Diagnostic, Explorer, ViolationKind};

use super::{Goal, Objective};

/// An objective that an execution meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutionHit {
    /// Index of the objective.
    pub(crate) objective: usize,
    /// Steps after which it is met.
    pub(crate) steps: usize,
}

/// The objectives of a search on programs.
pub(crate) struct Judge {
    objectives: Vec<Objective>,
    labels: bool,
}

impl Judge {
    /// Refuses objectives about which an execution tells nothing.
    pub(crate) fn new(objectives: &[Objective]) -> Result<Self, Diagnostic> {
        for objective in objectives {
            let told = matches!(
                objective.goal,
                Goal::Deadlock
                    | Goal::Livelock
                    | Goal::AnyError
                    | Goal::Violation(_)
                    | Goal::Action(_)
                    | Goal::Label(_)
            );
            if !told {
                return Err(Diagnostic::error(format!(
                    "'{objective}' is about states or sets of states, but this strategy looks at executions"
                ))
                .help("bfs, dfs, rdfs, highway and drs look at states"));
            }
        }
        let labels = objectives.iter().any(|one| matches!(one.goal, Goal::Action(_) | Goal::Label(_)));
        Ok(Judge { objectives: objectives.to_vec(), labels })
    }

    /// Whether labels of steps matter: executions must be recorded with full detail.
    pub(crate) fn needs_labels(&self) -> bool {
        self.labels
    }

    /// The objectives that an execution meets, in their order.
    pub(crate) fn hits(&self, explorer: &mut dyn Explorer, execution: &Execution) -> Vec<ExecutionHit> {
        let mut hits = Vec::new();
        if !self.labels && is_quiet(execution) {
            return hits;
        }
        let end = execution.steps.len();
        for (index, objective) in self.objectives.iter().enumerate() {
            let met = match &objective.goal {
                Goal::Deadlock => (execution.end == End::Deadlock).then_some(end),
                Goal::AnyError if execution.end == End::Deadlock => Some(end),
                Goal::AnyError | Goal::Livelock | Goal::Violation(_) => {
                    let kinds = objective.violation_kinds();
                    let shown = shown_by(execution);
                    let found = execution.findings.iter().filter_map(kind_of_finding);
                    shown.into_iter().chain(found).any(|kind| kinds.contains(&kind)).then_some(end)
                }
                Goal::Action(names) => {
                    first_step(explorer, execution, |label| names.iter().any(|name| label.has_action(name)))
                }
                Goal::Label(pattern) => first_step(explorer, execution, |label| pattern.matches(&label.text)),
                _ => None,
            };
            hits.extend(met.map(|steps| ExecutionHit { objective: index, steps }));
        }
        hits
    }
}

/// Nothing went wrong, nothing was found: what most executions are like.
fn is_quiet(execution: &Execution) -> bool {
    execution.findings.is_empty()
        && matches!(
            execution.end,
            End::Finished | End::StepLimit | End::Stopped | End::Asleep | End::Diverged(_)
        )
}

/// The error that the end of an execution is.
fn shown_by(execution: &Execution) -> Option<ViolationKind> {
    match &execution.end {
        End::Failed(failure) => Some(failure.kind.into()),
        End::Livelock => Some(ViolationKind::Livelock),
        End::Hung => Some(ViolationKind::Hang),
        _ => None,
    }
}

fn kind_of_finding(finding: &Finding) -> Option<ViolationKind> {
    match finding {
        Finding::Race { .. } => Some(ViolationKind::Race),
        Finding::Leak(_) => Some(ViolationKind::Leak),
        Finding::Uncontrolled(_) => None,
    }
}

/// How many steps it takes until a label is as wanted.
fn first_step(
    explorer: &mut dyn Explorer,
    execution: &Execution,
    wanted: impl Fn(&turnpike_model::Label) -> bool,
) -> Option<usize> {
    (0..execution.steps.len()).find(|&index| wanted(&explorer.step_label(execution, index))).map(|at| at + 1)
}
