//! Resolves the names of a specification, even with errors, for editors.

use turnpike_model::diagnostic::Diagnostic;

use super::checker::Checker;
use super::infer::Resolution;
use super::run_all;
use crate::syntax::{self, Data, Name, Span, Specification};
use crate::typed::items::{ActionId, ProcessId, SymbolId, VariableId};
use crate::typed::program::Program;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// A variable or parameter.
    Variable(VariableId),
    /// A function or constant.
    Function(SymbolId),
    /// An action.
    Action(ActionId),
    /// A process.
    Process(ProcessId),
}

/// A type-checked specification with its names.
#[derive(Debug)]
pub struct NameIndex {
    /// The declarations. After errors, parts are missing.
    pub program: Program,
    /// The positions where names are used, with their meanings. Declarations are found through the
    /// spans of the items.
    pub uses: Vec<(Span, Meaning)>,
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

/// Type-checks a specification and resolves its names as far as possible.
pub fn index_names(specification: &Specification) -> NameIndex {
    let mut checker = Checker::new(&specification.tree, Program::default());
    run_all(&mut checker, specification);
    let mut uses = Vec::new();
    checker.index_data(&mut uses);
    checker.index_processes(&mut uses);
    let Checker { program, diagnostics, .. } = checker;
    NameIndex { program, uses, diagnostics }
}

impl Checker<'_> {
    pub(super) fn index_data(&self, uses: &mut Vec<(Span, Meaning)>) {
        let tree = self.tree;
        for id in tree.data_ids() {
            let node = &self.inference.nodes[id.index()];
            let name = match tree.data(id) {
                Data::Name(_) => id,
                Data::Apply { function, .. } => *function,
                _ => continue,
            };
            let meaning = match node.resolution {
                Resolution::Variable(variable) => Some(Meaning::Variable(variable)),
                // After an error, assume that the only function with this name is meant.
                Resolution::Functions(word) => match (node.symbol, self.program.symbols_named(word)) {
                    (Some(symbol), _) | (None, &[symbol]) => Some(Meaning::Function(symbol)),
                    _ => None,
                },
                _ => None,
            };
            uses.extend(meaning.map(|meaning| (tree.data_span(name), meaning)));
        }
    }

    fn index_processes(&self, uses: &mut Vec<(Span, Meaning)>) {
        use syntax::Process;
        for id in self.tree.process_ids() {
            let action = |name: &Name| Some((name.span, Meaning::Action(*self.named_actions(name).first()?)));
            match self.tree.process(id) {
                Process::Action { name, arguments } => uses.extend(self.leaf(name, arguments.len())),
                Process::Call { name, assignments } => {
                    uses.extend(self.leaf(name, 0));
                    for assignment in assignments {
                        uses.extend(self.parameter(name, &assignment.name));
                    }
                }
                Process::Block { actions, .. } | Process::Hide { actions, .. } => {
                    uses.extend(actions.iter().filter_map(action));
                }
                Process::Allow { actions, .. } => {
                    uses.extend(actions.iter().flat_map(|all| &all.names).filter_map(action));
                }
                Process::Rename { renamings, .. } => {
                    uses.extend(renamings.iter().flat_map(|one| [&one.from, &one.to]).filter_map(action));
                }
                Process::Comm { rules, .. } => {
                    let names = rules.iter().flat_map(|rule| rule.from.iter().chain([&rule.to]));
                    uses.extend(names.filter_map(action));
                }
                _ => {}
            }
        }
    }

    fn named_actions(&self, name: &Name) -> &[ActionId] {
        self.actions.get(&self.word(name.symbol)).map_or(&[], Vec::as_slice)
    }

    /// An action or process with this number of arguments, or else any with this name.
    pub(super) fn leaf(&self, name: &Name, arguments: usize) -> Option<(Span, Meaning)> {
        let actions = self.named_actions(name);
        let fits = |&&id: &&ActionId| self.program.action(id).sorts.len() == arguments;
        let processes = self.processes.get(&self.word(name.symbol)).map_or(&[][..], Vec::as_slice);
        let takes = |&&id: &&ProcessId| self.program.process(id).parameters.len() == arguments;
        let action = actions.iter().find(fits).or(actions.first()).map(|&id| Meaning::Action(id));
        let process = processes.iter().find(takes).or(processes.first()).map(|&id| Meaning::Process(id));
        action.or(process).map(|meaning| (name.span, meaning))
    }

    /// The parameter that a call assigns.
    fn parameter(&self, process: &Name, name: &Name) -> Option<(Span, Meaning)> {
        let word = self.word(name.symbol);
        let processes = self.processes.get(&self.word(process.symbol))?;
        let parameters = processes.iter().flat_map(|&id| self.program.process(id).parameters.iter());
        let found = parameters.copied().find(|&id| self.program.variable(id).name == word)?;
        Some((name.span, Meaning::Variable(found)))
    }
}
