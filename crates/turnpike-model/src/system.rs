use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::hash;
use crate::label::{Label, LabelId};
use crate::paths::Paths;
use crate::successors::Successors;

/// A transition system: shared between threads, immutable from the outside.
///
/// Interning tables that give packed words their meaning belong to the model (behind locks if need be), so that the
/// same state has the same words in every explorer of one model.
pub trait Model: Send + Sync {
    /// Static facts: name, width of a state, names of parameters, actions and measures.
    fn info(&self) -> &ModelInfo;

    /// A new view on the system for one thread.
    fn explorer(&self) -> Box<dyn Explorer + '_>;

    /// A view of the system as whole paths for one thread, where the system offers it natively: programs are executed.
    /// `None`: paths are made of states.
    fn paths(&self) -> Option<Box<dyn Paths + '_>> {
        None
    }

    /// For models with time: when each transition of a run is taken. `choices` are positions among the successors, from
    /// the initial state on; `target` is the condition that the last state is to meet, when there is one. The schedule was executed once more,
    /// independently of how it was found. `Ok(None)`: this model knows no time.
    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Option<Schedule>, StepError> {
        let _ = (choices, target);
        Ok(None)
    }

    /// For models whose states stand for many: an explorer of single ones, for walks that cost less for each step. It
    /// has a virtual root, and words of its own. `None`: there is no such thing.
    fn concrete(&self) -> Option<Concrete<'_>> {
        None
    }

    /// The ways of this model's own explorer that take the transitions of choices of [`concrete`](Self::concrete)'s.
    fn follow_concrete(&self, choices: &[u32]) -> Result<Vec<Vec<u32>>, StepError> {
        let _ = choices;
        Ok(Vec::new())
    }

    /// For models with [`Capabilities::approximate`]: whether what these choices lead to, from the initial state on, is
    /// real. What is not is passed over, and then [`left_out`](Self::left_out) tells of it.
    fn confirms(&self, choices: &[u32], claim: Claim<'_>) -> Result<bool, StepError> {
        let _ = (choices, claim);
        Ok(true)
    }

    /// Why exploring everything proves nothing, as far as it is known by now: executions of a program that were cut at a number of
    /// steps, spin loops that were cut, calls outside control. `None`: nothing was left out.
    fn left_out(&self) -> Option<String> {
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

    fn schedule(&self, choices: &[u32], target: Option<&str>) -> Result<Option<Schedule>, StepError> {
        (**self).schedule(choices, target)
    }

    fn concrete(&self) -> Option<Concrete<'_>> {
        (**self).concrete()
    }

    fn follow_concrete(&self, choices: &[u32]) -> Result<Vec<Vec<u32>>, StepError> {
        (**self).follow_concrete(choices)
    }

    fn confirms(&self, choices: &[u32], claim: Claim<'_>) -> Result<bool, StepError> {
        (**self).confirms(choices, claim)
    }

    fn left_out(&self) -> Option<String> {
        (**self).left_out()
    }
}

/// An explorer of single states of a model whose states stand for many.
pub struct Concrete<'a> {
    /// The explorer.
    pub explorer: Box<dyn Explorer + 'a>,
    /// Words in one of its states.
    pub width: usize,
}

/// What a run is said to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim<'a> {
    /// Its transitions, and that its last state meets a condition if there is one.
    Reaches(Option<&'a str>),
    /// Something that depends on what its last state can *not* do.
    Stuck,
    /// That its end can be repeated for ever.
    Repeats,
}

/// When the transitions of a run are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// For each transition the delay before it and the time at which it is taken, as exact rationals: `5/2`.
    pub moments: Vec<Moment>,
    /// The delay in the last state after which the target is met, when it is not zero.
    pub last_delay: Option<String>,
}

/// When one transition is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Since the transition before.
    pub delay: String,
    /// Since the beginning.
    pub time: String,
    /// Clock values right after it, by name.
    pub clocks: Vec<(String, String)>,
}

/// One thread's view on a [`Model`]: computes successors and explains states and labels.
///
/// **Contract.** Two states are the same state exactly when their words are equal. [`successors`](Self::successors)
/// is a function of the state: the same transitions in the same order whenever it is asked, and that order does not
/// depend on what was explored before.
pub trait Explorer: Send {
    /// Writes the initial state, [`ModelInfo::width`] words, into `out` (cleared first).
    fn initial(&mut self, out: &mut Vec<u32>) -> Result<(), StepError>;

    /// Writes all outgoing transitions of `state` into `out` (cleared first).
    fn successors(&mut self, state: &[u32], out: &mut Successors) -> Result<(), StepError>;

    /// A hash of what the state *means*: equal across explorers, runs and machines. The default hashes the words,
    /// which is right exactly when the words hold no interned ids.
    fn content_hash(&mut self, state: &[u32]) -> u64 {
        hash::words(state)
    }

    /// The label behind an id that [`successors`](Self::successors) gave.
    fn label(&mut self, id: LabelId) -> Label;

    /// The actions of a label without their arguments, whose texts may be long: what counting actions needs.
    fn bare_label(&mut self, id: LabelId) -> Label {
        self.label(id)
    }

    /// Texts of the state's values, one for each of [`ModelInfo::parameters`], into `out` (cleared first).
    fn state_values(&mut self, state: &[u32], out: &mut Vec<String>);

    /// The value of measure `index` of [`ModelInfo::measures`] in `state`.
    ///
    /// # Panics
    /// May panic when `index` is out of range.
    fn measure(&mut self, state: &[u32], index: usize) -> f64 {
        let _ = state;
        panic!("this model has no measure {index}")
    }

    /// Whether `state`, with these outgoing transitions, counts as a deadlock. Front-ends with successful
    /// termination or with time refine it.
    fn is_deadlock(&mut self, state: &[u32], successors: &Successors) -> bool {
        let _ = state;
        successors.is_empty()
    }

    /// An error that the state itself shows: a broken invariant of a Rust-native model, a failed assertion. With
    /// [`Capabilities::violations_on_expansion`] it is asked only after some explorer of this model has expanded the state.
    fn violation(&mut self, state: &[u32]) -> Option<Violation> {
        let _ = state;
        None
    }

    /// Compiles a state predicate in the front-end's own language. `Ok(None)` means that it has none; comparisons
    /// over measures ([`crate::predicate`]) are used instead.
    fn predicate(&mut self, text: &str) -> Result<Option<PredicateId>, Diagnostic> {
        let _ = text;
        Ok(None)
    }

    /// Compiles the text of a `label` objective, when labels of this model belong to states: a timed automaton's locations. `Ok(None)`: they belong
    /// to transitions.
    fn label_predicate(&mut self, text: &str) -> Result<Option<PredicateId>, Diagnostic> {
        let _ = text;
        Ok(None)
    }

    /// Evaluates a predicate this explorer compiled.
    fn holds(&mut self, predicate: PredicateId, state: &[u32]) -> Result<bool, StepError> {
        let _ = (predicate, state);
        Ok(false)
    }

    /// Whether every behaviour of `smaller` is also one of `bigger` (zone inclusion). Equality by default. A state covers itself, and what
    /// is covered by a covered state is covered.
    fn covers(&mut self, bigger: &[u32], smaller: &[u32]) -> bool {
        bigger == smaller
    }

    /// Some of `others`, the first unless the front-end knows a better one, that covers `state`; perhaps none, where looking for one does not pay. All of them have the [key](ModelInfo::key_words)
    /// of `state`: only the words behind it are there, one state after the other.
    fn covered_by(&mut self, state: &[u32], key_words: usize, others: &[u32]) -> Option<usize> {
        let mut other = state.to_vec();
        others.chunks_exact((state.len() - key_words).max(1)).position(|words| {
            other[key_words..].copy_from_slice(words);
            self.covers(&other, state)
        })
    }

    /// The first of `others`, given as in [`covered_by`](Self::covered_by), that `state` covers.
    fn first_covered(&mut self, state: &[u32], key_words: usize, others: &[u32]) -> Option<usize> {
        let mut other = state.to_vec();
        others.chunks_exact((state.len() - key_words).max(1)).position(|words| {
            other[key_words..].copy_from_slice(words);
            self.covers(state, &other)
        })
    }

    /// Appends a form of the state that other processes and machines understand.
    fn encode(&mut self, state: &[u32], out: &mut Vec<u8>) {
        for word in state {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, into `out` (cleared first).
    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u32>) -> Result<(), StepError> {
        out.clear();
        if !bytes.len().is_multiple_of(4) {
            return Err(StepError::new("a portable state must be a whole number of words"));
        }
        out.extend(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
        Ok(())
    }
}

/// A predicate compiled by one explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredicateId(pub u32);

/// Static facts about a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelInfo {
    /// What the user would call it: a file name, or `builtin:philosophers(n=5)`.
    pub name: String,
    /// Words in a packed state.
    pub width: usize,
    /// Only states with equal leading words, this many, can cover each other.
    pub key_words: usize,
    /// The initial state is only a place from which the proper initial states are reached, when there is not exactly one of them: it
    /// is not counted.
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
}

impl ModelInfo {
    /// Facts with everything optional left empty.
    pub fn new(name: impl Into<String>, width: usize) -> Self {
        let name = name.into();
        ModelInfo {
            fingerprint: hash::bytes(name.as_bytes()),
            name,
            width,
            key_words: width,
            virtual_root: false,
            parameters: Vec::new(),
            actions: Vec::new(),
            measures: Vec::new(),
            capabilities: Capabilities::default(),
            violations: &[],
            suggestions: Vec::new(),
        }
    }

    /// The index of a measure by name.
    pub fn measure(&self, name: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure.name == name)
    }
}

/// A numeric measure of a state: fitness, guide, or the subject of `min` and `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureInfo {
    /// Name as used in flags.
    pub name: String,
    /// One line for the user.
    pub doc: String,
}

impl MeasureInfo {
    /// A measure with its description.
    pub fn new(name: impl Into<String>, doc: impl Into<String>) -> Self {
        MeasureInfo { name: name.into(), doc: doc.into() }
    }
}

/// What strategies may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// What a state shows by itself ([`Explorer::violation`]) is known only once it was expanded: a program has to be
    /// executed up to it.
    pub violations_on_expansion: bool,
    /// States may show more than any run leads to: what is found must be confirmed by [`Model::confirms`]. Nothing is
    /// missing.
    pub approximate: bool,
}

/// The kind of an error that a state shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A failed assertion or a broken invariant.
    Assertion,
    /// A Rust panic.
    Panic,
    /// An abort or a fatal signal.
    Crash,
    /// Use after free, double free.
    Heap,
    /// A data race.
    Race,
    /// A leaked thread.
    Leak,
    /// All threads spin on values that nobody will change.
    Livelock,
    /// A thread of a program does nothing visible for too long.
    Hang,
}

impl ViolationKind {
    /// All kinds.
    pub const ALL: &'static [ViolationKind] = &[
        ViolationKind::Assertion,
        ViolationKind::Panic,
        ViolationKind::Crash,
        ViolationKind::Heap,
        ViolationKind::Race,
        ViolationKind::Leak,
        ViolationKind::Livelock,
        ViolationKind::Hang,
    ];

    /// The word used in `--find`.
    pub fn keyword(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "assertion",
            ViolationKind::Panic => "panic",
            ViolationKind::Crash => "crash",
            ViolationKind::Heap => "heap",
            ViolationKind::Race => "race",
            ViolationKind::Leak => "leak",
            ViolationKind::Livelock => "livelock",
            ViolationKind::Hang => "hang",
        }
    }
}

/// An error that a state shows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What kind of error.
    pub kind: ViolationKind,
    /// What went wrong, for the user.
    pub message: String,
}

/// The model cannot take a step: an out-of-range value, a condition that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.kind.introduction())]
pub struct StepError {
    /// What kind of trouble.
    pub kind: StepErrorKind,
    /// What went wrong, for the user.
    pub message: String,
}

/// Why a system cannot take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepErrorKind {
    /// The model says what has no meaning, or a program cannot be executed.
    Model,
    /// The same choices did not lead to the same states.
    Nondeterministic,
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
            StepErrorKind::Model => "",
            StepErrorKind::Nondeterministic => "the program is not deterministic: ",
        }
    }
}
