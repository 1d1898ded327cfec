//! Explicit transition systems.

use crate::label::LabelId;

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

/// A transition system in memory: states are `0..states`, transitions in any order, duplicates allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lts {
    /// The initial state.
    pub initial: u32,
    /// Number of states, at least 1.
    pub states: u32,
    /// Distinct label texts; the internal action is `tau`.
    pub labels: Vec<String>,
    /// The transitions, in file order.
    pub transitions: Vec<Transition>,
}
