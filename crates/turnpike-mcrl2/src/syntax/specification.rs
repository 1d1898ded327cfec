//! A specification: its sections in source order.

use super::symbol::{Name, Span};
use super::tree::{DataId, ProcessId, SortId, Tree, Variable};

/// A specification as written. Nothing is resolved: names may be unknown, and a name in a process
/// may be an action or a process.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// All expressions.
    pub tree: Tree,
    /// The sections in source order. There may be several of the same kind.
    pub sections: Vec<Section>,
    /// Where declarations begin that were added to the text, as those of a formula are. Functions that
    /// are declared there may have the names of variables before it.
    pub added_from: u32,
}

/// One section, without its keyword.
#[derive(Clone, Debug)]
pub enum Section {
    /// `sort`
    Sorts(Vec<SortDeclaration>),
    /// `cons`
    Constructors(Vec<FunctionDeclaration>),
    /// `map`
    Maps(Vec<FunctionDeclaration>),
    /// `glob`
    Globals(Vec<Variable>),
    /// `eqn`, with the `var` block before it.
    Equations {
        /// The variables of these equations, and of no others.
        variables: Vec<Variable>,
        /// The equations.
        equations: Vec<Equation>,
    },
    /// `act`
    Actions(Vec<ActionDeclaration>),
    /// `proc`
    Processes(Vec<ProcessDeclaration>),
    /// `init`
    Init(Init),
}

/// A declaration in a `sort` section.
#[derive(Clone, Debug)]
pub enum SortDeclaration {
    /// `A, B;`
    Basic {
        /// The new sorts.
        names: Box<[Name]>,
        /// The whole declaration.
        span: Span,
    },
    /// `A = …;`
    Alias {
        /// The new name.
        name: Name,
        /// Its definition.
        sort: SortId,
        /// The whole declaration.
        span: Span,
    },
}

/// `f, g: A # B -> C;` in a `cons` or `map` section.
#[derive(Clone, Debug)]
pub struct FunctionDeclaration {
    /// The new functions or constants.
    pub names: Box<[Name]>,
    /// Their sort.
    pub sort: SortId,
    /// The whole declaration.
    pub span: Span,
}

/// `a, b: A # B;` in an `act` section.
#[derive(Clone, Debug)]
pub struct ActionDeclaration {
    /// The new actions.
    pub names: Box<[Name]>,
    /// The sorts of their arguments; empty for actions without data.
    pub sorts: Box<[SortId]>,
    /// The whole declaration.
    pub span: Span,
}

/// `condition -> left = right;`
#[derive(Clone, Debug)]
pub struct Equation {
    /// The condition under which it applies.
    pub condition: Option<DataId>,
    /// The side that is matched.
    pub left: DataId,
    /// The side that replaces it.
    pub right: DataId,
    /// The whole equation.
    pub span: Span,
}

/// `P(x: A) = body;`
#[derive(Clone, Debug)]
pub struct ProcessDeclaration {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Box<[Variable]>,
    /// Its body.
    pub body: ProcessId,
    /// The whole declaration.
    pub span: Span,
}

/// `init process;`
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// The initial process.
    pub process: ProcessId,
    /// The whole declaration.
    pub span: Span,
}

impl Specification {
    /// The declarations of all `sort` sections.
    pub fn sorts(&self) -> impl Iterator<Item = &SortDeclaration> {
        self.sections.iter().flat_map(|section| match section {
            Section::Sorts(all) => &all[..],
            _ => &[],
        })
    }

    /// The declarations of all `cons` sections.
    pub fn constructors(&self) -> impl Iterator<Item = &FunctionDeclaration> {
        self.sections.iter().flat_map(|section| match section {
            Section::Constructors(all) => &all[..],
            _ => &[],
        })
    }

    /// The declarations of all `map` sections.
    pub fn maps(&self) -> impl Iterator<Item = &FunctionDeclaration> {
        self.sections.iter().flat_map(|section| match section {
            Section::Maps(all) => &all[..],
            _ => &[],
        })
    }

    /// The variables of all `glob` sections.
    pub fn globals(&self) -> impl Iterator<Item = &Variable> {
        self.sections.iter().flat_map(|section| match section {
            Section::Globals(all) => &all[..],
            _ => &[],
        })
    }

    /// All `eqn` sections: variables and equations.
    pub fn equations(&self) -> impl Iterator<Item = (&[Variable], &[Equation])> {
        self.sections.iter().filter_map(|section| match section {
            Section::Equations { variables, equations } => Some((&variables[..], &equations[..])),
            _ => None,
        })
    }

    /// The declarations of all `act` sections.
    pub fn actions(&self) -> impl Iterator<Item = &ActionDeclaration> {
        self.sections.iter().flat_map(|section| match section {
            Section::Actions(all) => &all[..],
            _ => &[],
        })
    }

    /// The declarations of all `proc` sections.
    pub fn processes(&self) -> impl Iterator<Item = &ProcessDeclaration> {
        self.sections.iter().flat_map(|section| match section {
            Section::Processes(all) => &all[..],
            _ => &[],
        })
    }

    /// The initial process; a specification that was read without errors has exactly one.
    pub fn init(&self) -> Option<Init> {
        self.sections.iter().find_map(|section| match section {
            Section::Init(init) => Some(*init),
            _ => None,
        })
    }
}
