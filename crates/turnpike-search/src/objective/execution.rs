//! Objectives on whole executions of a program: how it ended, what happened on the way, and the
//! labels of its steps.

use turnpike_model::paths::{PathEnd, Paths};
use turnpike_model::{Diagnostic, Label};

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
                Goal::Deadlock => deadlock.then_some(end),
                Goal::AnyError if deadlock => Some(end),
                Goal::AnyError | Goal::Livelock | Goal::Violation(_) => {
                    let kinds = objective.violation_kinds();
                    shown.iter().any(|kind| kinds.contains(kind)).then_some(end)
                }
                Goal::Action(names) => {
                    first_step(paths, |label| names.iter().any(|name| label.has_action(name)))
                }
                Goal::Label(pattern) => first_step(paths, |label| pattern.matches(&label.text)),
                _ => None,
            };
            hits.extend(met.map(|steps| ExecutionHit { objective: index, steps }));
        }
        hits
    }
}

/// How many steps it takes until a label is as wanted.
fn first_step(paths: &mut dyn Paths, wanted: impl Fn(&Label) -> bool) -> Option<usize> {
    (0..paths.len()).find(|&step| wanted(&paths.label(step))).map(|at| at + 1)
}
