//! The compiled form of a linear process: what the explorers of a model share.

use std::sync::Arc;

use super::ending::Ending;
use super::index::Index;
use super::labels::{Signature, Signatures};
use super::late::Late;
use crate::enumerate::Plan;
use crate::evaluate::{Code, Rules};
use crate::linear;
use crate::sorts::{ExpressionId, Program, VariableId};
use crate::syntax::Span;
use crate::value::{Binders, Heap, Value};

/// A compiled process.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) program: Arc<Program>,
    pub(super) rules: Arc<Rules>,
    pub(super) parameters: Vec<linear::Parameter>,
    /// Words of a state: the parameters, then the time if there is one. Never none.
    pub(super) width: usize,
    /// The word that holds the time of the last action with a time.
    pub(super) now: Option<u32>,
    /// Words that hold locations.
    pub(super) controls: Vec<u32>,
    /// Slots of the frame that all code runs in. The first ones are the words of a state.
    pub(super) frame: usize,
    /// Slots of global variables, with the variables and the values chosen for them.
    pub(super) constants: Vec<(u32, (VariableId, Value))>,
    pub(super) signatures: Arc<Signatures>,
    pub(super) clusters: Vec<Arc<Cluster>>,
    /// Clusters by locations.
    pub(super) index: Index,
    /// What makes clusters when there are too many to have them all; none are listed then.
    pub(super) late: Option<Late>,
    /// Whether some step is a probabilistic choice.
    pub(super) has_choices: bool,
    pub(super) initial: Vec<Update>,
    pub(super) initial_choice: Option<Choice>,
    /// The signature of steps out of the initial choice.
    pub(super) initial_signature: u32,
    /// How successful termination is told from a deadlock.
    pub(super) ending: Ending,
}

/// Summands that need the same locations.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) groups: Vec<Group>,
    /// Words that some of them reads.
    pub(super) reads: Vec<u32>,
}

/// Summands of a cluster that read the same words.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) summands: Vec<Summand>,
    pub(super) reads: Vec<u32>,
}

/// A compiled summand.
#[derive(Debug)]
pub(super) struct Summand {
    pub(super) guard: Guard,
    pub(super) signature: (u32, Arc<Signature>),
    /// Arguments of all actions, one after the other.
    pub(super) arguments: Vec<Source>,
    pub(super) time: Option<Source>,
    pub(super) choice: Option<Choice>,
    pub(super) updates: Vec<Update>,
    pub(super) span: Span,
    /// Whether different solutions may be the same transition.
    pub(super) repeats: bool,
}

/// When a summand is enabled.
#[derive(Debug)]
pub(super) enum Guard {
    /// All must hold.
    Conditions(Vec<(Code, ExpressionId)>),
    /// For every solution.
    Plan(Plan),
    /// One solution is as good as all.
    Once(Plan),
}

/// A probabilistic choice.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) plan: Plan,
    pub(super) weight: Source,
}

/// Where a value comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// It is always the same, and kept.
    Constant(Value),
    Slot(u32),
    Code(Code),
}

/// What a component becomes.
#[derive(Debug)]
pub(super) enum Update {
    If {
        condition: Code,
        expression: ExpressionId,
        then: Box<Update>,
        otherwise: Box<Update>,
        control: Option<u32>,
    },
    Go(Vec<(u32, Source)>),
}

impl Cluster {
    /// Of summands, each with the words that it reads. The order of groups is that of the first of each.
    pub(super) fn new(summands: impl IntoIterator<Item = (Summand, Vec<u32>)>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for (summand, reads) in summands {
            match groups.iter_mut().find(|group| group.reads == reads) {
                Some(group) => group.summands.push(summand),
                None => groups.push(Group { summands: vec![summand], reads }),
            }
        }
        let mut reads: Vec<u32> = groups.iter().flat_map(|group| group.reads.iter().copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        Cluster { groups, reads }
    }
}

impl Network {
    /// The program that all expressions belong to.
    pub(super) fn program(&self) -> Arc<Program> {
        self.late.as_ref().map_or_else(|| Arc::clone(&self.program), Late::program)
    }

    /// A value as it is printed.
    pub(super) fn text(&self, heap: &Heap, value: Value) -> String {
        heap.print(&self.rules.program(), &Functions(&self.rules), value)
    }
}

/// The functions and quantifiers among values.
struct Functions<'r>(&'r Rules);

impl Binders for Functions<'_> {
    fn binder(&self, number: u32) -> Option<(ExpressionId, Vec<VariableId>)> {
        self.0.binder(number)
    }
}

/// A location as a word of a state.
pub(super) fn location_word(location: u32) -> u32 {
    i32::try_from(location).ok().and_then(Value::small).map_or(0, Value::word)
}

/// The location that a word of a state holds; nonsense for a word that holds something else.
#[inline]
pub(super) fn location_of(word: u32) -> u32 {
    word >> 1
}
