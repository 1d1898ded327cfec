//! The state that all phases of type checking share: the tree, the program under construction, the
//! names in scope and the diagnostics.

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::{Diagnostic, Severity};

use super::infer::Inference;
use super::pattern::Patterns;
use super::sort_declarations::Resolver;
use crate::syntax::{self, Span, Symbol, Tree};
use crate::typed::builtin::{self, Overload};
use crate::typed::items::{ActionId, ProcessId, SymbolId, VariableId};
use crate::typed::program::Program;
use crate::typed::sorts::SortId;

/// Further diagnostics are not useful.
const MOST_DIAGNOSTICS: usize = 100;

/// The type checker.
pub(super) struct Checker<'a> {
    pub(super) tree: &'a Tree,
    pub(super) program: Program,
    pub(super) patterns: Patterns,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) errors: usize,
    /// The word of the program for each word of the tree; empty if they are the same.
    translation: Vec<Symbol>,
    pub(super) builtins: FxHashMap<Symbol, &'static [Overload]>,
    pub(super) actions: FxHashMap<Symbol, Vec<ActionId>>,
    pub(super) processes: FxHashMap<Symbol, Vec<ProcessId>>,
    pub(super) resolver: Resolver,
    /// The resolved sort for each sort expression.
    pub(super) resolved: Vec<Option<SortId>>,
    scope: FxHashMap<Symbol, VariableId>,
    /// Shadowed bindings, to be restored from the end.
    hidden: Vec<(Symbol, Option<VariableId>)>,
    pub(super) inference: Inference,
    /// Whether equations are being checked. Their variables are declared separately.
    pub(super) in_equations: bool,
    /// Where declarations begin that were added to the text.
    pub(super) added_from: u32,
    /// The actions assumed for a formula; `None` if every action must be declared.
    pub(super) assumed: Option<Assumed>,
}

/// Actions that occur in a formula but are not declared.
pub(super) struct Assumed {
    /// The number of declared actions. All later ones are assumed.
    pub(super) declared: usize,
    /// Their names and positions.
    pub(super) names: Vec<(String, std::ops::Range<usize>)>,
}

impl<'a> Checker<'a> {
    /// A checker that extends a program. The words of the tree are added to it.
    pub(super) fn new(tree: &'a Tree, mut program: Program) -> Self {
        let mut translation = Vec::new();
        if program.words.is_empty() {
            program.words = tree.symbols.clone();
        } else {
            translation = tree.symbols.iter().map(|word| program.words.intern(word)).collect();
        }
        let builtins = builtin::NAMED.iter().map(|&(name, all)| (program.words.intern(name), all)).collect();
        Checker {
            tree,
            program,
            patterns: Patterns::default(),
            diagnostics: Vec::new(),
            errors: 0,
            translation,
            builtins,
            actions: FxHashMap::default(),
            processes: FxHashMap::default(),
            resolver: Resolver::default(),
            resolved: vec![None; tree.sort_ids().len()],
            scope: FxHashMap::default(),
            hidden: Vec::new(),
            inference: Inference::new(tree.data_ids().len()),
            in_equations: false,
            added_from: u32::MAX,
            assumed: None,
        }
    }

    /// The word of the program for a word of the tree.
    pub(super) fn word(&self, symbol: Symbol) -> Symbol {
        self.translation.get(symbol.index()).copied().unwrap_or(symbol)
    }

    pub(super) fn text(&self, word: Symbol) -> &str {
        self.program.words.text(word)
    }

    pub(super) fn sort_text(&self, sort: SortId) -> String {
        self.program.sort_text(sort)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(message).at(span.range(), ""));
    }

    pub(super) fn error_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Diagnostic::error(message).at(span.range(), "").help(help));
    }

    /// Reports a name that does not exist, suggesting the nearest one that does.
    pub(super) fn unknown(&mut self, span: Span, kind: &str, word: Symbol, candidates: &mut Vec<Symbol>) {
        self.unknown_with_help(span, kind, word, candidates, None);
    }

    /// As [`Checker::unknown`], with a help text if no name is near.
    pub(super) fn unknown_with_help(
        &mut self,
        span: Span,
        kind: &str,
        word: Symbol,
        candidates: &mut Vec<Symbol>,
        otherwise: Option<&str>,
    ) {
        if self.diagnostics.len() >= MOST_DIAGNOSTICS {
            self.errors += 1;
            return;
        }
        candidates.sort_unstable();
        candidates.dedup();
        let text = self.text(word);
        // Single letters are all near each other.
        let sensible = |one: &&str| text.len() > 1 || one.eq_ignore_ascii_case(text);
        let names = candidates.iter().map(|&one| self.text(one)).filter(sensible);
        let mut diagnostic =
            Diagnostic::error(format!("unknown {kind} {text}")).at(span.range(), "").suggest(text, names);
        if let Some(otherwise) = otherwise {
            diagnostic = diagnostic.help_if_none(otherwise);
        }
        self.report(diagnostic);
    }

    /// The variable with this name, if one is in scope.
    pub(super) fn variable(&self, word: Symbol) -> Option<VariableId> {
        self.scope.get(&word).copied()
    }

    /// The names of all variables in scope.
    pub(super) fn variable_names(&self) -> Vec<Symbol> {
        // The caller sorts them, so that the order of the table is not observable.
        #[allow(clippy::iter_over_hash_type)]
        {
            self.scope.keys().copied().collect()
        }
    }

    /// The number of shadowed bindings, for [`Checker::unbind`].
    pub(super) fn mark(&self) -> usize {
        self.hidden.len()
    }

    pub(super) fn bind(&mut self, variable: VariableId) {
        let name = self.program.variable(variable).name;
        let before = self.scope.insert(name, variable);
        self.hidden.push((name, before));
    }

    /// Ends the scope of variables bound since the mark.
    pub(super) fn unbind(&mut self, mark: usize) {
        while self.hidden.len() > mark {
            let Some((name, before)) = self.hidden.pop() else { return };
            match before {
                Some(variable) => self.scope.insert(name, variable),
                None => self.scope.remove(&name),
            };
        }
    }

    /// Adds variables that are declared together, without binding them.
    pub(super) fn declare_variables(&mut self, variables: &[syntax::Variable]) -> Box<[VariableId]> {
        let mut ids: Vec<VariableId> = Vec::with_capacity(variables.len());
        for variable in variables {
            let name = self.word(variable.name.symbol);
            let sort = self.resolve_sort(variable.sort);
            self.check_variable_name(name, variable.name.span);
            if ids.iter().any(|&other| self.program.variable(other).name == name) {
                let message = format!("variable {} is declared twice", self.text(name));
                self.error(variable.name.span, message);
            }
            ids.push(self.program.add_variable(name, sort, variable.name.span));
        }
        ids.into()
    }

    /// Whether a function was added to a text in which something stood here before.
    fn is_added_after(&self, function: SymbolId, before: Span) -> bool {
        before.start < self.added_from && self.program.symbol(function).span.start >= self.added_from
    }

    /// Reports a variable with the name of a function or constant.
    pub(super) fn check_variable_name(&mut self, name: Symbol, span: Span) {
        let kind = if self.builtins.contains_key(&name) {
            "a built-in function"
        } else if self.program.symbols_named(name).iter().all(|&one| self.is_added_after(one, span)) {
            return;
        } else {
            "a declared function or constant"
        };
        let message = format!("variable {} has the name of {kind}", self.text(name));
        self.error_with_help(span, message, "give the variable a name of its own");
    }
}
