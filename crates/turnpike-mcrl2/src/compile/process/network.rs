//! The compiled form of a linear process, which the explorers of a model share.

use std::sync::Arc;

use super::index::Index;
use super::on_demand::OnDemand;
use super::signature::{Signature, Signatures};
use super::termination::Termination;
use crate::compile::evaluator::{Code, Rules};
use crate::compile::solver::Plan;
use crate::lower;
use crate::syntax::Span;
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::{Binders, Heap, Value};

/// A compiled process.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) program: Arc<Program>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) parameters: Vec<lower::Parameter>,
    /// The words of a state: the parameters, then the time if there is one. At least 1.
    pub(crate) width: usize,
    /// The word that holds the time of the last timed action.
    pub(crate) now: Option<u32>,
    /// Words that hold locations.
    pub(crate) controls: Vec<u32>,
    /// The slots of the frame that all code runs in. The words of a state come first.
    pub(crate) frame: usize,
    /// Slots of global variables, with the variables and the values chosen for them.
    pub(crate) constants: Vec<(u32, (VariableId, Value))>,
    pub(crate) signatures: Arc<Signatures>,
    pub(crate) clusters: Vec<Arc<Cluster>>,
    /// Clusters by locations.
    pub(crate) index: Index,
    /// Builds clusters on demand if there would be too many. `clusters` is empty then.
    pub(crate) on_demand: Option<OnDemand>,
    /// Whether some step is a probabilistic choice.
    pub(crate) has_choices: bool,
    pub(crate) initial: Vec<Update>,
    pub(crate) initial_choice: Option<Choice>,
    /// The signature of the steps from the initial choice.
    pub(crate) initial_signature: u32,
    /// How to tell successful termination from deadlock.
    pub(crate) termination: Termination,
    /// The components that the process was made from.
    pub(crate) structure: lower::Structure,
}

/// Summands that need the same locations.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) groups: Vec<Group>,
    /// The words that any of its summands reads.
    pub(crate) reads: Vec<u32>,
}

/// Summands of a cluster that read the same words.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) summands: Vec<Summand>,
    pub(crate) reads: Vec<u32>,
}

/// A compiled summand.
#[derive(Debug)]
pub(crate) struct Summand {
    pub(crate) guard: Guard,
    pub(crate) signature: (u32, Arc<Signature>),
    /// Arguments of all actions, one after the other.
    pub(crate) arguments: Vec<Source>,
    pub(crate) time: Option<Source>,
    pub(crate) choice: Option<Choice>,
    pub(crate) updates: Vec<Update>,
    pub(crate) span: Span,
    /// Whether different solutions may give the same transition.
    pub(crate) repeats: bool,
    /// The variables of its sum, and the slots that hold their values.
    pub(crate) variables: Box<[(VariableId, u32)]>,
    /// The components that take part.
    pub(crate) parts: Arc<[lower::Part]>,
}

/// When a summand is enabled.
#[derive(Debug)]
pub(crate) enum Guard {
    /// All of these conditions must hold.
    Conditions(Vec<(Code, ExpressionId)>),
    /// Enabled once for every solution.
    Plan(Plan),
    /// Enabled once if there is a solution.
    Once(Plan),
}

/// A probabilistic choice.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) plan: Plan,
    pub(crate) weight: Source,
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A constant, which is kept alive.
    Constant(Value),
    Slot(u32),
    Code(Code),
}

/// The next location of a component and its assignments.
#[derive(Debug)]
pub(crate) enum Update {
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
    /// Groups summands by the words that they read, in the order of the first summand of each
    /// group.
    pub(crate) fn new(summands: impl IntoIterator<Item = (Summand, Vec<u32>)>) -> Self {
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
    pub(crate) fn program(&self) -> Arc<Program> {
        self.on_demand.as_ref().map_or_else(|| Arc::clone(&self.program), OnDemand::program)
    }

    /// The text of a value.
    pub(crate) fn text(&self, heap: &Heap, value: Value) -> String {
        heap.print(&self.rules.program(), &Functions(&self.rules), value)
    }
}

/// Resolves the functions and quantifiers in values.
struct Functions<'r>(&'r Rules);

impl Binders for Functions<'_> {
    fn binder(&self, number: u32) -> Option<(ExpressionId, Vec<VariableId>)> {
        self.0.binder(number)
    }
}

/// A location as a word of a state.
pub(crate) fn location_word(location: u32) -> u32 {
    i32::try_from(location).ok().and_then(Value::small).map_or(0, Value::word)
}

/// The location that a word of a state holds. Meaningless for words that hold other values.
#[inline]
pub(crate) fn location_of(word: u32) -> u32 {
    word >> 1
}
