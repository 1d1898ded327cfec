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
/// Interning tables that give packed words their meaning belong to the model (behind locks if need
/// be), so that the same state has the same words in every explorer of one model. What only some
/// systems offer is a facet, which the model hands out if it has it.
pub trait Model: Send + Sync {
    /// Static facts: name, width of a state, names of parameters, actions and measures.
    fn info(&self) -> &ModelInfo;

    /// A new view on the system for one thread.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// A view of the system as whole paths for one thread, if the system offers it natively:
    /// programs are executed. `None`: paths are made of states.
    fn paths(&self) -> Option<Box<dyn Paths + '_>> {
        None
    }

    /// Why exploring everything would prove nothing, as far as it is known by now: executions that
    /// were cut, calls outside control. `None`: nothing was left out.
    ///
    /// There is no default: a front-end that forgets it would claim proofs that it does not have.
    fn left_out(&self) -> Option<String>;

    /// When transitions are taken, in models with time.
    fn timing(&self) -> Option<&dyn Timing> {
        None
    }

    /// Runs with delays that a person chooses, in models with time.
    fn delays(&self) -> Option<&dyn Delays> {
        None
    }

    /// Confirming runs, for models whose states show more than their runs.
    fn approximation(&self) -> Option<&dyn Approximation> {
        None
    }

    /// Single states, for models whose states stand for many.
    fn concrete(&self) -> Option<&dyn Concrete> {
        None
    }

    /// States as people should see them, for models that explore an abstraction of them.
    fn exact_states(&self) -> Option<&dyn ExactStates> {
        None
    }

    /// The names of what the system can do, where they are known before it is explored.
    fn vocabulary(&self) -> Option<&dyn Vocabulary> {
        None
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
}

/// One thread's view on a [`Model`]: computes successors and explains states and labels.
///
/// **Contract.** Two states are the same state exactly when their words are equal.
/// [`successors`](Self::successors) is a function of the state: the same transitions in the same
/// order whenever it is asked, and that order does not depend on what was explored before.
pub trait Explorer: Send {
    /// Writes the initial state, [`ModelInfo::width`] words, into `out` (cleared first).
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError>;

    /// Writes all outgoing transitions of `state` into `out` (cleared first).
    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError>;

    /// Like [`successors`](Self::successors), but transitions after number `last` may be missing,
    /// and so may errors in computing them. For following a path, where the others do not matter.
    fn successors_up_to(
        &mut self,
        state: &[u32],
        last: usize,
        out: &mut Successors,
    ) -> Result<(), StepError> {
        let _ = last;
        self.successors(state, out)
    }

    /// A hash of what the state *means*: equal across explorers, runs and machines. The default
    /// hashes the words, which is right exactly when the words hold no interned ids.
    fn content_hash(&mut self, state: &[u32]) -> u64 {
        hash::words(state)
    }

    /// The label behind an id that [`successors`](Self::successors) gave.
    fn label(&mut self, id: LabelId) -> Label;

    /// Texts of the state's values, one for each of [`ModelInfo::parameters`], in place of what
    /// `out` holds.
    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>);

    /// Whether `state`, with these outgoing transitions, counts as a deadlock. Front-ends with
    /// successful termination or with time refine it.
    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        successors.is_empty()
    }

    /// Appends bytes that mean the same state in every explorer, run and machine, unlike interned
    /// ids. Different states have different bytes. The default writes the words.
    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        for word in state {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Reading what [`encode`](Self::encode) wrote in another process.
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

    /// Labels of states, where labels do not belong to transitions.
    fn state_labels(&mut self) -> Option<&mut dyn StateLabels> {
        None
    }

    /// Errors that a state shows by itself.
    fn violations(&mut self) -> Option<&mut dyn Violations> {
        None
    }

    /// Comparing states by what they can do, where states stand for others.
    fn covering(&mut self) -> Option<&mut dyn Covering> {
        None
    }

    /// Why nothing can happen in a state.
    fn obstacles(&mut self) -> Option<&mut dyn Obstacles> {
        None
    }

    /// The components that take part in transitions.
    fn participants(&mut self) -> Option<&mut dyn Participants> {
        None
    }

    /// Where components are in the text of the model.
    fn source_places(&mut self) -> Option<&mut dyn SourcePlaces> {
        None
    }

    /// The automata that the system is made of.
    fn automata(&mut self) -> Option<&mut dyn Automata> {
        None
    }

    /// Labels without their arguments, where formatting the arguments takes long.
    fn bare_labels(&mut self) -> Option<&mut dyn BareLabels> {
        None
    }
}

/// The pace of models that do not state theirs: those written in Rust.
const DEFAULT_PACE: u64 = 100_000;

/// Static facts about a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelInfo {
    /// What the user would call it: a file name, or `builtin:philosophers(n=5)`.
    pub name: String,
    /// Words in a packed state.
    pub width: usize,
    /// The initial state is a virtual root: its transitions lead to the proper initial states, of
    /// which there is not exactly one. It is not counted.
    pub virtual_root: bool,
    /// Names of the state's values, in the order [`Explorer::state_values`] gives them.
    pub parameters: Vec<String>,
    /// Names of all actions that can occur; empty when unknown.
    pub actions: Vec<String>,
    /// Named numeric measures of a state.
    pub measures: Vec<MeasureInfo>,
    /// Hash of the model's text and parameters, recorded in traces.
    pub fingerprint: u64,
    /// What strategies may rely on.
    pub capabilities: Capabilities,
    /// The errors that a state of it can show by itself.
    pub violations: &'static [ViolationKind],
    /// Objectives worth trying, in the syntax of `--find`.
    pub suggestions: Vec<String>,
    /// Transitions that the front-end computes in about half a second, measured once on an ordinary
    /// machine. It decides how much work a witness is worth, which must not depend on the clock.
    pub pace: u64,
}

impl ModelInfo {
    /// Facts with everything optional left empty.
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

/// What strategies may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The error that a state shows ([`Violations::violation`]) is known only once the state was
    /// expanded: a program has to be executed up to it.
    pub violations_on_expansion: bool,
}

/// The model cannot take a step: an out-of-range value, a condition that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.kind.introduction())]
pub struct StepError {
    /// What kind of error.
    pub kind: StepErrorKind,
    /// What went wrong, for the user.
    pub message: String,
}

/// Why a system cannot take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepErrorKind {
    /// The model is wrong, or a program cannot be executed.
    Model,
    /// The same choices did not lead to the same states.
    Nondeterministic,
    /// A value is beyond what the explorer can represent.
    TooLarge,
}

impl StepError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        StepError { kind: StepErrorKind::Model, message: message.into() }
    }

    /// The same choices did not lead to the same states.
    pub fn nondeterministic(difference: impl Into<String>) -> Self {
        StepError { kind: StepErrorKind::Nondeterministic, message: difference.into() }
    }
}

impl StepErrorKind {
    /// What the message of such an error begins with.
    fn introduction(self) -> &'static str {
        match self {
            StepErrorKind::Model | StepErrorKind::TooLarge => "",
            StepErrorKind::Nondeterministic => "the program is not deterministic: ",
        }
    }
}
