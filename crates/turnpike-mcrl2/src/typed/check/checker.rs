//! The state that all phases of type checking share: the tree, the growing program, the names in
//! scope and the diagnostics.

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::{Diagnostic, Severity};

use super::infer::Inference;
use super::pattern::Patterns;
use super::sort_declarations::Resolver;
use crate::syntax::{self, Span, Symbol, Tree};
use crate::typed::builtin::{self, Overload};
use crate::typed::items::{ActionId, ProcessId, VariableId};
use crate::typed::program::Program;
use crate::typed::sorts::SortId;

/// More diagnostics than this are not useful.
const MOST_DIAGNOSTICS: usize = 100;

/// A type checker at work.
pub(super) struct Checker<'a> {
    pub(super) tree: &'a Tree,
    pub(super) program: Program,
    pub(super) patterns: Patterns,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) errors: usize,
    /// The words of the tree as words of the program; empty when they are the same.
    translation: Vec<Symbol>,
    pub(super) builtins: FxHashMap<Symbol, &'static [Overload]>,
    pub(super) actions: FxHashMap<Symbol, Vec<ActionId>>,
    pub(super) processes: FxHashMap<Symbol, Vec<ProcessId>>,
    pub(super) resolver: Resolver,
    /// Syntactic sorts that are resolved, by index.
    pub(super) resolved: Vec<Option<SortId>>,
    scope: FxHashMap<Symbol, VariableId>,
    /// What scopes were before, to be restored from the end.
    hidden: Vec<(Symbol, Option<VariableId>)>,
    pub(super) inference: Inference,
    /// Whether equations are being checked, whose variables are declared apart from them.
    pub(super) in_equations: bool,
    /// The actions that a formula assumes; `None` where every action must be declared.
    pub(super) assumed: Option<Assumed>,
}

/// Actions that a formula mentions and nothing declares.
pub(super) struct Assumed {
    /// How many actions are declared: the others are assumed.
    pub(super) declared: usize,
    /// Their names and places.
    pub(super) names: Vec<(String, std::ops::Range<usize>)>,
}

impl<'a> Checker<'a> {
    /// A checker that goes on from a program; the words of the tree are added to it.
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
            assumed: None,
        }
    }

    /// A word of the tree as word of the program.
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

    /// An error about a name that does not exist, with the nearest one that does.
    pub(super) fn unknown(&mut self, span: Span, kind: &str, word: Symbol, candidates: &mut Vec<Symbol>) {
        self.unknown_with_help(span, kind, word, candidates, None);
    }

    /// The same, with something to say when no name is near.
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
        // Every letter is near every other letter.
        let sensible = |one: &&str| text.len() > 1 || one.eq_ignore_ascii_case(text);
        let names = candidates.iter().map(|&one| self.text(one)).filter(sensible);
        let mut diagnostic =
            Diagnostic::error(format!("unknown {kind} {text}")).at(span.range(), "").suggest(text, names);
        if let Some(otherwise) = otherwise {
            diagnostic = diagnostic.help_if_none(otherwise);
        }
        self.report(diagnostic);
    }

    /// The variable of a name, if there is one here.
    pub(super) fn variable(&self, word: Symbol) -> Option<VariableId> {
        self.scope.get(&word).copied()
    }

    /// All names of variables here.
    pub(super) fn variable_names(&self) -> Vec<Symbol> {
        // The caller sorts them: no order of a table is seen.
        #[allow(clippy::iter_over_hash_type)]
        {
            self.scope.keys().copied().collect()
        }
    }

    /// How many names are hidden: give it to [`Checker::unbind`].
    pub(super) fn mark(&self) -> usize {
        self.hidden.len()
    }

    pub(super) fn bind(&mut self, variable: VariableId) {
        let name = self.program.variable(variable).name;
        let before = self.scope.insert(name, variable);
        self.hidden.push((name, before));
    }

    /// Forgets what was bound since the mark.
    pub(super) fn unbind(&mut self, mark: usize) {
        while self.hidden.len() > mark {
            let Some((name, before)) = self.hidden.pop() else { return };
            match before {
                Some(variable) => self.scope.insert(name, variable),
                None => self.scope.remove(&name),
            };
        }
    }

    /// New variables, declared together; they are not bound yet.
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

    /// Variables may not have the name of a function or constant.
    pub(super) fn check_variable_name(&mut self, name: Symbol, span: Span) {
        let kind = if self.builtins.contains_key(&name) {
            "a built-in function"
        } else if self.program.symbols_named(name).is_empty() {
            return;
        } else {
            "a declared function or constant"
        };
        let message = format!("variable {} has the name of {kind}", self.text(name));
        self.error_with_help(span, message, "give the variable a name of its own");
    }
}
