//! What a formula about a system without declarations mentions beyond the labels: elements of
//! `Data` and sorts. Declaring these makes it possible to ask for absence, and to check evidence
//! against the formula again.

use super::declare::{DATA, Kind, Places, Term, term};
use crate::syntax::formula::{Action, Regular, RegularKind, State, StateKind};
use crate::syntax::{DataId, Name, Sort, Symbol, Symbols, Tree, Variable, parse_formula};

/// What a formula mentions.
#[derive(Default)]
pub(super) struct Mentions {
    /// Elements of `Data`, at positions where such elements occur.
    pub(super) elements: Vec<Term>,
    /// Names of sorts without a declaration, each with the sort that its variables have in labels.
    pub(super) sorts: Vec<(String, String)>,
}

impl Mentions {
    pub(super) fn new(formula: &str, places: &Places) -> Mentions {
        let (file, _) = parse_formula(formula, &Symbols::default());
        let Some(file) = file else { return Mentions::default() };
        let mut reader = Reader { tree: &file.tree, places, bound: Vec::new(), found: Mentions::default() };
        reader.state(&file.formula);
        let mut found = reader.found;
        for (_, sort) in &mut found.sorts {
            if sort.is_empty() {
                DATA.clone_into(sort);
            }
        }
        found
    }
}

struct Reader<'a> {
    tree: &'a Tree,
    places: &'a Places,
    /// Variables in scope, with the names of their sorts unless these are built in.
    bound: Vec<(Symbol, Option<String>)>,
    found: Mentions,
}

impl Reader<'_> {
    fn bind(&mut self, variable: &Variable) {
        let sort = match self.tree.sort(variable.sort) {
            Sort::Name(name) => Some(self.tree.text(*name).to_owned()),
            _ => None,
        };
        if let Some(name) = &sort
            && self.found.sorts.iter().all(|one| one.0 != *name)
        {
            self.found.sorts.push((name.clone(), String::new()));
        }
        self.bound.push((variable.name.symbol, sort));
    }

    fn state(&mut self, state: &State) {
        let mark = self.bound.len();
        match &state.kind {
            StateKind::Data(_) | StateKind::Call { .. } => {}
            StateKind::Not(body) => self.state(body),
            StateKind::Binary(_, left, right) => {
                self.state(left);
                self.state(right);
            }
            StateKind::Quantifier { variables, body, .. } => {
                variables.iter().for_each(|one| self.bind(one));
                self.state(body);
            }
            StateKind::FixedPoint { parameters, body, .. } => {
                parameters.iter().for_each(|one| self.bind(&one.0));
                self.state(body);
            }
            StateKind::Modality { regular, body, .. } => {
                self.regular(regular);
                self.state(body);
            }
        }
        self.bound.truncate(mark);
    }

    fn regular(&mut self, regular: &Regular) {
        match &regular.kind {
            RegularKind::Action(action) => self.action(action),
            RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => {
                self.regular(left);
                self.regular(right);
            }
            RegularKind::Star(body) | RegularKind::Plus(body) => self.regular(body),
        }
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Data(_) => {}
            Action::Multi(actions) => {
                for (name, arguments) in actions {
                    self.arguments(*name, arguments);
                }
            }
            Action::Not(body) => self.action(body),
            Action::Binary(_, left, right) => {
                self.action(left);
                self.action(right);
            }
            Action::Quantifier { variables, body, .. } => {
                let mark = self.bound.len();
                variables.iter().for_each(|one| self.bind(one));
                self.action(body);
                self.bound.truncate(mark);
            }
        }
    }

    fn arguments(&mut self, name: Name, arguments: &[DataId]) {
        let name = self.tree.text(name.symbol);
        let is_known = self.places.has(name, arguments.len());
        for (position, &argument) in arguments.iter().enumerate() {
            let kind = self.places.at(name, arguments.len(), position);
            self.learn_sort(argument, kind);
            // At other positions an unknown name is a mistake.
            if is_known && kind.is_some_and(|kind| !has_data(kind)) {
                continue;
            }
            let is_bound = |text: &str| self.bound.iter().any(|one| self.tree.text(one.0) == text);
            let term = term(self.tree, argument, &is_bound);
            self.found.elements.push(term);
        }
    }

    /// A variable as an argument has the sort of that position.
    fn learn_sort(&mut self, argument: DataId, kind: Option<&Kind>) {
        let (Some(kind), crate::syntax::Data::Name(name)) = (kind, self.tree.data(argument)) else { return };
        let Some((_, Some(sort))) = self.bound.iter().rev().find(|one| one.0 == *name) else { return };
        let known = self.found.sorts.iter_mut().find(|one| one.0 == *sort && one.1.is_empty());
        if let Some((_, stands_for)) = known {
            *stands_for = kind.sort();
        }
    }
}

/// Whether elements of `Data` can occur at a position.
fn has_data(kind: &Kind) -> bool {
    match kind {
        Kind::Any | Kind::Data => true,
        Kind::List(inner) | Kind::Set(inner) | Kind::Bag(inner) => has_data(inner),
        Kind::Truth | Kind::Natural | Kind::Integer | Kind::Real => false,
    }
}
