//! Formulas: what is wrong with their syntax, and their fixed points. Actions and data belong to a
//! specification that the file does not name, so they are not looked up.

use turnpike_mcrl2::syntax::formula::{State, StateKind};
use turnpike_mcrl2::syntax::{Symbols, Tree, parse_formula};
use turnpike_model::Diagnostic;

use crate::analysis::{Analysis, Kind, Symbol, Use};

const KEYWORDS: &[&str] = &[
    "act", "cons", "div", "eqn", "exists", "false", "forall", "form", "if", "in", "lambda", "map", "mod",
    "mu", "nu", "sort", "struct", "tau", "true", "val", "var", "whr", "Bag", "Bool", "FBag", "FSet", "Int",
    "List", "Nat", "Pos", "Real", "Set",
];

/// Reads a text.
pub(crate) fn analyse(text: &str) -> Analysis {
    let (file, diagnostics) = parse_formula(text, &Symbols::default());
    let mut analysis = Analysis { diagnostics, keywords: KEYWORDS, ..Analysis::default() };
    if let Some(file) = file {
        Walk { tree: &file.tree, analysis: &mut analysis, fixed: Vec::new() }.state(&file.formula);
        analysis.uses.sort_by_key(|one| one.range.start);
    }
    analysis
}

/// All that can be said without a specification.
pub(crate) fn check(text: &str) -> Vec<Diagnostic> {
    parse_formula(text, &Symbols::default()).1
}

/// Collects what a formula declares.
struct Walk<'a> {
    tree: &'a Tree,
    analysis: &'a mut Analysis,
    /// The fixed points in scope, as numbers of symbols.
    fixed: Vec<usize>,
}

impl Walk<'_> {
    fn state(&mut self, state: &State) {
        match &state.kind {
            StateKind::Data(_) => {}
            StateKind::Not(body) | StateKind::Modality { body, .. } | StateKind::Quantifier { body, .. } => {
                self.state(body)
            }
            StateKind::Binary(_, left, right) => {
                self.state(left);
                self.state(right);
            }
            StateKind::FixedPoint { least, name, body, .. } => {
                let detail = format!("a {} fixed point", if *least { "least" } else { "greatest" });
                let (range, whole) = (name.span.range(), state.span.range());
                let symbol = self.analysis.symbols.len();
                self.analysis.uses.push(Use { range: range.clone(), symbol });
                let (name, scope) = (self.tree.text(name.symbol).to_owned(), Some(whole.clone()));
                let declared = Symbol { name, kind: Kind::Process, range, whole, detail, scope };
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_points_are_found_where_they_are_called() {
        let text = "% both\nnu X(n: Nat = 0). [a]X(n) && (mu X. <b>X)";
        let analysis = analyse(text);
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
            let found = check(text);
            let place = found.first().and_then(|one| one.span.as_ref()).map(|span| span.range.start);
            assert_eq!(place, Some(start), "{text}: {found:?}");
        }
    }
}
