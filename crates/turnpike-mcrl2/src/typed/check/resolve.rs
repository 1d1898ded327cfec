//! Resolves the names of an expression top-down, and determines which variables are bound in it.

use super::checker::Checker;
use super::infer::Resolution;
use crate::syntax::{Data, DataId, Symbol};
use crate::typed::items::VariableId;
use crate::typed::sorts::SortId;

enum Step {
    Enter(DataId),
    Leave(usize),
}

impl Checker<'_> {
    /// Resolves the names of an expression, declares the variables bound in it, and lists its
    /// nodes, parents before children. In a `whr` clause the definitions come after the body, so
    /// that a bottom-up pass reaches them first.
    pub(super) fn resolve_names(&mut self, root: DataId) -> Vec<DataId> {
        let tree = self.tree;
        let mut order = Vec::new();
        let mut steps = vec![Step::Enter(root)];
        while let Some(step) = steps.pop() {
            let id = match step {
                Step::Enter(id) => id,
                Step::Leave(mark) => {
                    self.unbind(mark);
                    continue;
                }
            };
            order.push(id);
            match tree.data(id) {
                Data::Name(symbol) => {
                    self.inference.nodes[id.index()].resolution = self.resolve_function(*symbol, id);
                }
                Data::Apply { function, arguments } => {
                    let head = match tree.data(*function) {
                        Data::Name(symbol) => self.resolve_function(*symbol, *function),
                        _ => Resolution::Computed,
                    };
                    match head {
                        Resolution::Functions(_) | Resolution::None => {
                            self.inference.nodes[id.index()].resolution = head;
                        }
                        Resolution::Variable(_) | Resolution::Bound(_) | Resolution::Computed => {
                            self.inference.nodes[id.index()].resolution = Resolution::Computed;
                            steps.push(Step::Enter(*function));
                        }
                    }
                    steps.extend(arguments.iter().rev().map(|&one| Step::Enter(one)));
                }
                Data::Binder { variables, body, .. } => {
                    let variables = self.declare_variables(variables);
                    self.bind_in_data(id, &variables, &mut steps);
                    steps.push(Step::Enter(*body));
                }
                Data::Comprehension { variable, body } => {
                    let variables = self.declare_variables(std::slice::from_ref(variable));
                    self.bind_in_data(id, &variables, &mut steps);
                    steps.push(Step::Enter(*body));
                }
                Data::Where { body, definitions } => {
                    steps.extend(definitions.iter().map(|definition| Step::Enter(definition.value)));
                    let mut variables: Vec<VariableId> = Vec::with_capacity(definitions.len());
                    for definition in definitions {
                        let (name, span) = (self.word(definition.name.symbol), definition.name.span);
                        self.check_variable_name(name, span);
                        if variables.iter().any(|&other| self.program.variable(other).name == name) {
                            let message = format!("variable {} is defined twice", self.text(name));
                            self.error(span, message);
                        }
                        let variable = self.program.add_variable(name, SortId::UNKNOWN, span);
                        self.inference.definitions.insert(variable, definition.value);
                        variables.push(variable);
                    }
                    self.bind_in_data(id, &variables, &mut steps);
                    steps.push(Step::Enter(*body));
                }
                node => {
                    let first = steps.len();
                    node.for_each_child(|child| steps.push(Step::Enter(child)));
                    steps[first..].reverse();
                }
            }
        }
        order
    }

    fn bind_in_data(&mut self, id: DataId, variables: &[VariableId], steps: &mut Vec<Step>) {
        let first = variables.first().copied().unwrap_or(VariableId::new(0));
        self.inference.nodes[id.index()].resolution = Resolution::Bound(first);
        steps.push(Step::Leave(self.mark()));
        for &variable in variables {
            let inner = *self.program.variable(variable);
            if let Some(outer) = self.variable(inner.name) {
                let outer = self.program.variable(outer).sort;
                let known = inner.sort != SortId::UNKNOWN && outer != SortId::UNKNOWN;
                if known && outer != inner.sort {
                    let message = format!(
                        "variable {} of sort {} hides one of sort {}",
                        self.text(inner.name),
                        self.sort_text(inner.sort),
                        self.sort_text(outer)
                    );
                    self.error_with_help(inner.span, message, "give one of them another name");
                }
            }
            self.bind(variable);
        }
    }

    fn resolve_function(&mut self, symbol: Symbol, id: DataId) -> Resolution {
        let word = self.word(symbol);
        if let Some(variable) = self.variable(word) {
            return Resolution::Variable(variable);
        }
        if self.builtins.contains_key(&word) || !self.program.symbols_named(word).is_empty() {
            return Resolution::Functions(word);
        }
        let mut names = self.variable_names();
        names.extend(self.program.symbols.iter().map(|one| one.name));
        // `unknown` sorts them.
        #[allow(clippy::iter_over_hash_type)]
        names.extend(self.builtins.keys().copied());
        let kind = if self.actions.contains_key(&word) {
            "variable or function (though there is an action of that name)"
        } else {
            "variable, constant or function"
        };
        let help = self
            .in_equations
            .then_some("the variables of an `eqn` section are declared in a `var` section just before it");
        self.unknown_with_help(self.tree.data_span(id), kind, word, &mut names, help);
        Resolution::None
    }
}
