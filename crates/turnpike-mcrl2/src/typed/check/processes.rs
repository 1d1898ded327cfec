//! Actions, processes and the initial process.

use super::checker::Checker;
use crate::syntax::{self, Specification};
use crate::typed::items::{
    Action, ActionId, Behaviour, BehaviourId, ExpressionId, Process, ProcessId, VariableId,
};
use crate::typed::sorts::SortId;

/// The checked data of a node, until its children are done.
enum Prepared {
    Nothing,
    Leaf(Option<Behaviour>),
    Data(Option<ExpressionId>),
    Bound(Box<[VariableId]>),
    Weighted(Box<[VariableId]>, Option<ExpressionId>),
}

enum Step {
    Enter(syntax::ProcessId),
    Leave(syntax::ProcessId, usize, Prepared),
}

impl Checker<'_> {
    /// Declares all actions.
    pub(super) fn declare_actions(&mut self, specification: &Specification) {
        for declaration in specification.actions() {
            let sorts: Box<[SortId]> =
                declaration.sorts.iter().map(|&sort| self.resolve_sort(sort)).collect();
            for name in &declaration.names {
                let word = self.word(name.symbol);
                let same = self
                    .actions
                    .get(&word)
                    .is_some_and(|all| all.iter().any(|&one| self.program.action(one).sorts == sorts));
                if same {
                    let message = format!("action {} is declared twice", self.signature_text(word, &sorts));
                    self.error(name.span, message);
                    continue;
                }
                let id = ActionId::new(self.program.actions.len());
                self.program.actions.push(Action { name: word, sorts: sorts.clone(), span: name.span });
                self.actions.entry(word).or_default().push(id);
            }
        }
    }

    /// Declares the global variables and brings them into scope.
    pub(super) fn declare_globals(&mut self, specification: &Specification) {
        let all: Vec<syntax::Variable> = specification.globals().copied().collect();
        let variables = self.declare_variables(&all);
        for &variable in &variables {
            self.bind(variable);
        }
        self.program.globals = variables.into();
    }

    /// Declares all processes with their parameters. Bodies are checked later, because they may
    /// call any process.
    pub(super) fn declare_processes(&mut self, specification: &Specification) {
        for declaration in specification.processes() {
            let word = self.word(declaration.name.symbol);
            let span = declaration.name.span;
            if self.actions.contains_key(&word) {
                let message = format!("{} is declared as an action and as a process", self.text(word));
                self.error(span, message);
            }
            let parameters = self.declare_variables(&declaration.parameters);
            let sorts = self.sorts_of(&parameters);
            let same = self.processes.get(&word).is_some_and(|all| {
                all.iter().any(|&one| self.sorts_of(&self.program.process(one).parameters) == sorts)
            });
            if same {
                let message = format!("process {} is declared twice", self.signature_text(word, &sorts));
                self.error_with_help(
                    span,
                    message,
                    "processes of one name must differ in the sorts of their parameters",
                );
            }
            let id = ProcessId::new(self.program.processes.len());
            self.program.processes.push(Process { name: word, parameters, body: None, span });
            self.processes.entry(word).or_default().push(id);
        }
    }

    pub(super) fn sorts_of(&self, variables: &[VariableId]) -> Vec<SortId> {
        variables.iter().map(|&one| self.program.variable(one).sort).collect()
    }

    /// Types the bodies of all processes, and the initial process.
    pub(super) fn check_processes(&mut self, specification: &Specification) {
        for (index, declaration) in specification.processes().enumerate() {
            let mark = self.mark();
            for &parameter in &self.program.processes[index].parameters.clone() {
                self.bind(parameter);
            }
            self.program.processes[index].body = self.check_behaviour(declaration.body);
            self.unbind(mark);
        }
        if let Some(init) = specification.init() {
            self.program.init = self.check_behaviour(init.process);
        }
    }

    fn check_behaviour(&mut self, root: syntax::ProcessId) -> Option<BehaviourId> {
        let tree = self.tree;
        let mut done: Vec<Option<BehaviourId>> = Vec::new();
        let mut steps = vec![Step::Enter(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(id) => {
                    let mark = self.mark();
                    let prepared = self.enter(id);
                    steps.push(Step::Leave(id, mark, prepared));
                    let first = steps.len();
                    tree.process(id).for_each_child(|child| steps.push(Step::Enter(child)));
                    steps[first..].reverse();
                }
                Step::Leave(id, mark, prepared) => {
                    self.unbind(mark);
                    let behaviour = self.leave(id, prepared, &mut done);
                    let span = tree.process_span(id);
                    done.push(behaviour.map(|behaviour| self.program.add_behaviour(behaviour, span)));
                }
            }
        }
        done.pop().flatten()
    }

    fn enter(&mut self, id: syntax::ProcessId) -> Prepared {
        let tree = self.tree;
        match tree.process(id) {
            syntax::Process::Action { name, arguments } => {
                Prepared::Leaf(self.check_action(*name, arguments))
            }
            syntax::Process::Call { name, assignments } => {
                Prepared::Leaf(self.check_call(*name, assignments))
            }
            syntax::Process::At { time, .. } => {
                Prepared::Data(self.check(*time, SortId::REAL, "a time stamp"))
            }
            syntax::Process::If { condition, .. } => {
                Prepared::Data(self.check(*condition, SortId::BOOL, "a condition"))
            }
            syntax::Process::Sum { variables, .. } => {
                let variables = self.declare_variables(variables);
                variables.iter().for_each(|&variable| self.bind(variable));
                Prepared::Bound(variables)
            }
            syntax::Process::Dist { variables, weight, .. } => {
                let variables = self.declare_variables(variables);
                variables.iter().for_each(|&variable| self.bind(variable));
                let weight = self.check(*weight, SortId::REAL, "a probability");
                Prepared::Weighted(variables, weight)
            }
            _ => Prepared::Nothing,
        }
    }

    /// The typed node. Its children are the last elements of `done`, in order.
    fn leave(
        &mut self,
        id: syntax::ProcessId,
        prepared: Prepared,
        done: &mut Vec<Option<BehaviourId>>,
    ) -> Option<Behaviour> {
        let tree = self.tree;
        let node = tree.process(id);
        match node {
            syntax::Process::Delta => return Some(Behaviour::Delta),
            syntax::Process::Tau => return Some(Behaviour::Tau),
            syntax::Process::Action { .. } | syntax::Process::Call { .. } => {
                return match prepared {
                    Prepared::Leaf(behaviour) => behaviour,
                    _ => None,
                };
            }
            syntax::Process::Binary(operator, ..) => {
                let (right, left) = (done.pop().flatten(), done.pop().flatten());
                return Some(Behaviour::Binary(*operator, left?, right?));
            }
            syntax::Process::If { otherwise, .. } => {
                let otherwise = otherwise.map(|_| done.pop().flatten());
                let then = done.pop().flatten()?;
                let Prepared::Data(condition) = prepared else { return None };
                let otherwise = match otherwise {
                    Some(branch) => Some(branch?),
                    None => None,
                };
                return Some(Behaviour::If { condition: condition?, then, otherwise });
            }
            _ => {}
        }
        let body = done.pop().flatten();
        Some(match (node, prepared) {
            (syntax::Process::At { .. }, Prepared::Data(time)) => Behaviour::At { body: body?, time: time? },
            (syntax::Process::Sum { .. }, Prepared::Bound(variables)) => {
                Behaviour::Sum { variables, body: body? }
            }
            (syntax::Process::Dist { .. }, Prepared::Weighted(variables, weight)) => {
                Behaviour::Dist { variables, weight: weight?, body: body? }
            }
            (syntax::Process::Block { actions, .. }, _) => {
                let actions = self.check_action_names(actions);
                Behaviour::Block { actions: actions?, body: body? }
            }
            (syntax::Process::Hide { actions, .. }, _) => {
                let actions = self.check_action_names(actions);
                Behaviour::Hide { actions: actions?, body: body? }
            }
            (syntax::Process::Allow { actions, .. }, _) => {
                let actions = self.check_allow(actions);
                Behaviour::Allow { actions: actions?, body: body? }
            }
            (syntax::Process::Rename { renamings, .. }, _) => {
                let renamings = self.check_rename(renamings);
                Behaviour::Rename { renamings: renamings?, body: body? }
            }
            (syntax::Process::Comm { rules, .. }, _) => {
                let rules = self.check_comm(rules);
                Behaviour::Comm { rules: rules?, body: body? }
            }
            _ => return None,
        })
    }
}
