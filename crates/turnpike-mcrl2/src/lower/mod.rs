//! Lowers a program to a linear process: parameters, and summands with a condition, an action and
//! new values of the parameters.
//!
//! Every sequential component becomes an [`Automaton`] with control locations and edges
//! (`sequential`). The automata are then combined as the parallel operators say (`parallel`): each
//! way in which edges of components can happen together is a [`Summand`].

mod parallel;
mod sequential;
mod text;

use std::sync::Arc;

use turnpike_model::diagnostic::Diagnostic;

pub use self::parallel::{Composition, Guarded, Joint, Loss, Need, Structure, Ways};
use crate::syntax::{Span, Symbol};
use crate::typed::{BehaviourId, ExpressionId, Program, VariableId};

/// A process in linear form, with the program that its expressions belong to.
#[derive(Clone, Debug)]
pub struct LinearProcess {
    /// The program, with the expressions and variables that linearisation added.
    pub program: Program,
    /// What a state consists of: for each component its control parameter (if it has more than one
    /// location), then its data parameters.
    pub parameters: Vec<Parameter>,
    /// What can happen.
    pub summands: Vec<Summand>,
    /// When there would be more summands than the options allow, what makes those that are needed;
    /// none are listed then.
    pub later: Option<Composition>,
    /// The choice at the very beginning, if there is one.
    pub initial_distribution: Option<Distribution>,
    /// The initial values, one update for each component; closed but for the variables of the
    /// distribution.
    pub initial: Vec<Update>,
    /// The components that it was made from.
    pub structure: Structure,
}

/// A parameter of a linear process.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The variable that stands for it in expressions. Control parameters have one too, of sort
    /// `Pos`.
    pub variable: VariableId,
    /// What users see and write: `Station(3)` for a component's location, and for its data the name
    /// in the source if no other parameter has it, `Station(3).count` otherwise.
    pub name: String,
    /// The component that it belongs to, by the name of its instance.
    pub component: String,
    /// For control parameters: the locations, by number from 0, each with what comes next there, as
    /// short text for the user. No two are the same.
    pub locations: Option<Vec<String>>,
}

/// One thing that can happen.
#[derive(Clone, Debug)]
pub struct Summand {
    /// The control parameters (as index into the parameters) and the locations where they must be.
    pub locations: Vec<(usize, u32)>,
    /// The variables of the sum; receivers bound by their senders are already eliminated.
    pub variables: Vec<VariableId>,
    /// All must hold.
    pub conditions: Vec<ExpressionId>,
    /// What is seen: sorted by name; none means `tau`.
    pub actions: Vec<ActionInstance>,
    /// When, of sort `Real`.
    pub time: Option<ExpressionId>,
    /// The choice after the action.
    pub distribution: Option<Distribution>,
    /// What the parameters become, one update for each component that moves. All are evaluated
    /// before any is made; parameters not mentioned stay as they are.
    pub updates: Vec<Update>,
    /// Where the (first) action stands.
    pub span: Span,
    /// The components that take part, by number, increasing.
    pub parts: Arc<[Part]>,
}

/// The part of one component in a summand.
#[derive(Clone, Debug)]
pub struct Part {
    /// The component, as index into those of the structure.
    pub component: usize,
    /// Its edge.
    pub edge: usize,
    /// The actions of the edge before communication, hiding and renaming, with the data that they
    /// have in the summand.
    pub actions: Vec<ActionInstance>,
}

/// An action with its data, by name: hiding, renaming and communication have been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionInstance {
    /// Its name. `Terminate` for successful termination.
    pub name: Symbol,
    /// Its data.
    pub arguments: Vec<ExpressionId>,
}

/// A probabilistic choice.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// What is chosen.
    pub variables: Vec<VariableId>,
    /// With which probability, of sort `Real`.
    pub weight: ExpressionId,
}

/// What a component becomes.
#[derive(Clone, Debug)]
pub enum Update {
    /// A condition that is decided at once. When it is stuck, the component's control parameter
    /// becomes that stuck term, and the state is reported as erroneous when it is explored.
    If {
        /// Of sort `Bool`.
        condition: ExpressionId,
        /// When it holds.
        then: Box<Update>,
        /// When it does not.
        otherwise: Box<Update>,
        /// The component's control parameter; `None` inside an automaton.
        control: Option<usize>,
    },
    /// A new location, and new values. In an [`Automaton`] parameters are known by their variables.
    Go {
        /// Where to.
        location: Goto,
        /// Data parameters that change.
        assignments: Vec<(VariableId, ExpressionId)>,
    },
}

/// A control location to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goto {
    /// A location of the automaton.
    Local(u32),
    /// A control parameter, as index into the parameters, and its new location; the location is
    /// absent for components with only one.
    Parameter(Option<(usize, u32)>),
}

/// A sequential component.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The process instance that it is, such as `Station(3)`; set when all components are known.
    pub name: String,
    /// Its data, as far as some location needs it. No other automaton of the program has the same
    /// variables.
    pub variables: Vec<VariableId>,
    /// Its control locations.
    pub locations: Vec<Location>,
    /// Its edges, grouped by source in increasing order.
    pub edges: Vec<Edge>,
    /// A choice at the very beginning.
    pub initial_distribution: Option<Distribution>,
    /// How it begins.
    pub initial: Update,
}

/// A control location.
#[derive(Clone, Debug)]
pub struct Location {
    /// What comes next, as short text.
    pub text: String,
    /// The variables that matter here: all others are set to a fixed value of their sort on entry.
    pub live: Vec<VariableId>,
}

/// A step of a sequential component.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: u32,
    /// Variables of sums, different from those of all other edges.
    pub variables: Vec<VariableId>,
    /// All must hold.
    pub conditions: Vec<ExpressionId>,
    /// What happens.
    pub what: Step,
    /// When, of sort `Real`.
    pub time: Option<ExpressionId>,
    /// A choice after the action; its variables are different from those of all other edges, too.
    pub distribution: Option<Distribution>,
    /// Where it leads.
    pub target: Update,
    /// Where it stands.
    pub span: Span,
}

/// What an edge does.
#[derive(Clone, Debug)]
pub enum Step {
    /// A multi-action; empty for `tau`.
    Actions(Vec<ActionInstance>),
    /// Successful termination, which all components do together.
    Terminate,
}

/// How to linearise.
#[derive(Clone, Debug)]
pub struct Options {
    /// Actions that stay visible although the specification hides them.
    pub unhide: Vec<String>,
    /// How many combinations of steps are tried before giving up.
    pub limit: usize,
    /// Instead of giving up, leave the summands to be made where they are needed.
    pub later: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { unhide: Vec::new(), limit: 2_000_000, later: false }
    }
}

/// Linearises a checked program.
pub fn linearise(program: Program) -> Result<LinearProcess, Vec<Diagnostic>> {
    linearise_with(program, &Options::default())
}

/// Linearises a checked program as the options say.
pub fn linearise_with(program: Program, options: &Options) -> Result<LinearProcess, Vec<Diagnostic>> {
    parallel::linearise(program, options)
}

/// The automaton of a sequential process expression, in which the variables of `environment` have
/// fixed closed values.
pub(crate) fn automaton(
    program: &mut Program,
    root: BehaviourId,
    environment: &crate::typed::expression::Substitution,
) -> Result<Automaton, Diagnostic> {
    sequential::automaton(program, root, environment)
}
