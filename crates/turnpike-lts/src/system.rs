//! Explicit transition systems in memory.

use turnpike_model::{Diagnostic, LabelId};

use crate::aut::AutHeader;
use crate::outgoing::Outgoing;

/// One transition of an explicit system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Transition {
    /// Source state.
    pub from: u32,
    /// Index into [`Lts::labels`].
    pub label: LabelId,
    /// Target state.
    pub to: u32,
}

/// A transition system in memory. States are `0..states`; transitions are in any order and may
/// repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lts {
    /// The initial state.
    pub initial: u32,
    /// The number of states, at least 1.
    pub states: u32,
    /// The distinct label texts. The internal action is `tau`.
    pub labels: Vec<String>,
    /// The transitions, in file order.
    pub transitions: Vec<Transition>,
}

impl Lts {
    /// The text of a label.
    ///
    /// # Panics
    /// If `id` is not a label of this system.
    pub fn label(&self, id: LabelId) -> &str {
        &self.labels[id.index()]
    }

    /// The transitions by source state, in file order within one state.
    pub fn outgoing(&self) -> Outgoing {
        Outgoing::new(self)
    }

    /// The number of states without outgoing transitions, including unreachable ones.
    pub fn deadlocks(&self) -> u32 {
        let mut sources: Vec<u32> = self.transitions.iter().map(|transition| transition.from).collect();
        // Generated files are grouped by source, so this usually leaves little to sort.
        sources.dedup();
        sources.sort_unstable();
        sources.dedup();
        // There are at most `states` distinct sources, so the length fits.
        self.states.saturating_sub(sources.len() as u32)
    }

    /// The header of this system as an `.aut` file.
    pub fn header(&self) -> AutHeader {
        AutHeader { initial: self.initial, transitions: self.transitions.len() as u64, states: self.states }
    }

    /// Checks that the initial state, all transitions and all label ids are in range. This holds
    /// for systems from a reader, but not always for those built by hand.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.states == 0 {
            return Err(no_states());
        }
        if self.initial >= self.states {
            return Err(out_of_range("the initial state", self.initial, self.states));
        }
        for transition in &self.transitions {
            if transition.from.max(transition.to) >= self.states {
                let (role, state) = if transition.from >= self.states {
                    ("the source state", transition.from)
                } else {
                    ("the target state", transition.to)
                };
                return Err(out_of_range(role, state, self.states));
            }
            if transition.label.index() >= self.labels.len() {
                return Err(Diagnostic::error(format!(
                    "a transition has label {}, but there are only {} labels",
                    transition.label.0,
                    self.labels.len()
                )));
            }
        }
        Ok(())
    }
}

pub(crate) fn no_states() -> Diagnostic {
    Diagnostic::error("a transition system needs at least one state, the initial one")
        .help("the third number of the header is the number of states; it must be 1 or more")
}

pub(crate) fn out_of_range(role: &str, state: u32, states: u32) -> Diagnostic {
    let message = if states == 1 {
        format!("{role} is {state}, but the only state is 0")
    } else {
        format!("{role} is {state}, but the states are 0 to {}", states.saturating_sub(1))
    };
    Diagnostic::error(message)
        .help("states are numbered from 0; the third number of the header says how many there are")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_deadlocks() {
        let step = |from, to| Transition { from, label: LabelId(0), to };
        let lts = Lts {
            initial: 0,
            states: 5,
            labels: vec!["a".to_owned()],
            transitions: vec![step(2, 0), step(0, 1), step(2, 1), step(0, 2)],
        };
        assert_eq!(lts.deadlocks(), 3);
        assert_eq!(lts.check(), Ok(()));
        assert_eq!(lts.label(LabelId(0)), "a");
    }

    #[test]
    fn checks_systems_from_fields() {
        let good = Lts {
            initial: 0,
            states: 2,
            labels: vec!["a".to_owned()],
            transitions: vec![Transition { from: 0, label: LabelId(0), to: 1 }],
        };
        let broken = |edit: fn(&mut Lts)| {
            let mut lts = good.clone();
            edit(&mut lts);
            lts.check().expect_err("must be refused").message
        };
        assert!(broken(|lts| lts.states = 0).contains("at least one state"));
        assert!(broken(|lts| lts.initial = 2).contains("the initial state is 2, but the states are 0 to 1"));
        assert!(broken(|lts| lts.transitions[0].from = 7).contains("the source state is 7"));
        assert!(broken(|lts| lts.states = 1).contains("the target state is 1, but the only state is 0"));
        assert!(broken(|lts| lts.labels.clear()).contains("only 0 labels"));
    }
}
