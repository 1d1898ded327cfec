//! Formulas as written. Nesting is limited by the parser ([`DEEPEST`]), so formulas are trees of boxes
//! and may be walked recursively.

use super::specification::Section;
use super::symbol::{Name, Span};
use super::tree::{DataId, Tree, Variable};

/// How deep formulas may be nested.
pub const DEEPEST: usize = 1000;

/// A file with a formula.
#[derive(Clone, Debug)]
pub struct FormulaFile {
    /// The data expressions and sorts.
    pub tree: Tree,
    /// Declarations of its own, and where they stand in the text.
    pub sections: Vec<Section>,
    /// The bytes before `form`, which hold the declarations.
    pub declarations: Span,
    /// The formula.
    pub formula: State,
}

/// A formula about states.
#[derive(Clone, Debug)]
pub struct State {
    /// What it says.
    pub kind: StateKind,
    /// Where it stands.
    pub span: Span,
}

/// What a formula about states says.
#[derive(Clone, Debug)]
pub enum StateKind {
    /// A condition on data.
    Data(DataId),
    /// `!F`
    Not(Box<State>),
    /// `F && G` and its like.
    Binary(Connective, Box<State>, Box<State>),
    /// `forall` or `exists`.
    Quantifier {
        /// Whether it is `forall`.
        all: bool,
        /// At least one.
        variables: Box<[Variable]>,
        /// What they are bound in.
        body: Box<State>,
    },
    /// `[R]F` or `<R>F`.
    Modality {
        /// Whether it is `[R]F`.
        all: bool,
        /// The paths.
        regular: Box<Regular>,
        /// What holds after them.
        body: Box<State>,
    },
    /// `mu X(d: D = e). F`
    FixedPoint {
        /// Whether it is `mu`.
        least: bool,
        /// Its name.
        name: Name,
        /// Its parameters with their first values.
        parameters: Box<[(Variable, DataId)]>,
        /// What it stands for.
        body: Box<State>,
    },
    /// `X(e)`
    Call {
        /// The fixed point.
        name: Name,
        /// New values of its parameters.
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
    /// Which.
    pub kind: RegularKind,
    /// Where it stands.
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
    /// All if the condition holds, else none.
    Data(DataId),
    /// `a(e)|b`, none for `tau`. A single name may also be a condition.
    Multi(Box<[(Name, Box<[DataId]>)]>),
    /// `!A`
    Not(Box<Action>),
    /// `A && B` and its like.
    Binary(Connective, Box<Action>, Box<Action>),
    /// `forall` or `exists`.
    Quantifier {
        /// Whether it is `forall`.
        all: bool,
        /// At least one.
        variables: Box<[Variable]>,
        /// What they are bound in.
        body: Box<Action>,
    },
}
