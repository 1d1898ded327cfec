//! Expressions, statements and functions with their types: resolves names, checks types, flattens
//! arrays and structs. UPPAAL models use this language, and so do queries about any model.
//!
//! There is no generic checking: an expression is typed for every process and every choice of a
//! `select`, with parameters and choices as constants. Constants are folded on the way, so guards
//! that can never hold leave no edge. The result is a network directly ([`crate::network`]); there
//! is no typed tree in between.

pub(crate) mod conditions;
pub(crate) mod constants;
pub(crate) mod expressions;
pub(crate) mod fold;
pub(crate) mod functions;
pub(crate) mod lvalues;
pub(crate) mod operators;
pub(crate) mod reals;
pub(crate) mod statements;
pub(crate) mod types;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::Diagnostic;

use crate::network::{Local, Network, Place, Rate};
use crate::syntax::uppaal::tree;
pub(crate) use conditions::quantity;
pub(crate) use expressions::Operand;
pub(crate) use fold::balanced;
pub(crate) use functions::{FunctionKey, Instance, InstanceKey};
pub(crate) use lvalues::{Lvalue, Memory};
use types::Declared;

/// The result of lowering a part.
pub(crate) type Outcome<T> = Result<T, Diagnostic>;

/// What a name refers to.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// An object stored in cells: variables, constants, clocks, channels, parameters.
    Stored {
        /// Its cells.
        lvalue: Lvalue,
        /// Whether it is a constant of the language, which types and initial values may depend on.
        computable: bool,
    },
    /// A type.
    Type(Declared),
    /// A function and the scope it is declared in.
    Function(FunctionKey, usize),
    /// A template or an instantiation.
    Template,
    /// Locations with a label (`.tck`).
    Label(crate::network::Expression),
    /// A constant with a fraction.
    Number(f64),
    /// A parameter whose argument has no value, with the error to report where the parameter is
    /// used.
    NoValue(Box<Diagnostic>),
}

impl Entity {
    /// A description for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Entity::Stored { lvalue, .. } => lvalue.ty.describe(),
            Entity::Type(_) => "a type".into(),
            Entity::Function(..) => "a function".into(),
            Entity::Template => "a template".into(),
            Entity::Label(_) => "a label of locations".into(),
            Entity::Number(_) => "a `double`".into(),
            Entity::NoValue(_) => "a parameter without a value".into(),
        }
    }
}

/// A declared name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// What it refers to.
    pub entity: Entity,
    /// The byte of the source from which on it is visible: earlier text refers to something else.
    pub since: usize,
}

/// Names that are visible together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The enclosing scope.
    pub parent: Option<usize>,
    /// The declarations of this scope.
    pub names: FxHashMap<String, Named>,
}

impl Scope {
    /// What a name refers to once everything has been declared.
    pub(crate) fn get(&self, name: &str) -> Option<&Entity> {
        self.names.get(name).map(|named| &named.entity)
    }
}

/// The processes that one name on the system line denotes.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The first one.
    pub first: u32,
    /// Smallest and largest value of each free parameter; the last one varies fastest.
    pub parameters: Vec<(i32, i32)>,
}

/// The names of a process for queries.
#[derive(Clone, Debug)]
pub(crate) struct ProcessNames {
    /// Its parameters and declarations.
    pub scope: usize,
    /// Its named locations.
    pub locations: Arc<FxHashMap<String, u32>>,
}

/// Everything known about names; kept for queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The first is the scope of global declarations, the second that of the system text.
    pub scopes: Vec<Scope>,
    /// The lowered functions.
    pub instances: FxHashMap<InstanceKey, Instance>,
    /// By process.
    pub processes: Vec<ProcessNames>,
    /// By name on the system line.
    pub families: FxHashMap<String, Family>,
    /// Number of sets of scalars so far.
    pub scalars: u32,
    /// Clocks whose values are not tracked, because they have another rate or were set to a
    /// fraction, with the place of that.
    pub odd_clocks: BTreeMap<u32, Place>,
    /// The number of parts that the unit of time is divided into, so that no clock constant has a
    /// fraction.
    pub parts: Option<NonZeroU32>,
}

/// The local cells of an edge or a function.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The cells so far.
    pub locals: Vec<Local>,
    /// Whether local cells are allowed: not in invariants and queries.
    pub available: bool,
}

/// What the current expression is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Updates and functions: may have effects.
    Action,
    /// Must not have effects; the string names the construct for messages.
    Pure(&'static str),
    /// Must be a constant.
    Constant,
    /// Part of a query, where process names are visible.
    Query,
}

/// The state of lowering.
pub(crate) struct Checker<'t> {
    pub tree: &'t tree::Model,
    pub state: State,
    pub network: Network,
    /// The current scope.
    pub scope: usize,
    /// Whether names must be declared before they are used; not for queries, which are not part of
    /// the text.
    pub ordered: bool,
    pub frame: Frame,
    pub purpose: Purpose,
    /// Whether the lowered code writes to memory other than local cells.
    pub effects: bool,
    /// Whether it reads variables.
    pub reads: bool,
    /// Functions whose bodies are being lowered.
    pub calling: Vec<FunctionKey>,
    /// Result type of the function whose body is being lowered.
    pub result: types::Type,
    /// The destination of a returned struct.
    pub out: Option<Lvalue>,
    /// Whether a visited function only computes real values, and whether it has no effects at all.
    pub harmless: FxHashMap<(FunctionKey, usize), bool>,
    pub pure: FxHashMap<(FunctionKey, usize), bool>,
    /// The number of quantifier bodies expanded for the current expression.
    pub expanded: u32,
    /// Where the parts of a question begin that do not matter, and whose names were checked.
    pub checked: FxHashSet<usize>,
    /// The rates that the current invariant sets.
    pub rates: Vec<Rate>,
    /// The number of choices of edges so far.
    pub choices: u64,
    /// Processes and the channels without a direction on their edges, with the first place.
    pub mentioned: BTreeMap<(u32, u32), Place>,
    /// Names of the current declarations, including later ones.
    pub upcoming: FxHashSet<String>,
    /// The errors in the declarations of names that have no value because of them.
    pub failed: FxHashMap<String, Diagnostic>,
    pub settings: FxHashMap<String, String>,
    pub used_settings: FxHashSet<String>,
    pub errors: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    /// Fractions that the parts of a unit do not express.
    pub missing: reals::Fractions,
}

/// Notes at names that refer to nothing.
pub(crate) const NOT_DECLARED: &str = "not declared";
pub(crate) const NOT_A_FIELD: &str = "not a field";

/// Scope of global declarations.
pub(crate) const GLOBAL: usize = 0;
/// Scope of the system text.
pub(crate) const SYSTEM: usize = 1;
/// Scope of predeclared names.
pub(crate) const PREDECLARED: usize = 2;

/// What a name should stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Name,
    Function,
    Type,
    Process,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Name => "name",
            Wanted::Function => "function",
            Wanted::Type => "type",
            Wanted::Process => "process",
        })
    }
}

impl<'t> Checker<'t> {
    /// Starts with existing names.
    pub(crate) fn new(tree: &'t tree::Model, state: State) -> Self {
        Checker {
            tree,
            state,
            network: Network::default(),
            scope: GLOBAL,
            ordered: true,
            frame: Frame::default(),
            purpose: Purpose::Action,
            effects: false,
            reads: false,
            calling: Vec::new(),
            result: types::Type::Void,
            out: None,
            harmless: FxHashMap::default(),
            pure: FxHashMap::default(),
            expanded: 0,
            checked: FxHashSet::default(),
            rates: Vec::new(),
            choices: 0,
            mentioned: BTreeMap::new(),
            upcoming: FxHashSet::default(),
            failed: FxHashMap::default(),
            settings: FxHashMap::default(),
            used_settings: FxHashSet::default(),
            errors: Vec::new(),
            warnings: Vec::new(),
            missing: reals::Fractions::default(),
        }
    }

    /// Reports an error, but only once: the same text is lowered many times.
    pub(crate) fn note(&mut self, error: Diagnostic) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Whether to stop looking for more errors.
    pub(crate) fn enough_errors(&self) -> bool {
        self.errors.len() >= 20
    }

    /// What a name refers to at a place: the innermost declaration that precedes it.
    pub(crate) fn lookup(&self, name: &str, place: &Place) -> Option<Entity> {
        let mut scope = Some(self.scope);
        while let Some(index) = scope {
            let names = &self.state.scopes[index];
            if let Some(named) = names.names.get(name)
                && (!self.ordered || named.since <= place.start)
            {
                return Some(named.entity.clone());
            }
            scope = names.parent;
        }
        None
    }

    /// Lowers text of the model that belongs to another scope, such as the body or the parameters
    /// of a function.
    pub(crate) fn written_in<T>(&mut self, scope: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer_scope = std::mem::replace(&mut self.scope, scope);
        let outer_order = std::mem::replace(&mut self.ordered, true);
        let outcome = work(self);
        self.ordered = outer_order;
        self.scope = outer_scope;
        outcome
    }

    /// The error for an unknown name, with the most similar known one.
    pub(crate) fn unknown(
        &self,
        name: &str,
        place: &Place,
        what: Wanted,
        wanted: impl Fn(&Entity) -> bool,
    ) -> Diagnostic {
        let early = || {
            Diagnostic::error(format!("`{name}` is used before its declaration"))
                .at(place.clone(), "declared only later")
                .help(format!("move the declaration of `{name}` before its first use"))
        };
        if let Some(reason) = self.failed.get(name) {
            return reason.clone();
        }
        if self.upcoming.contains(name) {
            return early();
        }
        let mut names: Vec<&str> = Vec::new();
        let mut scope = Some(self.scope);
        while let Some(index) = scope {
            // A misspelt name is probably one that the model declares.
            if index == PREDECLARED && what != Wanted::Type {
                break;
            }
            let scope_names = &self.state.scopes[index];
            if scope_names.names.contains_key(name) {
                // It would be known if it were declared earlier.
                return early();
            }
            let visible =
                |named: &Named| wanted(&named.entity) && (!self.ordered || named.since <= place.start);
            names.extend(scope_names.names.iter().filter(|(_, e)| visible(e)).map(|(n, _)| n.as_str()));
            scope = scope_names.parent;
        }
        if self.purpose == Purpose::Query {
            names.extend(self.state.families.keys().map(String::as_str));
        }
        names.sort_unstable();
        let error = Diagnostic::error(format!("there is no {what} `{name}`")).at(place.clone(), NOT_DECLARED);
        match self.purpose {
            // Whoever asks does not always see the model.
            Purpose::Query => suggest_or_show(error, name, &names, "the model has"),
            _ => error.suggest(name, names),
        }
    }

    /// Declares a name in the current scope.
    pub(crate) fn declare(&mut self, name: &tree::Identifier, entity: Entity) -> Outcome<()> {
        let names = &mut self.state.scopes[self.scope].names;
        if names.contains_key(&name.name) {
            return Err(Diagnostic::error(format!("`{}` is declared already", name.name))
                .at(name.span.clone(), "declared again")
                .help("names of one scope must differ"));
        }
        names.insert(name.name.clone(), Named { entity, since: name.span.start });
        Ok(())
    }

    /// Runs `work` in a new scope inside the current one, which is then dropped.
    pub(crate) fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let outer = self.scope;
        let depth = self.state.scopes.len();
        self.state.scopes.push(Scope { parent: Some(outer), ..Scope::default() });
        self.scope = depth;
        let outcome = work(self);
        self.scope = outer;
        self.state.scopes.truncate(depth);
        outcome
    }

    /// Runs `work` with another purpose.
    pub(crate) fn with_purpose<T>(
        &mut self,
        purpose: Purpose,
        work: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let outer = std::mem::replace(&mut self.purpose, purpose);
        let outcome = work(self);
        self.purpose = outer;
        outcome
    }
}

/// Suggests the name that `word` is probably a misspelling of, or else shows some of the `names` after `intro`.
pub(super) fn suggest_or_show(error: Diagnostic, word: &str, names: &[&str], intro: &str) -> Diagnostic {
    const SHOWN: usize = 12;
    let error = error.suggest(word, names.iter().copied());
    if names.is_empty() {
        return error;
    }
    let more = if names.len() > SHOWN { ", …" } else { "" };
    error.help_if_none(format!("{intro} {}{more}", names[..names.len().min(SHOWN)].join(", ")))
}
