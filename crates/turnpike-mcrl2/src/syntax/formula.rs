//! Formulas as written. The parser limits their nesting ([`DEEPEST`]), so they are trees of boxes
//! and may be walked recursively.

use super::specification::Section;
use super::symbol::{Name, Span};
use super::tree::{DataId, Tree, Variable};

/// The deepest nesting of formulas.
pub const DEEPEST: usize = 1000;

/// A file with a formula.
#[derive(Clone, Debug)]
pub struct FormulaFile {
    /// The data expressions and sorts.
    pub tree: Tree,
    /// Its own declarations, with their positions in the text.
    pub sections: Vec<Section>,
    /// The bytes before `form`, which hold the declarations.
    pub declarations: Span,
    /// The formula.
    pub formula: State,
}

/// A formula about states.
#[derive(Clone, Debug)]
pub struct State {
    /// The formula itself.
    pub kind: StateKind,
    /// Its position.
    pub span: Span,
}

/// A kind of formula about states.
#[derive(Clone, Debug)]
pub enum StateKind {
    /// A condition on data.
    Data(DataId),
    /// `!F`
    Not(Box<State>),
    /// `F && G`, `F || G` or `F => G`.
    Binary(Connective, Box<State>, Box<State>),
    /// `forall` or `exists`.
    Quantifier {
        /// Whether it is `forall`.
        all: bool,
        /// At least one.
        variables: Box<[Variable]>,
        /// The scope of the variables.
        body: Box<State>,
    },
    /// `[R]F` or `<R>F`.
    Modality {
        /// Whether it is `[R]F`.
        all: bool,
        /// The paths.
        regular: Box<Regular>,
        /// The formula that holds after them.
        body: Box<State>,
    },
    /// `mu X(d: D = e). F`
    FixedPoint {
        /// Whether it is `mu`.
        least: bool,
        /// Its name.
        name: Name,
        /// Its parameters with their initial values.
        parameters: Box<[(Variable, DataId)]>,
        /// The body of the fixed point.
        body: Box<State>,
    },
    /// `X(e)`
    Call {
        /// The fixed point.
        name: Name,
        /// The new values of its parameters.
        arguments: Box<[DataId]>,
    },
}

/// A binary connective of states and of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connective {
    /// `=>`
    Implies,
    /// `||`
    Or,
    /// `&&`
    And,
}

/// A set of paths.
#[derive(Clone, Debug)]
pub struct Regular {
    /// The kind of set.
    pub kind: RegularKind,
    /// Its position.
    pub span: Span,
}

/// A kind of set of paths.
#[derive(Clone, Debug)]
pub enum RegularKind {
    /// Single steps.
    Action(Action),
    /// `R . S`
    Sequence(Box<Regular>, Box<Regular>),
    /// `R + S`
    Choice(Box<Regular>, Box<Regular>),
    /// `R*`
    Star(Box<Regular>),
    /// `R+`
    Plus(Box<Regular>),
}

/// A set of multi-actions.
#[derive(Clone, Debug)]
pub enum Action {
    /// All multi-actions if the condition holds, otherwise none.
    Data(DataId),
    /// `a(e)|b`, or `tau` if there are none. A single name may also be a condition.
    Multi(Box<[(Name, Box<[DataId]>)]>),
    /// `!A`
    Not(Box<Action>),
    /// `A && B`, `A || B` or `A => B`.
    Binary(Connective, Box<Action>, Box<Action>),
    /// `forall` or `exists`.
    Quantifier {
        /// Whether it is `forall`.
        all: bool,
        /// At least one.
        variables: Box<[Variable]>,
        /// The scope of the variables.
        body: Box<Action>,
    },
}
