//! Expressions, statements and functions with their types: names are resolved, types checked, arrays
//! and structs flattened. UPPAAL models and the queries about every kind of model are written in
//! this language.
//!
//! Nothing is checked in the abstract: an expression is typed once for every process and every
//! choice of a `select`, with parameters and choices as constants. What is known is worked out on
//! the way, so guards that can never hold leave no edge behind. The result is in the network's terms
//! at once ([`crate::network`]); there is no typed tree in between.

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

/// What lowering a part gives.
pub(crate) type Outcome<T> = Result<T, Diagnostic>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Entity {
    /// Something with cells: variables, constants, clocks, channels, parameters.
    Stored {
        /// Where it is.
        lvalue: Lvalue,
        /// A constant in the language's sense, which may decide about types and initial values.
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
    /// A parameter whose argument has no value, and what is wrong with it: an error of whoever uses
    /// the parameter.
    NoValue(Box<Diagnostic>),
}

impl Entity {
    /// As users would say it.
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

/// A name that has been declared.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// What it stands for.
    pub entity: Entity,
    /// The byte of the source from which on it is visible: text before speaks of something else.
    pub since: usize,
}

/// Names that are visible together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Where to look next.
    pub parent: Option<usize>,
    /// What is declared here.
    pub names: FxHashMap<String, Named>,
}

impl Scope {
    /// What a name stands for once everything has been declared.
    pub(crate) fn get(&self, name: &str) -> Option<&Entity> {
        self.names.get(name).map(|named| &named.entity)
    }
}

/// The processes that come from one name of the system line.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// First of them.
    pub first: u32,
    /// Smallest and largest value of each free parameter; the last one varies fastest.
    pub parameters: Vec<(i32, i32)>,
}

/// What queries need to know of a process.
#[derive(Clone, Debug)]
pub(crate) struct ProcessNames {
    /// Its parameters and declarations.
    pub scope: usize,
    /// Locations that can be spoken of.
    pub locations: Arc<FxHashMap<String, u32>>,
}

/// All that is known of names: kept for the queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The first is that of global declarations, the second that of the system text.
    pub scopes: Vec<Scope>,
    /// Functions that have been lowered.
    pub instances: FxHashMap<InstanceKey, Instance>,
    /// By process.
    pub processes: Vec<ProcessNames>,
    /// By name on the system line.
    pub families: FxHashMap<String, Family>,
    /// Number of sets of scalars so far.
    pub scalars: u32,
    /// Clocks that are not computed, because they run at a speed of their own or were given a
    /// fraction; and where that is said.
    pub odd_clocks: BTreeMap<u32, Place>,
    /// Into how many parts the unit of time is divided, so that no clock constant has a fraction.
    pub parts: Option<NonZeroU32>,
}

/// The local cells of an edge or a function.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The cells so far.
    pub locals: Vec<Local>,
    /// Whether there can be any: invariants and queries have none.
    pub available: bool,
}

/// What the expression at hand is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Updates and functions: effects are welcome.
    Action,
    /// Must not change anything: the words say what it is.
    Pure(&'static str),
    /// Must be known at once.
    Constant,
    /// Of a query, where processes can be spoken of.
    Query,
}

/// The work in progress.
pub(crate) struct Checker<'t> {
    pub tree: &'t tree::Model,
    pub state: State,
    pub network: Network,
    /// Scope of the names at hand.
    pub scope: usize,
    /// Whether names must be declared before they are used. A query is no part of the text and sees
    /// everything.
    pub ordered: bool,
    pub frame: Frame,
    pub purpose: Purpose,
    /// Whether what is lowered writes to memory other than local cells.
    pub effects: bool,
    /// Whether it reads variables.
    pub reads: bool,
    /// Functions whose bodies are being lowered.
    pub calling: Vec<FunctionKey>,
    /// Result of the function whose body is being lowered.
    pub result: types::Type,
    /// Where a struct is returned to.
    pub out: Option<Lvalue>,
    /// Functions that only compute what is not computed, and those that change nothing, as far as
    /// they were looked at.
    pub harmless: FxHashMap<(FunctionKey, usize), bool>,
    pub pure: FxHashMap<(FunctionKey, usize), bool>,
    /// How many bodies of quantifiers have been written out for the expression at hand.
    pub expanded: u32,
    /// What the invariant at hand says of the rates of clocks.
    pub rates: Vec<Rate>,
    /// How many choices of edges there have been.
    pub choices: u64,
    /// Processes and the channels that their edges name without a direction, with the first place.
    pub mentioned: BTreeMap<(u32, u32), Place>,
    /// Names of the declarations at hand, also of those that are still to come.
    pub upcoming: FxHashSet<String>,
    /// What is wrong with the declarations of names that have none because of it.
    pub failed: FxHashMap<String, Diagnostic>,
    pub settings: FxHashMap<String, String>,
    pub used_settings: FxHashSet<String>,
    pub errors: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    /// Fractions that the parts of a unit do not express.
    pub missing: reals::Fractions,
}

/// Scope of global declarations.
pub(crate) const GLOBAL: usize = 0;
/// Scope of the system text.
pub(crate) const SYSTEM: usize = 1;
/// Scope of what every model may use without declaring it.
pub(crate) const PREDECLARED: usize = 2;

impl<'t> Checker<'t> {
    /// Begins with what is known already.
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

    /// Notes an error, once: the same text is lowered many times.
    pub(crate) fn note(&mut self, error: Diagnostic) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Whether it is pointless to look for more errors.
    pub(crate) fn enough_errors(&self) -> bool {
        self.errors.len() >= 20
    }

    /// What a name stands for where it is written: the innermost declaration before that place
    /// counts, and later ones do not.
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

    /// Works on text of the model that stands in another scope, such as the body or the parameters
    /// of a function.
    pub(crate) fn written_in<T>(&mut self, scope: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer_scope = std::mem::replace(&mut self.scope, scope);
        let outer_order = std::mem::replace(&mut self.ordered, true);
        let outcome = work(self);
        self.ordered = outer_order;
        self.scope = outer_scope;
        outcome
    }

    /// The error for a name that does not exist, with the nearest one that does.
    pub(crate) fn unknown(
        &self,
        name: &str,
        place: &Place,
        what: &str,
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
            // Who misspells something means what the model declares.
            if index == PREDECLARED && what != "type" {
                break;
            }
            let scope_names = &self.state.scopes[index];
            if scope_names.names.contains_key(name) {
                // It would have been found if it were declared before.
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
        Diagnostic::error(format!("there is no {what} `{name}`"))
            .at(place.clone(), "not declared")
            .suggest(name, names)
    }

    /// Declares a name in the scope at hand.
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

    /// Works with a new scope inside the one at hand, which is forgotten afterwards.
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

    /// Works on something with another purpose.
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
