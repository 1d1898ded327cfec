use turnpike_search::{Goal, Objective};
use turnpike_timed::liveness::Formula;

/// The purpose that a model is prepared for. The zones of timed automata must be fine enough for
/// it.
#[derive(Clone, Debug, Default)]
pub struct Purpose {
    /// Conditions on states.
    pub conditions: Vec<String>,
    /// Texts that are conditions or lists of labels.
    pub doubtful: Vec<String>,
    /// Whether deadlocks are searched for.
    pub deadlock: bool,
    /// A formula about whole runs, which needs a model of its own.
    pub runs: Option<String>,
    /// Whether cycles are searched for.
    pub cycles: bool,
    /// Whether only cycles count along which time diverges.
    pub non_zeno: bool,
    /// Whether users inspect every state, so that zones must be exact. The state space may then be
    /// infinite.
    pub exact: bool,
}

impl Purpose {
    /// The conditions and queries.
    pub(crate) fn questions(&self) -> Vec<&str> {
        let runs = self.runs.as_deref().map(Formula::question);
        self.conditions.iter().chain(&self.doubtful).map(String::as_str).chain(runs).collect()
    }

    /// The purpose of these objectives.
    pub fn of(objectives: &[Objective]) -> Self {
        let mut purpose = Purpose::default();
        for objective in objectives {
            purpose.cycles |= objective.is_accepting();
            match objective.goal() {
                Goal::State(condition) => purpose.conditions.push(condition.clone()),
                Goal::Accepting(sets) => match &sets[..] {
                    [formula] if Formula::is_one(formula) => purpose.runs = Some(formula.clone()),
                    sets => purpose.doubtful.extend_from_slice(sets),
                },
                Goal::Deadlock | Goal::AnyError => purpose.deadlock = true,
                _ => {}
            }
        }
        purpose
    }
}
