//! Formulas: what is wrong with their syntax, their fixed points and variables, and, if the specification
//! that they are about is known, its sorts, functions and actions.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use turnpike_mcrl2::explore::{LabelSource, Mcrl2Model, Options};
use turnpike_mcrl2::syntax::formula::{Action, FormulaFile, Regular, RegularKind, State, StateKind};
use turnpike_mcrl2::syntax::{Sort, Symbols, Tree, Variable, parse_formula, parse_specification};
use turnpike_mcrl2::typed::{Meaning, NameIndex, Program, index_names};
use turnpike_model::Diagnostic;
use turnpike_model::diagnostic::Severity;

use crate::analysis::{Analysis, Kind, Symbol, Use};
use crate::mcrl2;

const KEYWORDS: &[&str] = &[
    "act", "cons", "div", "eqn", "exists", "false", "forall", "form", "if", "in", "lambda", "map", "mod",
    "mu", "nu", "sort", "struct", "tau", "true", "val", "var", "whr", "Bag", "Bool", "FBag", "FSet", "Int",
    "List", "Nat", "Pos", "Real", "Set",
];

/// Reads a text. Without a specification, actions and data are not looked up.
pub(crate) fn analyse(text: &str, specification: Option<&str>) -> Analysis {
    let (file, diagnostics) = parse_formula(text, &Symbols::default());
    let mut analysis = Analysis { diagnostics, keywords: KEYWORDS, ..Analysis::default() };
    let mut scopes = BTreeMap::new();
    if let Some(file) = &file {
        let mut walk = Walk { tree: &file.tree, analysis: &mut analysis, fixed: Vec::new(), scopes };
        walk.state(&file.formula);
        scopes = walk.scopes;
    }
    if let Some(specification) = specification {
        let joined = Joined::new(specification, text, file.as_ref());
        look_up(&joined, file.as_ref(), &scopes, &mut analysis);
    }
    analysis.uses.sort_by_key(|one| (one.range.start, one.range.end));
    analysis.uses.dedup();
    analysis
}

/// All that can be said: with a specification, also which actions cannot occur.
pub(crate) fn check(text: &str, specification: Option<&str>) -> Vec<Diagnostic> {
    let found = analyse(text, specification).diagnostics;
    let Some(specification) = specification.filter(|_| !has_errors(&found)) else { return found };
    let (file, _) = parse_formula(text, &Symbols::default());
    let joined = Joined::new(specification, text, file.as_ref());
    let options = Options { added_from: Some(joined.appended), ..Options::default() };
    let Ok((model, _)) = Mcrl2Model::new("", &joined.text, &options) else { return found };
    match Arc::new(model).requirement(text, LabelSource::Own) {
        Err(errors) => errors,
        Ok((requirement, mut warnings)) => {
            warnings.extend(requirement.absent_actions().into_iter().map(|absent| {
                let message = "the specification hides or blocks this action, or never does it";
                let help = "`turnpike check` with --formula says why";
                Diagnostic::warning(message).at(absent.place, "").help(help)
            }));
            warnings
        }
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|one| one.severity == Severity::Error)
}

/// A specification, followed by the declarations that a formula has of its own.
struct Joined {
    text: String,
    /// Where the declarations begin in `text` and in the formula.
    appended: usize,
    start: usize,
}

/// Where something stands.
enum Place {
    /// In the formula.
    Here(Range<usize>),
    /// In the specification.
    There,
}

impl Joined {
    fn new(specification: &str, formula: &str, file: Option<&FormulaFile>) -> Joined {
        let own = file.filter(|file| !file.sections.is_empty()).map(|file| file.declarations.range());
        let own = own.unwrap_or(0..0);
        let text = format!("{specification}\n{}", &formula[own.clone()]);
        Joined { text, appended: specification.len() + 1, start: own.start }
    }

    fn place(&self, range: &Range<usize>) -> Place {
        if range.start < self.appended {
            return Place::There;
        }
        let back = |at: usize| self.start + at - self.appended;
        Place::Here(back(range.start)..back(range.end.max(range.start)))
    }
}

/// Adds what the specification declares and the formula uses.
fn look_up(
    joined: &Joined,
    file: Option<&FormulaFile>,
    scopes: &BTreeMap<usize, Range<usize>>,
    to: &mut Analysis,
) {
    let (mut specification, mut problems) = parse_specification(&joined.text);
    specification.added_from = joined.appended as u32;
    let index = index_names(&specification);
    problems.extend(index.diagnostics.iter().cloned());
    let vocabulary = mcrl2::vocabulary(&specification, &index);
    let first = to.symbols.len();
    for mut symbol in vocabulary.symbols {
        match (joined.place(&symbol.range), joined.place(&symbol.whole)) {
            (Place::Here(range), Place::Here(whole)) => (symbol.range, symbol.whole) = (range, whole),
            _ => symbol.elsewhere = true,
        }
        to.symbols.push(symbol);
    }
    for one in vocabulary.uses {
        if let Place::Here(range) = joined.place(&one.range) {
            to.uses.push(Use { range, symbol: first + one.symbol });
        }
    }
    let Some(file) = file else { return };
    let known = index.program.variables.len();
    let NameIndex { program, uses, diagnostics } = index.program.index_formula(file);
    let numbers = vocabulary.numbers.iter().map(|(&key, &symbol)| (key, first + symbol));
    Resolve { program: &program, known, numbers: numbers.collect(), scopes }.add(&uses, to);
    add_sorts(&file.tree, first, to);
    add_problems(joined, problems, diagnostics, to);
}

/// Adds what is wrong with the names of a formula, unless the specification itself is wrong.
fn add_problems(joined: &Joined, problems: Vec<Diagnostic>, formula: Vec<Diagnostic>, to: &mut Analysis) {
    if has_errors(&to.diagnostics) {
        return;
    }
    for mut problem in problems.into_iter().filter(|one| one.severity == Severity::Error) {
        let Some(span) = &mut problem.span else { continue };
        match joined.place(&span.range) {
            Place::Here(range) => {
                span.range = range;
                to.diagnostics.push(problem);
            }
            Place::There => {
                let message = "the specification has errors, so names in this formula are not checked";
                to.diagnostics.push(Diagnostic::warning(message));
                return;
            }
        }
    }
    if !has_errors(&to.diagnostics) {
        to.diagnostics.extend(formula);
    }
}

fn add_sorts(tree: &Tree, first: usize, to: &mut Analysis) {
    let sorts = to.symbols.iter().enumerate().skip(first).filter(|(_, one)| one.kind == Kind::Sort);
    let sorts: BTreeMap<&str, usize> = sorts.map(|(number, one)| (one.name.as_str(), number)).collect();
    let named = |id| match tree.sort(id) {
        Sort::Name(name) => sorts.get(tree.text(*name)).copied(),
        _ => None,
    };
    let uses = tree.sort_ids().filter_map(|id| Some((tree.sort_span(id).range(), named(id)?)));
    to.uses.extend(uses.map(|(range, symbol)| Use { range, symbol }));
}

/// Turns meanings of names into symbols.
struct Resolve<'a> {
    program: &'a Program,
    /// Variables from here on are the formula's own.
    known: usize,
    /// The symbols of functions and actions.
    numbers: BTreeMap<(u8, usize), usize>,
    /// Where the variables can be used that are declared at a place.
    scopes: &'a BTreeMap<usize, Range<usize>>,
}

impl Resolve<'_> {
    fn add(&mut self, uses: &[(turnpike_mcrl2::syntax::Span, Meaning)], to: &mut Analysis) {
        for (number, variable) in self.program.variables.iter().enumerate().skip(self.known) {
            let range = variable.span.range();
            if range.is_empty() {
                continue;
            }
            let name = self.program.text(variable.name).to_owned();
            let detail = format!("{name}: {}", self.program.sort_text(variable.sort));
            let scope = self.scopes.get(&range.start).cloned().unwrap_or_else(|| range.clone());
            let (kind, whole, symbol) = (Kind::Variable, range.clone(), to.symbols.len());
            to.uses.push(Use { range: range.clone(), symbol });
            let scope = Some(scope);
            to.symbols.push(Symbol { name, kind, range, whole, detail, scope, elsewhere: false });
            self.numbers.insert(mcrl2::variable_key(number), symbol);
        }
        for (span, meaning) in uses {
            if let Some(&symbol) = self.numbers.get(&mcrl2::key(*meaning)) {
                to.uses.push(Use { range: span.range(), symbol });
            }
        }
    }
}

/// Collects what a formula declares.
struct Walk<'a> {
    tree: &'a Tree,
    analysis: &'a mut Analysis,
    /// The fixed points in scope, as numbers of symbols.
    fixed: Vec<usize>,
    /// Where variables can be used, by where they are declared.
    scopes: BTreeMap<usize, Range<usize>>,
}

impl Walk<'_> {
    fn state(&mut self, state: &State) {
        match &state.kind {
            StateKind::Data(_) => {}
            StateKind::Not(body) => self.state(body),
            StateKind::Modality { regular, body, .. } => {
                self.regular(regular);
                self.state(body);
            }
            StateKind::Quantifier { variables, body, .. } => {
                self.declare(variables, &state.span.range());
                self.state(body);
            }
            StateKind::Binary(_, left, right) => {
                self.state(left);
                self.state(right);
            }
            StateKind::FixedPoint { least, name, parameters, body } => {
                let detail = format!("a {} fixed point", if *least { "least" } else { "greatest" });
                let (range, whole) = (name.span.range(), state.span.range());
                let parameters: Vec<Variable> = parameters.iter().map(|one| one.0).collect();
                self.declare(&parameters, &whole);
                let symbol = self.analysis.symbols.len();
                self.analysis.uses.push(Use { range: range.clone(), symbol });
                let (name, scope) = (self.tree.text(name.symbol).to_owned(), Some(whole.clone()));
                let kind = Kind::Process;
                let declared = Symbol { name, kind, range, whole, detail, scope, elsewhere: false };
                self.analysis.symbols.push(declared);
                self.fixed.push(symbol);
                self.state(body);
                self.fixed.pop();
            }
            StateKind::Call { name, .. } => {
                let text = self.tree.text(name.symbol);
                let symbols = &self.analysis.symbols;
                if let Some(&symbol) = self.fixed.iter().rev().find(|&&one| symbols[one].name == text) {
                    self.analysis.uses.push(Use { range: name.span.range(), symbol });
                }
            }
        }
    }

    fn declare(&mut self, variables: &[Variable], scope: &Range<usize>) {
        self.scopes.extend(variables.iter().map(|one| (one.name.span.range().start, scope.clone())));
    }

    fn regular(&mut self, regular: &Regular) {
        match &regular.kind {
            RegularKind::Action(action) => self.action(action, &regular.span.range()),
            RegularKind::Sequence(left, right) | RegularKind::Choice(left, right) => {
                self.regular(left);
                self.regular(right);
            }
            RegularKind::Star(body) | RegularKind::Plus(body) => self.regular(body),
        }
    }

    fn action(&mut self, action: &Action, scope: &Range<usize>) {
        match action {
            Action::Data(_) | Action::Multi(_) => {}
            Action::Not(body) => self.action(body, scope),
            Action::Binary(_, left, right) => {
                self.action(left, scope);
                self.action(right, scope);
            }
            Action::Quantifier { variables, body, .. } => {
                self.declare(variables, scope);
                self.action(body, scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAMP: &str = "\
sort Colour = struct red | green;
act show: Colour; error;
proc Lamp(c: Colour) = show(c) . Lamp(if(c == red, green, red));
init Lamp(red);
";

    fn messages(text: &str, specification: Option<&str>) -> Vec<String> {
        check(text, specification).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fixed_points_are_found_where_they_are_called() {
        let text = "% both\nnu X(n: Nat = 0). [a]X(n) && (mu X. <b>X)";
        let analysis = analyse(text, None);
        assert!(analysis.diagnostics.is_empty(), "{:?}", analysis.diagnostics);
        let names: Vec<&str> = analysis.symbols.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["X", "X"]);
        let called = |at: usize| analysis.use_at(at).map(|one| one.symbol);
        assert_eq!(called(text.find("X(n) &&").expect("a call")), Some(0));
        assert_eq!(called(text.rfind('X').expect("a call")), Some(1));
    }

    #[test]
    fn mistakes_have_places() {
        for (text, start) in [("<a>", 3), ("delay", 0)] {
            let found = check(text, None);
            let place = found.first().and_then(|one| one.span.as_ref()).map(|span| span.range.start);
            assert_eq!(place, Some(start), "{text}: {found:?}");
        }
    }

    #[test]
    fn names_mean_what_the_specification_declares() {
        let text = "forall c: Colour. [true*.show(c).show(red)]val(c == green)";
        let analysis = analyse(text, Some(LAMP));
        assert!(analysis.diagnostics.is_empty(), "{:?}", analysis.diagnostics);
        let meaning = |word: &str| {
            let found = analysis.use_at(text.find(word).expect("a word")).expect("a meaning");
            let symbol = &analysis.symbols[found.symbol];
            assert_eq!(text[found.range.clone()], symbol.name);
            (symbol.detail.as_str(), symbol.elsewhere.then(|| &LAMP[symbol.range.clone()]))
        };
        assert_eq!(meaning("Colour"), ("sort Colour", Some("Colour")));
        assert_eq!(meaning("show(red"), ("act show: Colour", Some("show")));
        assert_eq!(meaning("red"), ("red: Colour", Some("red")));
        assert_eq!(meaning("c)"), ("c: Colour", None));
        let offered: Vec<&str> = analysis.visible(30).iter().map(|one| one.name.as_str()).collect();
        assert!(["c", "show", "error", "green"].iter().all(|name| offered.contains(name)), "{offered:?}");
        assert!(!offered.contains(&"Lamp"), "processes do not occur in formulas");
        let offered = analyse("<sh", Some(LAMP));
        assert!(offered.visible(3).iter().any(|one| one.name == "show"), "a broken text is completed too");
    }

    #[test]
    fn unknown_names_and_what_cannot_occur_are_shown() {
        let found = analyse("[true*.sow(red)]false", Some(LAMP)).diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
        let (message, help) = (&found[0].message, found[0].help.as_deref().unwrap_or_default());
        assert!(message.contains("unknown action sow") && help.contains("`show`"), "{message}: {help}");
        assert_eq!(found[0].span.as_ref().map(|span| span.range.clone()), Some(7..10));
        assert!(messages("[true*.error]false", Some(LAMP))[0].contains("never does it"));
        assert!(messages("[true*.show(red)]false", Some(LAMP)).is_empty());
        let broken = LAMP.replace("Lamp(red)", "Lump(red)");
        let found = messages("[true*.sow(red)]false", Some(&broken));
        assert!(found.len() == 1 && found[0].contains("specification has errors"), "{found:?}");
    }

    #[test]
    fn declarations_of_a_formula_are_its_own() {
        let text =
            "map other: Colour -> Colour; eqn other(red) = green;\nform [true*.show(other(red))]false;";
        let analysis = analyse(text, Some(LAMP));
        assert!(analysis.diagnostics.is_empty(), "{:?}", analysis.diagnostics);
        let found = analysis.use_at(text.rfind("other").expect("a word")).expect("a meaning");
        let places = analysis.places(found.symbol);
        assert_eq!(places.len(), 3, "{places:?}");
        assert!(places.iter().all(|place| &text[place.clone()] == "other"));
        let wrong = text.replace("= green", "= grey");
        let found = analyse(&wrong, Some(LAMP)).diagnostics;
        let place = found[0].span.as_ref().expect("a place").range.clone();
        assert_eq!(&wrong[place], "grey", "{found:?}");
    }
}
