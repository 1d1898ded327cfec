use turnpike_search::{Goal, Objective};
use turnpike_timed::liveness::Formula;

/// What a model is prepared for. Zones of timed automata depend on it: they must be fine enough to
/// decide it.
#[derive(Clone, Debug, Default)]
pub struct Purpose {
    /// Conditions on states.
    pub conditions: Vec<String>,
    /// Texts that are conditions or lists of labels.
    pub doubtful: Vec<String>,
    /// Whether deadlocks are looked for.
    pub deadlock: bool,
    /// A formula about whole runs: it has a model of its own.
    pub runs: Option<String>,
    /// Whether cycles are looked for.
    pub cycles: bool,
    /// Whether only cycles count along which time passes all bounds.
    pub non_zeno: bool,
    /// Whether people look at every state, so that zones must be exact: the space need not be finite.
    pub exact: bool,
}

impl Purpose {
    /// The conditions and queries that it asks for.
    pub(crate) fn questions(&self) -> Vec<&str> {
        let runs = self.runs.as_deref().map(Formula::question);
        self.conditions.iter().chain(&self.doubtful).map(String::as_str).chain(runs).collect()
    }

    /// What these objectives ask.
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
