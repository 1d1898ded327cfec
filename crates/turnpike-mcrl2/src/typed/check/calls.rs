//! Actions with data, and process calls in their three forms: `P(e)`, `P(x = e)`, `P()`.

use std::fmt;

use super::checker::{Assumed, Checker};
use super::messages::count;
use crate::syntax::{Assignment, DataId, Name, Span, Symbol};
use crate::typed::items::{Action, ActionId, Behaviour, Expression, ExpressionId, ProcessId};
use crate::typed::sorts::SortId;

/// What takes arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Called {
    Action,
    Process,
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Called::Action => "action",
            Called::Process => "process",
        })
    }
}

impl Checker<'_> {
    /// `a(e)` or `P(e)`.
    pub(super) fn check_action(&mut self, name: Name, arguments: &[DataId]) -> Option<Behaviour> {
        let word = self.word(name.symbol);
        if let Some(all) = self.actions.get(&word).cloned() {
            let sorts: Vec<Vec<SortId>> =
                all.iter().map(|&one| self.program.action(one).sorts.to_vec()).collect();
            let (index, arguments) =
                self.check_arguments(name.span, Called::Action, word, &sorts, arguments)?;
            return Some(Behaviour::Action { action: all[index], arguments });
        }
        if let Some(all) = self.processes.get(&word).cloned() {
            let sorts: Vec<Vec<SortId>> =
                all.iter().map(|&one| self.sorts_of(&self.program.process(one).parameters)).collect();
            let (index, arguments) =
                self.check_arguments(name.span, Called::Process, word, &sorts, arguments)?;
            return Some(Behaviour::Call { process: all[index], arguments });
        }
        self.unknown_call(name, true);
        None
    }

    /// `a(e)` in a formula.
    pub(super) fn check_formula_action(
        &mut self,
        name: Name,
        arguments: &[DataId],
    ) -> Option<(ActionId, Box<[ExpressionId]>)> {
        let word = self.word(name.symbol);
        if let Some(Assumed { declared, .. }) = self.assumed
            && !self.is_declared(word, arguments.len(), declared)
        {
            return self.assume_action(name, arguments);
        }
        let Some(all) = self.actions.get(&word).cloned() else {
            let mut names: Vec<Symbol> = self.program.actions.iter().map(|one| one.name).collect();
            let help = "formulas name actions that the specification declares; conditions need `val(…)`";
            self.unknown_with_help(name.span, "action", word, &mut names, Some(help));
            return None;
        };
        let sorts: Vec<Vec<SortId>> =
            all.iter().map(|&one| self.program.action(one).sorts.to_vec()).collect();
        let (index, arguments) = self.check_arguments(name.span, Called::Action, word, &sorts, arguments)?;
        Some((all[index], arguments))
    }

    /// Whether one of the first actions has this name and number of arguments.
    fn is_declared(&self, word: Symbol, arity: usize, first: usize) -> bool {
        let mut all = self.program.actions[..first].iter();
        all.any(|one| one.name == word && one.sorts.len() == arity)
    }

    /// Declares an action that a formula mentions, with the smallest sorts of its arguments.
    fn assume_action(&mut self, name: Name, arguments: &[DataId]) -> Option<(ActionId, Box<[ExpressionId]>)> {
        self.inference.clear();
        let (mut sorts, mut typed) = (Vec::new(), Vec::new());
        for &argument in arguments {
            let inferred = self.infer(argument)?;
            let sort = match self.smallest(argument)? {
                SortId::POS => SortId::NAT,
                sort => sort,
            };
            sorts.push(sort);
            typed.push(self.elaborate(&inferred, sort)?);
        }
        let word = self.word(name.symbol);
        let same = |one: &Action| one.name == word && *one.sorts == *sorts;
        let known = self.program.actions.iter().position(same);
        let id = ActionId::new(known.unwrap_or(self.program.actions.len()));
        if known.is_none() {
            self.program.actions.push(Action { name: word, sorts: sorts.into(), span: name.span });
        }
        let text = self.text(word).to_owned();
        let names = &mut self.assumed.as_mut()?.names;
        if names.iter().all(|one| one.0 != text) {
            names.push((text, name.span.range()));
        }
        Some((id, typed.into()))
    }

    /// Reports a name that no process has, and no action where one could be meant.
    fn unknown_call(&mut self, name: Name, may_be_action: bool) {
        let mut names: Vec<Symbol> = self.program.processes.iter().map(|one| one.name).collect();
        let mut kind = "process";
        if may_be_action {
            kind = "action or process";
            names.extend(self.program.actions.iter().map(|one| one.name));
        }
        self.unknown(name.span, kind, self.word(name.symbol), &mut names);
    }

    /// Finds the only list of sorts that fits the arguments. Returns the arguments converted to
    /// these sorts.
    fn check_arguments(
        &mut self,
        span: Span,
        kind: Called,
        word: Symbol,
        candidates: &[Vec<SortId>],
        arguments: &[DataId],
    ) -> Option<(usize, Box<[ExpressionId]>)> {
        self.inference.clear();
        let inferred: Vec<_> = arguments.iter().map(|&argument| self.infer(argument)).collect();
        let inferred: Vec<_> = inferred.into_iter().collect::<Option<_>>()?;
        let mut fitting: Vec<(usize, bool)> = Vec::new();
        for (index, sorts) in candidates.iter().enumerate() {
            if sorts.len() != arguments.len() {
                continue;
            }
            let mut exact = Some(true);
            for (&argument, &sort) in arguments.iter().zip(sorts) {
                exact = exact.zip(self.fit(argument, sort)).map(|(so_far, (_, exact))| so_far && exact);
            }
            fitting.extend(exact.map(|exact| (index, exact)));
        }
        if fitting.len() > 1 && fitting.iter().filter(|one| one.1).count() == 1 {
            fitting.retain(|one| one.1);
        }
        let index = match fitting[..] {
            [(index, _)] => index,
            [] => {
                self.explain_arguments(span, kind, word, candidates, arguments);
                return None;
            }
            _ => {
                let fitting: Vec<String> =
                    fitting.iter().map(|&(index, _)| self.signature_text(word, &candidates[index])).collect();
                let message = format!("several declarations of {kind} {} fit", self.text(word));
                self.error_with_help(span, message, fitting.join("; "));
                return None;
            }
        };
        let typed: Vec<Option<ExpressionId>> =
            inferred.iter().zip(&candidates[index]).map(|(one, &sort)| self.elaborate(one, sort)).collect();
        Some((index, typed.into_iter().collect::<Option<_>>()?))
    }

    fn explain_arguments(
        &mut self,
        span: Span,
        kind: Called,
        word: Symbol,
        candidates: &[Vec<SortId>],
        arguments: &[DataId],
    ) {
        let name = self.text(word).to_owned();
        if let [only] = candidates {
            if only.len() != arguments.len() {
                let message = match only.len() {
                    0 => format!("{kind} {name} takes no data"),
                    number => {
                        format!("{kind} {name} takes {}, not {}", count(number, "argument"), arguments.len())
                    }
                };
                let mut help = self.signature_text(word, only);
                if kind == Called::Process && arguments.is_empty() {
                    help = format!(
                        "{help}; {name}() keeps the values of variables with the names of its parameters"
                    );
                }
                return self.error_with_help(span, message, help);
            }
            for (position, (&argument, &sort)) in arguments.iter().zip(only).enumerate() {
                let what = match only.len() {
                    1 => format!("the argument of {kind} {name}"),
                    _ => format!("argument {} of {kind} {name}", position + 1),
                };
                if !self.require(argument, sort, &what) {
                    return;
                }
            }
        }
        let all: Vec<String> = candidates.iter().map(|sorts| self.signature_text(word, sorts)).collect();
        let message = format!("no declaration of {kind} {name} fits these arguments");
        self.error_with_help(span, message, format!("there is {}", all.join("; ")));
    }

    /// `P(x = e)` or `P()`.
    pub(super) fn check_call(&mut self, name: Name, assignments: &[Assignment]) -> Option<Behaviour> {
        let word = self.word(name.symbol);
        let Some(all) = self.processes.get(&word).cloned() else {
            if self.actions.contains_key(&word) {
                let message = format!("{} is an action, not a process", self.text(word));
                self.error_with_help(
                    name.span,
                    message,
                    "an action without data is written without parentheses",
                );
            } else {
                self.unknown_call(name, false);
            }
            return None;
        };
        let errors = self.errors;
        for (index, assignment) in assignments.iter().enumerate() {
            if assignments[..index].iter().any(|other| other.name.symbol == assignment.name.symbol) {
                let message =
                    format!("parameter {} is assigned twice", self.text(self.word(assignment.name.symbol)));
                self.error(assignment.name.span, message);
            }
        }
        let process = self.find_process(name, &all, assignments)?;
        let parameters = self.program.process(process).parameters.clone();
        let mut arguments = Vec::with_capacity(parameters.len());
        for &parameter in &parameters {
            let parameter = *self.program.variable(parameter);
            let assigned =
                assignments.iter().find(|one| self.word(one.name.symbol) == parameter.name).copied();
            let typed = match assigned {
                Some(assignment) => {
                    let what = format!("parameter {}", self.text(parameter.name));
                    self.check(assignment.value, parameter.sort, &what)
                }
                None => self.check_kept(name.span, parameter.name, parameter.sort),
            };
            arguments.extend(typed);
        }
        (self.errors == errors && arguments.len() == parameters.len())
            .then(|| Behaviour::Call { process, arguments: arguments.into() })
    }

    /// The only process that has all the assigned parameters.
    fn find_process(
        &mut self,
        name: Name,
        all: &[ProcessId],
        assignments: &[Assignment],
    ) -> Option<ProcessId> {
        let parameters = |checker: &Self, one: ProcessId| -> Vec<Symbol> {
            let parameters = &checker.program.process(one).parameters;
            parameters.iter().map(|&parameter| checker.program.variable(parameter).name).collect()
        };
        let fitting: Vec<ProcessId> = all
            .iter()
            .copied()
            .filter(|&one| {
                let names = parameters(self, one);
                assignments.iter().all(|assignment| names.contains(&self.word(assignment.name.symbol)))
            })
            .collect();
        match fitting[..] {
            [one] => Some(one),
            [] => {
                let mut names: Vec<Symbol> = all.iter().flat_map(|&one| parameters(self, one)).collect();
                let kind = format!("parameter of {}:", self.text(self.word(name.symbol)));
                let unknown = assignments.iter().find(|one| !names.contains(&self.word(one.name.symbol)));
                match unknown {
                    Some(one) => {
                        self.unknown(one.name.span, &kind, self.word(one.name.symbol), &mut names);
                    }
                    None => self.error(name.span, "no process of this name has all these parameters"),
                }
                None
            }
            _ => {
                let message =
                    format!("several processes {} have these parameters", self.text(self.word(name.symbol)));
                self.error_with_help(
                    name.span,
                    message,
                    "give values to all parameters, without their names",
                );
                None
            }
        }
    }

    /// A parameter that keeps the value of the variable with its name.
    fn check_kept(&mut self, span: Span, name: Symbol, sort: SortId) -> Option<ExpressionId> {
        let Some(variable) = self.variable(name) else {
            let message = format!("parameter {} gets no value", self.text(name));
            self.error_with_help(
                span,
                message,
                "assign it, or call where a variable of that name is visible",
            );
            return None;
        };
        let own = self.program.variable(variable).sort;
        let pattern = self.patterns.of_sort(&self.program.sorts, own);
        if !self.patterns.contains(&self.program.sorts, pattern, sort) {
            let message = format!(
                "parameter {} must have sort {}, but the variable of that name here has sort {}",
                self.text(name),
                self.sort_text(sort),
                self.sort_text(own)
            );
            self.error(span, message);
            return None;
        }
        let mut typed = self.program.add_expression(Expression::Variable(variable), own, span);
        if own != sort {
            typed = self.program.add_expression(Expression::Upcast(typed), sort, span);
        }
        Some(typed)
    }
}
