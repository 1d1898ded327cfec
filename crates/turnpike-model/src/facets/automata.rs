//! The automata of a system, for display.

use crate::system::StepError;

/// Describes a system as a network of automata.
///
/// **Contract.** Automata have the names and the order of the components of
/// [`Participants`](super::Participants). A transition takes at most one edge of each.
pub trait Automata {
    /// The automata.
    fn automata(&self) -> Vec<Automaton>;

    /// The location of each automaton in `state`; empty for a virtual root.
    fn locations(&mut self, state: &[u32]) -> Vec<u32>;

    /// The edges of each of the first transitions of `state`, at most `most` of them.
    fn edges(&mut self, state: &[u32], most: usize) -> Result<Vec<Vec<EdgeTaken>>, StepError>;
}

/// One of the automata of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Automaton {
    /// Its name: `Train(2)`.
    pub name: String,
    /// Its locations.
    pub locations: Vec<AutomatonLocation>,
    /// The possible initial locations.
    pub initial: Vec<u32>,
    /// Its edges as in the model: an edge with several choices is one edge.
    pub edges: Vec<AutomatonEdge>,
}

/// A location of an automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomatonLocation {
    /// Its name.
    pub name: String,
    /// The condition that must hold there; may be empty.
    pub invariant: String,
    /// Whether it must be left before time passes.
    pub haste: Haste,
}

/// Whether a location must be left before time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Haste {
    /// Time may pass.
    #[default]
    None,
    /// No time passes.
    Urgent,
    /// No time passes, and the next transition must leave such a location.
    Committed,
}

/// An edge of an automaton, as in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomatonEdge {
    /// The source location.
    pub from: u32,
    /// The target location.
    pub to: u32,
    /// The condition for taking it; may be empty.
    pub guard: String,
    /// The synchronisation, such as `go!`; empty if it is taken alone.
    pub action: String,
    /// The assignments; may be empty.
    pub update: String,
    /// The number of choices that it has. Texts are those of the first one.
    pub choices: u32,
}

/// An edge of one of the automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeTaken {
    /// The position of the automaton.
    pub automaton: u32,
    /// The position of the edge among those of the automaton.
    pub edge: u32,
}
