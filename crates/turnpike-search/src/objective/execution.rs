//! Judges whole paths: how they ended, which errors they show, and the labels of their steps.
//!
//! What meets an objective is defined once, by [`Objective`]; the monitor of states asks the same.

use turnpike_model::Diagnostic;
use turnpike_model::paths::{PathEnd, Paths};

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
    /// Refuses objectives that are not about whole paths.
    pub(crate) fn new(objectives: &[Objective]) -> Result<Self, Diagnostic> {
        for objective in objectives {
            let judged = matches!(
                objective.goal,
                Goal::Deadlock
                    | Goal::Livelock
                    | Goal::AnyError
                    | Goal::Violation(_)
                    | Goal::Action(_)
                    | Goal::Label(_)
            );
            if !judged {
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

    /// The signatures of the errors that meet an objective.
    pub(crate) fn signatures(&self, paths: &mut dyn Paths) -> Vec<String> {
        let mut signatures = paths.signatures();
        signatures.retain(|one| self.objectives.iter().any(|objective| objective.is_met_by_signature(one)));
        signatures
    }

    /// The objectives that an execution meets, in their order.
    pub(crate) fn hits(&self, paths: &mut dyn Paths) -> Vec<ExecutionHit> {
        let mut hits = Vec::new();
        if !self.labels && paths.is_quiet() {
            return hits;
        }
        let end = paths.len();
        let deadlock = paths.end() == PathEnd::Deadlock;
        let shown = paths.violations();
        for (index, objective) in self.objectives.iter().enumerate() {
            let met = match &objective.goal {
                Goal::Action(_) | Goal::Label(_) => {
                    let met_at = (0..end).find(|&step| objective.is_met_by_label(&paths.label(step)));
                    met_at.map(|step| step + 1)
                }
                _ => {
                    let fails = deadlock && objective.is_met_by_deadlock()
                        || shown.iter().any(|&kind| objective.is_met_by_violation(kind));
                    fails.then_some(end)
                }
            };
            hits.extend(met.map(|steps| ExecutionHit { objective: index, steps }));
        }
        hits
    }
}
