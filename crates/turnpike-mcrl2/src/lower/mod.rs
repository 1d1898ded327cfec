//! Lowers a program to a linear process: parameters, and summands with a condition, an action and
//! updates of the parameters.
//!
//! Every sequential component becomes an [`Automaton`] with control locations and edges
//! (`sequential`). The parallel operators then combine the automata (`parallel`): every way in
//! which edges of components can happen together is a [`Summand`].

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
    /// The layout of a state: for each component its control parameter, if it has more than one
    /// location, then its data parameters.
    pub parameters: Vec<Parameter>,
    /// The possible steps, unless they are built on demand.
    pub summands: Vec<Summand>,
    /// Builds summands on demand if there would be more than the options allow. `summands` is empty
    /// then.
    pub later: Option<Composition>,
    /// The initial probabilistic choice, if there is one.
    pub initial_distribution: Option<Distribution>,
    /// The initial values, one update for each component. The distribution binds all of their
    /// variables.
    pub initial: Vec<Update>,
    /// The components of the process.
    pub structure: Structure,
}

/// A parameter of a linear process.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The variable that stands for it in expressions. That of a control parameter has the sort
    /// `Pos`.
    pub variable: VariableId,
    /// The user-visible name: `Station(3)` for the location of a component. For its data it is the
    /// name in the source if no other parameter has it, otherwise `Station(3).count`.
    pub name: String,
    /// The instance name of the component that it belongs to.
    pub component: String,
    /// For control parameters: a short, unique description of each location, by its number.
    pub locations: Option<Vec<String>>,
}

/// A possible step.
#[derive(Clone, Debug)]
pub struct Summand {
    /// The control parameters that must be at a location, as indices into the parameters, with
    /// these locations.
    pub locations: Vec<(usize, u32)>,
    /// The variables of the sum. Those that communication determines have been eliminated.
    pub variables: Vec<VariableId>,
    /// These must all hold.
    pub conditions: Vec<ExpressionId>,
    /// The visible actions, sorted by name. `tau` if there are none.
    pub actions: Vec<ActionInstance>,
    /// The time of the step, of sort `Real`.
    pub time: Option<ExpressionId>,
    /// The choice after the action.
    pub distribution: Option<Distribution>,
    /// The updates of the components that take part. All values refer to the state before the step.
    /// Other parameters stay as they are.
    pub updates: Vec<Update>,
    /// The position of the first action in the source.
    pub span: Span,
    /// The components that take part, in increasing order.
    pub parts: Arc<[Part]>,
}

/// The part of one component in a summand.
#[derive(Clone, Debug)]
pub struct Part {
    /// The component, as an index into those of the structure.
    pub component: usize,
    /// Its edge.
    pub edge: usize,
    /// The actions of the edge with the data of the summand, before communication, hiding and
    /// renaming.
    pub actions: Vec<ActionInstance>,
}

/// An action with its data, after hiding, renaming and communication.
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
    /// The variables of the choice.
    pub variables: Vec<VariableId>,
    /// The probability of an outcome, of sort `Real`.
    pub weight: ExpressionId,
}

/// The next location and data of a component.
#[derive(Clone, Debug)]
pub enum Update {
    /// A condition that is evaluated in the step. If it is stuck, the control parameter becomes the
    /// stuck term, and exploring the resulting state is an error.
    If {
        /// Of sort `Bool`.
        condition: ExpressionId,
        /// The update if it is true.
        then: Box<Update>,
        /// The update if it is false.
        otherwise: Box<Update>,
        /// The component's control parameter; `None` inside an automaton.
        control: Option<usize>,
    },
    /// Goes to a location and assigns values. An [`Automaton`] refers to parameters by their
    /// variables.
    Go {
        /// The next location.
        location: Goto,
        /// The data parameters that change, with their values.
        assignments: Vec<(VariableId, ExpressionId)>,
    },
}

/// The target of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goto {
    /// A location of the automaton.
    Local(u32),
    /// A control parameter, as index into the parameters, with its new location. `None` for
    /// components with a single location.
    Parameter(Option<(usize, u32)>),
}

/// A sequential component.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The name of its process instance, such as `Station(3)`. Set when all components are known.
    pub name: String,
    /// Its data parameters that some location needs. Automata do not share variables.
    pub variables: Vec<VariableId>,
    /// Its control locations.
    pub locations: Vec<Location>,
    /// Its edges, grouped by source in increasing order.
    pub edges: Vec<Edge>,
    /// The initial probabilistic choice, if there is one.
    pub initial_distribution: Option<Distribution>,
    /// The initial update.
    pub initial: Update,
}

/// A control location.
#[derive(Clone, Debug)]
pub struct Location {
    /// A short description of the next steps.
    pub text: String,
    /// The variables that are live here. All others have a fixed value of their sort.
    pub live: Vec<VariableId>,
}

/// A step of a sequential component.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The source location.
    pub from: u32,
    /// Variables of sums. No other edge has the same.
    pub variables: Vec<VariableId>,
    /// These must all hold.
    pub conditions: Vec<ExpressionId>,
    /// The label.
    pub what: Step,
    /// The time of the step, of sort `Real`.
    pub time: Option<ExpressionId>,
    /// A choice after the action. No other edge has the same variables.
    pub distribution: Option<Distribution>,
    /// The target of the edge.
    pub target: Update,
    /// The position in the source.
    pub span: Span,
}

/// The label of an edge.
#[derive(Clone, Debug)]
pub enum Step {
    /// A multi-action; empty for `tau`.
    Actions(Vec<ActionInstance>),
    /// Successful termination, which synchronises all components.
    Terminate,
}

/// Options for linearisation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Actions that stay visible although the specification hides them.
    pub unhide: Vec<String>,
    /// How many combinations of steps are tried before giving up.
    pub limit: usize,
    /// Whether to build summands on demand instead of giving up.
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

/// Linearises a checked program with options.
pub fn linearise_with(program: Program, options: &Options) -> Result<LinearProcess, Vec<Diagnostic>> {
    parallel::linearise(program, options)
}

/// The automaton of a sequential process expression. Variables of `environment` have fixed closed
/// values.
pub(crate) fn automaton(
    program: &mut Program,
    root: BehaviourId,
    environment: &crate::typed::expression::Substitution,
) -> Result<Automaton, Diagnostic> {
    sequential::automaton(program, root, environment)
}
