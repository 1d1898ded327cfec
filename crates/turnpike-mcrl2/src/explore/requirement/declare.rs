//! Derives declarations from labels: the sorts of the arguments of actions.
//!
//! Arguments are read as terms: truth values, numbers, lists, sets, bags, and elements of the sort
//! `Data`, whose constructors are the names and functions that occur. Any other text, or one that
//! does not fit the other arguments at its position, becomes a constant that a formula can bind but
//! not mention.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use turnpike_model::Label;

use super::mentions::Mentions;
use crate::syntax::{BinaryOperator, Data, DataId, Symbols, Tree, UnaryOperator, parse_data_expression};
use crate::typed::is_builtin_name;

/// The sort of all elements without a sort of their own.
pub(super) const DATA: &str = "Data";

/// What occurs at one position of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Unknown, as for the elements of `[]`.
    Any,
    Truth,
    Natural,
    Integer,
    Real,
    List(Box<Kind>),
    Set(Box<Kind>),
    Bag(Box<Kind>),
    Data,
}

impl Kind {
    /// The smallest kind that contains both.
    pub(super) fn join(&self, other: &Kind) -> Option<Kind> {
        use Kind::{Any, Bag, Integer, List, Natural, Real, Set};
        Some(match (self, other) {
            _ if self == other => self.clone(),
            (Any, one) | (one, Any) => one.clone(),
            (Natural | Integer, Natural | Integer) => Integer,
            (Natural | Integer | Real, Natural | Integer | Real) => Real,
            (List(one), List(other)) => List(Box::new(one.join(other)?)),
            (Set(one), Set(other)) => Set(Box::new(one.join(other)?)),
            (Bag(one), Bag(other)) => Bag(Box::new(one.join(other)?)),
            _ => return None,
        })
    }

    fn join_all(kinds: impl Iterator<Item = Option<Kind>>) -> Option<Box<Kind>> {
        let mut joined = Kind::Any;
        for kind in kinds {
            joined = joined.join(&kind?)?;
        }
        Some(Box::new(joined))
    }

    /// The name of its sort.
    pub(super) fn sort(&self) -> String {
        match self {
            Kind::Any | Kind::Natural => "Nat".to_owned(),
            Kind::Truth => "Bool".to_owned(),
            Kind::Integer => "Int".to_owned(),
            Kind::Real => "Real".to_owned(),
            Kind::List(inner) => format!("List({})", inner.sort()),
            Kind::Set(inner) => format!("Set({})", inner.sort()),
            Kind::Bag(inner) => format!("Bag({})", inner.sort()),
            Kind::Data => DATA.to_owned(),
        }
    }
}

/// An argument as a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Plain(Kind),
    List(Vec<Term>),
    Set(Vec<Term>),
    Bag(Vec<Term>),
    /// A name with arguments, none for a constant.
    Apply(String, Vec<Term>),
    /// A variable of the formula, or an expression with one.
    Open,
    /// Any other text.
    Text,
}

/// Reads the argument of a label.
pub(super) fn read_term(text: &str) -> Term {
    if decimal(text).is_some() {
        return Term::Plain(Kind::Real);
    }
    let (parsed, _) = parse_data_expression(text, &Symbols::default());
    parsed.map_or(Term::Text, |parsed| term(&parsed.tree, parsed.root, &|_| false))
}

/// Converts an expression to a term. `is_bound` recognises variables.
pub(super) fn term(tree: &Tree, id: DataId, is_bound: &dyn Fn(&str) -> bool) -> Term {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        let all = |parts: &[DataId]| parts.iter().map(|&part| term(tree, part, is_bound)).collect();
        match tree.data(id) {
            Data::Bool(_) => Term::Plain(Kind::Truth),
            Data::Number(_) => Term::Plain(Kind::Natural),
            Data::Unary(UnaryOperator::Minus, inner) => match term(tree, *inner, is_bound) {
                Term::Plain(Kind::Natural) => Term::Plain(Kind::Integer),
                Term::Plain(Kind::Real) => Term::Plain(Kind::Real),
                Term::Open => Term::Open,
                _ => Term::Text,
            },
            Data::Binary(BinaryOperator::Divide, left, right) => {
                match (term(tree, *left, is_bound), term(tree, *right, is_bound)) {
                    (Term::Plain(Kind::Natural | Kind::Integer), Term::Plain(Kind::Natural)) => {
                        Term::Plain(Kind::Real)
                    }
                    (Term::Open, _) | (_, Term::Open) => Term::Open,
                    _ => Term::Text,
                }
            }
            Data::List(parts) => Term::List(all(parts)),
            Data::Set(parts) => Term::Set(all(parts)),
            Data::Bag(parts) => Term::Bag(parts.iter().map(|one| term(tree, one.0, is_bound)).collect()),
            Data::Name(name) => match tree.text(*name) {
                name if is_bound(name) => Term::Open,
                name if is_builtin_name(name) => Term::Text,
                name => Term::Apply(name.to_owned(), Vec::new()),
            },
            Data::Apply { function, arguments } => match term(tree, *function, is_bound) {
                Term::Apply(name, none) if none.is_empty() => Term::Apply(name, all(arguments)),
                Term::Open => Term::Open,
                _ => Term::Text,
            },
            _ => Term::Text,
        }
    })
}

/// Rewrites `1.5` to `15/10`.
pub(super) fn decimal(text: &str) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.')?;
    (digits(whole) && digits(fraction)).then(|| {
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let numerator = if digits.is_empty() { "0" } else { digits };
        format!("{sign}{numerator}/1{}", "0".repeat(fraction.len()))
    })
}

/// Whether a text can be the name of a constant or an action.
fn is_name(text: &str) -> bool {
    let (parsed, _) = parse_data_expression(text, &Symbols::default());
    parsed.is_some_and(|one| matches!(one.tree.data(one.root), Data::Name(_))) && !is_builtin_name(text)
}

/// The constant that stands for a text that is not a term: the text itself if it is a name,
/// otherwise a name built from its bytes.
pub(super) fn constant(text: &str) -> String {
    if is_name(text) {
        return text.to_owned();
    }
    let mut name = "text_".to_owned();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "_{byte:02x}");
            }
        }
    }
    name
}

/// The constructors of `Data`, by name and number of arguments.
#[derive(Default)]
struct Constructors {
    /// The kinds of their arguments; `None` if these are inconsistent.
    fields: BTreeMap<(String, usize), Option<Vec<Kind>>>,
}

impl Constructors {
    /// The kind of a term; `None` if it cannot be declared.
    fn kind(&self, term: &Term) -> Option<Kind> {
        let all = |parts: &[Term]| Kind::join_all(parts.iter().map(|part| self.kind(part)));
        match term {
            Term::Plain(kind) => Some(kind.clone()),
            Term::List(parts) => all(parts).map(Kind::List),
            Term::Set(parts) => all(parts).map(Kind::Set),
            Term::Bag(parts) => all(parts).map(Kind::Bag),
            Term::Open => Some(Kind::Any),
            Term::Text => None,
            Term::Apply(name, arguments) => {
                let readable = matches!(self.fields.get(&(name.clone(), arguments.len())), Some(Some(_)));
                let inside = arguments.iter().all(|argument| self.kind(argument).is_some());
                (readable && inside).then_some(Kind::Data)
            }
        }
    }

    /// Adds the functions of a term. Returns whether anything changed.
    fn add(&mut self, term: &Term) -> bool {
        match term {
            Term::List(parts) | Term::Set(parts) | Term::Bag(parts) => {
                parts.iter().fold(false, |changed, part| self.add(part) | changed)
            }
            Term::Apply(name, arguments) => {
                let mut changed = arguments.iter().fold(false, |changed, part| self.add(part) | changed);
                let kinds: Option<Vec<Kind>> = arguments.iter().map(|one| self.kind(one)).collect();
                let key = (name.clone(), arguments.len());
                // A name with several arities, or both constant and function, is not supported.
                let other = self.fields.keys().any(|one| one.0 == *name && one.1 != arguments.len());
                let before = self.fields.get(&key);
                let now = match (before, kinds) {
                    (Some(None), _) | (_, None) => None,
                    _ if other => None,
                    (None, Some(kinds)) => Some(kinds),
                    (Some(Some(before)), Some(kinds)) => {
                        before.iter().zip(&kinds).map(|(one, other)| one.join(other)).collect()
                    }
                };
                if before != Some(&now) {
                    self.fields.insert(key, now);
                    changed = true;
                }
                changed
            }
            Term::Plain(_) | Term::Open | Term::Text => false,
        }
    }
}

/// The actions in labels, with the kinds of their arguments.
#[derive(Default)]
pub(super) struct Places {
    actions: BTreeMap<(String, usize), Vec<Kind>>,
}

impl Places {
    /// The kind at a position of an action, counted from 0.
    pub(super) fn at(&self, action: &str, arity: usize, position: usize) -> Option<&Kind> {
        self.actions.get(&(action.to_owned(), arity))?.get(position)
    }

    /// Whether an action with this name and arity occurs.
    pub(super) fn has(&self, action: &str, arity: usize) -> bool {
        self.actions.contains_key(&(action.to_owned(), arity))
    }
}

/// Declarations for labels, and the additions for a formula about them.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// Sections of a specification.
    pub text: String,
    /// Elements of `Data` that only the formula mentions.
    pub assumed_elements: Vec<String>,
    /// Sorts that only the formula mentions, each with the sort that stands for it.
    pub assumed_sorts: Vec<(String, String)>,
}

/// A specification that declares the actions of these labels.
pub fn declare_labels<'a>(labels: impl Iterator<Item = &'a str>) -> String {
    declare_labels_for(labels, "").text
}

/// The same, with the elements and sorts that a formula mentions and the labels lack.
pub fn declare_labels_for<'a>(labels: impl Iterator<Item = &'a str>, formula: &str) -> Declarations {
    let mut arguments: BTreeMap<(String, usize), BTreeSet<Vec<String>>> = BTreeMap::new();
    for action in labels.flat_map(|text| Label::parse(text).actions) {
        if is_name(&action.name) {
            let key = (action.name, action.arguments.len());
            arguments.entry(key).or_default().insert(action.arguments);
        }
    }
    let mut terms: BTreeMap<String, Term> = BTreeMap::new();
    for text in arguments.values().flatten().flatten() {
        terms.entry(text.clone()).or_insert_with(|| read_term(text));
    }
    let mut constructors = Constructors::default();
    // Kinds only grow, towards `None`.
    while terms.values().fold(false, |changed, term| constructors.add(term) | changed) {}
    let known: BTreeSet<String> = constructors.fields.keys().map(|one| one.0.clone()).collect();
    let mut places = Places::default();
    let mut opaque: BTreeSet<String> = BTreeSet::new();
    for ((name, arity), all) in &arguments {
        let kinds = (0..*arity).map(|position| {
            let texts = || all.iter().map(|one| &one[position]);
            let joined = Kind::join_all(texts().map(|text| constructors.kind(&terms[text])));
            joined.map_or_else(
                || {
                    let is_data = |text: &&String| constructors.kind(&terms[*text]) == Some(Kind::Data);
                    opaque.extend(texts().filter(|text| !is_data(text)).map(|text| constant(text)));
                    Kind::Data
                },
                |kind| *kind,
            )
        });
        let kinds = kinds.collect();
        places.actions.insert((name.clone(), *arity), kinds);
    }
    let mentions = Mentions::new(formula, &places);
    for term in &mentions.elements {
        constructors.add(term);
    }
    let mut declarations = Declarations::default();
    let mut elements: Vec<String> = opaque.into_iter().collect();
    for ((name, _), fields) in &constructors.fields {
        let Some(fields) = fields else { continue };
        if !known.contains(name) {
            declarations.assumed_elements.push(name.clone());
        }
        let sorts: Vec<String> = fields.iter().map(Kind::sort).collect();
        elements.push(if sorts.is_empty() { name.clone() } else { format!("{name}({})", sorts.join(", ")) });
    }
    elements.sort();
    elements.dedup();
    declarations.assumed_sorts = mentions.sorts;
    let needs_data = declarations.assumed_sorts.iter().any(|one| one.1.contains(DATA) || one.0 == DATA);
    if elements.is_empty() && needs_data {
        elements.push("no_element".to_owned());
    }
    let text = &mut declarations.text;
    if !elements.is_empty() {
        let _ = writeln!(text, "sort {DATA} = struct {};", elements.join(" | "));
    }
    for (name, sort) in declarations.assumed_sorts.iter().filter(|one| one.0 != DATA) {
        let _ = writeln!(text, "sort {name} = {sort};");
    }
    for ((name, _), kinds) in &places.actions {
        let sorts: Vec<String> = kinds.iter().map(Kind::sort).collect();
        let sorts = if sorts.is_empty() { String::new() } else { format!(": {}", sorts.join(" # ")) };
        let _ = writeln!(text, "act {name}{sorts};");
    }
    declarations
}
