use std::sync::Arc;

use crate::facets::{
    Approximation, Automata, BareLabels, Concrete, Covering, Delays, ExactStates, MeasureInfo, Measures,
    Obstacles, Participants, PortableStates, Predicates, SourcePlaces, StateLabels, Timing, ViolationKind,
    Violations, Vocabulary,
};
use crate::hash;
use crate::label::{Label, LabelId};
use crate::paths::Paths;
use crate::successors::Successors;

/// A transition system: shared between threads, immutable from the outside.
///
/// Interning tables that give packed words their meaning belong to the model, behind locks if
/// necessary, so that a state has the same words in every explorer of a model. Optional features
/// are facets, which the model offers if it supports them.
pub trait Model: Send + Sync {
    /// Static facts: name, width of a state, names of parameters, actions and measures.
    fn info(&self) -> &ModelInfo;

    /// A new view on the system for one thread.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// A view of the system as whole paths for one thread, if the system offers it natively, as
    /// programs do. `None` if paths consist of states.
    fn paths(&self) -> Option<Box<dyn Paths + '_>> {
        None
    }

    /// The reason why complete exploration would not be a proof, as far as it is known so far: cut
    /// executions, calls outside control. `None` if nothing was left out.
    ///
    /// There is no default, because a front-end that forgot it would claim proofs that it does not
    /// have.
    fn left_out(&self) -> Option<String>;

    /// The times of transitions, in models with time.
    fn timing(&self) -> Option<&dyn Timing> {
        None
    }

    /// Runs with delays chosen by the user, in models with time.
    fn delays(&self) -> Option<&dyn Delays> {
        None
    }

    /// Confirmation of runs, for models whose states over-approximate their runs.
    fn approximation(&self) -> Option<&dyn Approximation> {
        None
    }

    /// Concrete states, for models with symbolic states.
    fn concrete(&self) -> Option<&dyn Concrete> {
        None
    }

    /// States for display, for models that explore an abstraction of them.
    fn exact_states(&self) -> Option<&dyn ExactStates> {
        None
    }

    /// The names in the system, if they are known before exploration.
    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        None
    }

    /// Whether two descriptions of a parameter can be of one state, as far as they go: one view of a system may leave
    /// out what another one shows.
    fn descriptions_agree(&self, parameter: &str, one: &str, other: &str) -> bool {
        let _ = parameter;
        one == other
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn info(&self) -> &ModelInfo {
        (**self).info()
    }

    fn explorer(&self) -> Box<dyn Explorer + '_> {
        (**self).explorer()
    }

    fn paths(&self) -> Option<Box<dyn Paths + '_>> {
        (**self).paths()
    }

    fn left_out(&self) -> Option<String> {
        (**self).left_out()
    }

    fn timing(&self) -> Option<&dyn Timing> {
        (**self).timing()
    }

    fn delays(&self) -> Option<&dyn Delays> {
        (**self).delays()
    }

    fn approximation(&self) -> Option<&dyn Approximation> {
        (**self).approximation()
    }

    fn concrete(&self) -> Option<&dyn Concrete> {
        (**self).concrete()
    }

    fn exact_states(&self) -> Option<&dyn ExactStates> {
        (**self).exact_states()
    }

    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        (**self).vocabulary()
    }

    fn descriptions_agree(&self, parameter: &str, one: &str, other: &str) -> bool {
        (**self).descriptions_agree(parameter, one, other)
    }
}

/// One thread's view on a [`Model`]: computes successors and explains states and labels.
///
/// **Contract.** Two states are the same state if and only if their words are equal.
/// [`successors`](Self::successors) is a function of the state: the same transitions in the same
/// order whenever it is called, independent of what was explored before.
pub trait Explorer: Send {
    /// Writes the initial state, [`ModelInfo::width`] words, into `out` (cleared first).
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError>;

    /// Writes all outgoing transitions of `state` into `out` (cleared first).
    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError>;

    /// As [`successors`](Self::successors), but transitions after number `last` may be missing, and
    /// so may errors in computing them. For following a path, where the others do not matter.
    fn successors_up_to(
        &mut self,
        state: &[u32],
        last: usize,
        out: &mut Successors,
    ) -> Result<(), StepError> {
        let _ = last;
        self.successors(state, out)
    }

    /// A hash of the *meaning* of the state: equal across explorers, runs and machines. The default
    /// hashes the words, which is correct only if the words contain no interned ids.
    fn content_hash(&mut self, state: &[u32]) -> u64 {
        hash::words(state)
    }

    /// Replaces `out` by the content hashes of all targets: one call for many states.
    fn content_hashes(&mut self, successors: &Successors, out: &mut Vec<u64>) {
        out.clear();
        out.extend((0..successors.len()).map(|index| self.content_hash(successors.state(index))));
    }

    /// The label of an id from [`successors`](Self::successors).
    fn label(&mut self, id: LabelId) -> Label;

    /// Replaces `out` by the texts of the state's values, one for each of
    /// [`ModelInfo::parameters`].
    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>);

    /// Whether `state`, with these outgoing transitions, counts as a deadlock. Front-ends with
    /// successful termination or with time refine it.
    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        successors.is_empty()
    }

    /// Appends bytes that stand for the same state in every explorer, run and machine, unlike
    /// interned ids. Different states have different bytes. The default writes the words.
    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        for word in state {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Decoding states that another process [encoded](Self::encode).
    fn portable_states(&mut self) -> Option<&mut dyn PortableStates> {
        None
    }

    /// Numbers that describe a state.
    fn measures(&mut self) -> Option<&mut dyn Measures> {
        None
    }

    /// Conditions on states in the input language's own syntax.
    fn predicates(&mut self) -> Option<&mut dyn Predicates> {
        None
    }

    /// Labels of states, if labels do not belong to transitions.
    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        None
    }

    /// Errors that a state shows by itself.
    fn violations(&mut self) -> Option<&mut dyn Violations> {
        None
    }

    /// Comparison of states by their behaviours, if states subsume others.
    fn covering(&mut self) -> Option<&mut dyn Covering> {
        None
    }

    /// Explanations why nothing can happen in a state.
    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        None
    }

    /// The components that take part in transitions.
    fn participants(&mut self) -> Option<&mut dyn Participants> {
        None
    }

    /// The positions of components in the text of the model.
    fn source_places(&mut self) -> Option<&mut dyn SourcePlaces> {
        None
    }

    /// The automata of the system.
    fn automata(&mut self) -> Option<&mut dyn Automata> {
        None
    }

    /// Labels without their arguments, if formatting the arguments takes long.
    fn bare_labels(&mut self) -> Option<&mut dyn BareLabels> {
        None
    }
}

/// The pace of models that do not state theirs, which are those written in Rust.
const DEFAULT_PACE: u64 = 100_000;

/// Static facts about a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The name for the user: a file name, or `builtin:philosophers(n=5)`.
    pub name: String,
    /// The number of words in a packed state.
    pub width: usize,
    /// The initial state is a virtual root, because there is not exactly one proper initial state:
    /// its transitions lead to these. It is not counted.
    pub virtual_root: bool,
    /// The names of the state's values, in the order of [`Explorer::state_values`].
    pub parameters: Vec<String>,
    /// The names of all actions that can occur; empty if unknown.
    pub actions: Vec<String>,
    /// Named numeric measures of a state.
    pub measures: Vec<MeasureInfo>,
    /// A hash of the model's text and parameters, recorded in traces.
    pub fingerprint: u64,
    /// The properties that strategies may rely on.
    pub capabilities: Capabilities,
    /// The errors that its states can show by themselves.
    pub violations: &'static [ViolationKind],
    /// Objectives worth trying, in the syntax of `--find`.
    pub suggestions: Vec<String>,
    /// The number of transitions that the front-end computes in about half a second, measured on an
    /// ordinary machine. It determines how much work a witness is worth, which must not depend on
    /// the clock.
    pub pace: u64,
}

impl ModelInfo {
    /// A description with all optional parts empty.
    pub fn new(name: impl Into<String>, width: usize) -> Self {
        let name = name.into();
        ModelInfo {
            fingerprint: hash::bytes(name.as_bytes()),
            name,
            width,
            virtual_root: false,
            parameters: Vec::new(),
            actions: Vec::new(),
            measures: Vec::new(),
            capabilities: Capabilities::default(),
            violations: &[],
            suggestions: Vec::new(),
            pace: DEFAULT_PACE,
        }
    }

    /// The index of a measure by name.
    pub fn measure(&self, name: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure.name == name)
    }
}

/// The properties that strategies may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The error of a state ([`Violations::violation`]) is known only after expanding the state,
    /// because a program must be executed up to it.
    pub violations_on_expansion: bool,
}

/// An error in computing a step of the model, such as an out-of-range value or an undecided
/// condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.kind.introduction())]
pub struct StepError {
    /// The kind of error.
    pub kind: StepErrorKind,
    /// The message for the user.
    pub message: String,
}

/// The kind of a [`StepError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepErrorKind {
    /// The model is wrong, or a program cannot be executed.
    Model,
    /// The same choices led to different states.
    Nondeterministic,
    /// A value is beyond what the explorer can represent.
    TooLarge,
}

impl StepError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        StepError { kind: StepErrorKind::Model, message: message.into() }
    }

    /// The same choices led to different states.
    pub fn nondeterministic(difference: impl Into<String>) -> Self {
        StepError { kind: StepErrorKind::Nondeterministic, message: difference.into() }
    }
}

impl StepErrorKind {
    /// The introduction to the messages of this kind.
    fn introduction(self) -> &'static str {
        match self {
            StepErrorKind::Model | StepErrorKind::TooLarge => "",
            StepErrorKind::Nondeterministic => "the program is not deterministic: ",
        }
    }
}
