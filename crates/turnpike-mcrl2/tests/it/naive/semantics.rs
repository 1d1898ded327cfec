//! The behaviour of process terms by the rules of structural operational semantics alone: no
//! linearisation, no reasoning about alphabets, and no reductions.
//!
//! A term is a process expression with values of its variables, or an operator on terms. Its steps
//! are multi-actions, possibly with a time, to another term or to termination. Probabilities are
//! decided on arrival: [`Interpreter::outcomes`] computes the decided terms, and only those have
//! steps.

use std::collections::HashMap;
use std::rc::Rc;

use dashu_ratio::RBig;
use turnpike_mcrl2::syntax::{ProcessOperator, Symbol};
use turnpike_mcrl2::typed::{Behaviour, BehaviourId, ExpressionId, ProcessId, Program, SortId, VariableId};

use super::data::{Data, Trouble, Value, Values};

/// A numbered process term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(super) u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// A process expression with values of its variables.
    Expression(BehaviourId, Values),
    /// An infix operator.
    Binary(ProcessOperator, TermId, TermId),
    /// A sum that was expanded to decide the probabilities in it.
    Choice(Box<[TermId]>),
    /// `p @ t`
    At(TermId, Value),
    /// `block`, `hide`, `allow`, `rename` or `comm`, depending on the expression, applied to a
    /// term.
    Under(BehaviourId, TermId),
}

/// An action with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Act {
    /// The name.
    pub(crate) name: Symbol,
    /// The sorts of the arguments, which distinguish actions of the same name.
    pub(crate) sorts: Rc<[SortId]>,
    /// The arguments.
    pub(crate) data: Box<[Value]>,
}

/// One step of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// The actions in any order; empty for `tau`.
    pub(crate) actions: Vec<Act>,
    /// The time, if the step has one.
    pub(crate) time: Option<Value>,
    /// The next term, or `None` for successful termination.
    pub(crate) target: Option<TermId>,
}

/// The outcomes of a term with their probabilities.
pub(crate) type Outcomes = Vec<(TermId, RBig)>;

/// The greatest number of outcomes of a choice, and of steps of a term.
pub(super) const MOST: usize = 150;

/// Determines the behaviour of the processes of a program.
#[derive(Debug)]
pub(crate) struct Interpreter {
    /// The program and its values.
    pub(crate) data: Data,
    /// Names of actions that are not hidden, even if the program hides them.
    unhide: Vec<Symbol>,
    pub(super) terms: Vec<Term>,
    known: HashMap<Term, TermId>,
    steps: HashMap<TermId, Rc<[Step]>>,
    mentioned: HashMap<BehaviourId, Box<[VariableId]>>,
    /// For each expression, whether a probabilistic choice comes before its first step. It is
    /// computed on the first use.
    pub(super) chancy: Option<Vec<bool>>,
    calls: u32,
}

impl Interpreter {
    /// Creates an interpreter for a checked program.
    pub(crate) fn new(program: Program, unhide: &[String]) -> Self {
        let unhide = unhide.iter().filter_map(|name| program.words.find(name)).collect();
        Interpreter {
            data: Data::new(program),
            unhide,
            terms: Vec::new(),
            known: HashMap::new(),
            steps: HashMap::new(),
            mentioned: HashMap::new(),
            chancy: None,
            calls: 0,
        }
    }

    /// The initial process.
    pub(crate) fn initial(&mut self) -> TermId {
        let init = self.data.program.init.expect("a checked program has an initial process");
        self.term_of(init, &Values::default())
    }

    /// The steps of a term whose probabilities are decided.
    pub(crate) fn steps(&mut self, term: TermId) -> Result<Rc<[Step]>, Trouble> {
        if let Some(known) = self.steps.get(&term) {
            return Ok(known.clone());
        }
        let steps: Rc<[Step]> = self.derive(term)?.into();
        if steps.len() > MOST {
            return Err(Trouble::TooMany);
        }
        self.steps.insert(term, steps.clone());
        Ok(steps)
    }

    fn derive(&mut self, term: TermId) -> Result<Vec<Step>, Trouble> {
        Ok(match self.terms[term.0 as usize].clone() {
            Term::Expression(behaviour, values) => self.derive_expression(behaviour, &values)?,
            Term::Binary(operator, left, right) => self.derive_binary(operator, left, right)?,
            Term::Choice(all) => {
                let mut steps = Vec::new();
                for one in all {
                    steps.extend(self.steps(one)?.iter().cloned());
                }
                steps
            }
            Term::At(body, time) => {
                let at = |step: &Step| match step.time {
                    Some(other) if other != time => None,
                    _ => Some(Step { time: Some(time), ..step.clone() }),
                };
                self.steps(body)?.iter().filter_map(at).collect()
            }
            Term::Under(operator, body) => {
                let steps = self.steps(body)?;
                let behaviour = self.data.program.behaviour(operator).clone();
                let mut all = Vec::new();
                for step in steps.iter() {
                    let Some(actions) = self.after_operator(&behaviour, &step.actions) else { continue };
                    let target = step.target.map(|target| self.add(Term::Under(operator, target)));
                    all.push(Step { actions, time: step.time, target });
                }
                all
            }
        })
    }

    fn derive_expression(&mut self, behaviour: BehaviourId, values: &Values) -> Result<Vec<Step>, Trouble> {
        match self.data.program.behaviour(behaviour).clone() {
            Behaviour::Delta => Ok(Vec::new()),
            Behaviour::Tau => Ok(vec![Step { actions: Vec::new(), time: None, target: None }]),
            Behaviour::Action { action, arguments } => {
                let declared = self.data.program.action(action);
                let (name, sorts) = (declared.name, declared.sorts.to_vec().into());
                let data = self.evaluate_all(&arguments, values)?;
                Ok(vec![Step { actions: vec![Act { name, sorts, data }], time: None, target: None }])
            }
            Behaviour::Call { process, arguments } => {
                self.with_body(process, &arguments, values, |this, body| Ok(this.steps(body)?.to_vec()))
            }
            Behaviour::If { condition, then, otherwise } => {
                match (self.data.holds(condition, values)?, otherwise) {
                    (true, _) => self.steps_of(then, values),
                    (false, Some(otherwise)) => self.steps_of(otherwise, values),
                    (false, None) => Ok(Vec::new()),
                }
            }
            Behaviour::Sum { variables, body } => {
                let mut steps = Vec::new();
                for values in self.assignments(&variables, values)? {
                    steps.extend(self.steps_of(body, &values)?);
                }
                Ok(steps)
            }
            Behaviour::Dist { .. } => unreachable!("probabilities are decided before steps are asked for"),
            Behaviour::Binary(..)
            | Behaviour::At { .. }
            | Behaviour::Block { .. }
            | Behaviour::Hide { .. }
            | Behaviour::Allow { .. }
            | Behaviour::Rename { .. }
            | Behaviour::Comm { .. } => {
                let term = self.decompose(behaviour, values)?;
                self.derive(term)
            }
        }
    }

    /// The term for the outermost operator of an expression.
    pub(super) fn decompose(&mut self, behaviour: BehaviourId, values: &Values) -> Result<TermId, Trouble> {
        let term = match *self.data.program.behaviour(behaviour) {
            Behaviour::Binary(operator, left, right) => {
                Term::Binary(operator, self.term_of(left, values), self.term_of(right, values))
            }
            Behaviour::At { body, time } => {
                Term::At(self.term_of(body, values), self.data.evaluate(time, values)?)
            }
            Behaviour::Block { body, .. }
            | Behaviour::Hide { body, .. }
            | Behaviour::Allow { body, .. }
            | Behaviour::Rename { body, .. }
            | Behaviour::Comm { body, .. } => Term::Under(behaviour, self.term_of(body, values)),
            _ => Term::Expression(behaviour, values.clone()),
        };
        Ok(self.add(term))
    }

    fn derive_binary(
        &mut self,
        operator: ProcessOperator,
        left: TermId,
        right: TermId,
    ) -> Result<Vec<Step>, Trouble> {
        use ProcessOperator::{Before, Choice, LeftMerge, Parallel, Sequence, Synchronise};
        let first = self.steps(left)?;
        let mut all = Vec::new();
        match operator {
            // Processes are considered to have unlimited waiting time, so the first process is
            // never too late for the second one.
            Before => return Ok(first.to_vec()),
            Choice => {
                all.extend(first.iter().cloned());
                all.extend(self.steps(right)?.iter().cloned());
            }
            Sequence => {
                for step in first.iter() {
                    let target = match step.target {
                        Some(target) => self.add(Term::Binary(Sequence, target, right)),
                        None => right,
                    };
                    all.push(Step { target: Some(target), ..step.clone() });
                }
            }
            Parallel | LeftMerge | Synchronise => {
                let second = if operator == LeftMerge { [].into() } else { self.steps(right)? };
                if operator != Synchronise {
                    for step in first.iter() {
                        let target = Some(self.side_by_side(step.target, Some(right)));
                        all.push(Step { target: target.flatten(), ..step.clone() });
                    }
                    for step in second.iter() {
                        let target = Some(self.side_by_side(Some(left), step.target));
                        all.push(Step { target: target.flatten(), ..step.clone() });
                    }
                }
                if first.len() * second.len() > MOST {
                    return Err(Trouble::TooMany);
                }
                for one in first.iter() {
                    for other in second.iter() {
                        if one.time.is_some() && other.time.is_some() && one.time != other.time {
                            continue;
                        }
                        let actions = one.actions.iter().chain(&other.actions).cloned().collect();
                        let target = self.side_by_side(one.target, other.target);
                        all.push(Step { actions, time: one.time.or(other.time), target });
                    }
                }
            }
        }
        Ok(all)
    }

    /// `p || q` after a step, where `None` has terminated.
    fn side_by_side(&mut self, left: Option<TermId>, right: Option<TermId>) -> Option<TermId> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.add(Term::Binary(ProcessOperator::Parallel, left, right))),
            (one, other) => one.or(other),
        }
    }

    /// The result of an operator on a multi-action; `None` if the operator blocks it.
    fn after_operator(&self, operator: &Behaviour, actions: &[Act]) -> Option<Vec<Act>> {
        let all = || actions.iter().cloned();
        match operator {
            Behaviour::Block { actions: blocked, .. } => {
                (!actions.iter().any(|act| blocked.contains(&act.name))).then(|| all().collect())
            }
            Behaviour::Hide { actions: hidden, .. } => Some(
                all().filter(|act| !hidden.contains(&act.name) || self.unhide.contains(&act.name)).collect(),
            ),
            Behaviour::Allow { actions: allowed, .. } => {
                let mut names: Vec<Symbol> = actions.iter().map(|act| act.name).collect();
                names.sort_unstable();
                let matches = |one: &[Symbol]| {
                    let mut one = one.to_vec();
                    one.sort_unstable();
                    one == names
                };
                (names.is_empty() || allowed.iter().any(|one| matches(one))).then(|| all().collect())
            }
            Behaviour::Rename { renamings, .. } => Some(
                all()
                    .map(|act| {
                        let new = renamings.iter().find(|(old, _)| *old == act.name);
                        Act { name: new.map_or(act.name, |&(_, new)| new), ..act }
                    })
                    .collect(),
            ),
            Behaviour::Comm { rules, .. } => Some(communicate(rules, actions)),
            _ => unreachable!("no operator on multi-actions"),
        }
    }

    /// Calls a function for the body of a process.
    pub(super) fn with_body<T>(
        &mut self,
        process: ProcessId,
        arguments: &[ExpressionId],
        values: &Values,
        visit: impl Fn(&mut Self, TermId) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let data = self.evaluate_all(arguments, values)?;
        let declared = self.data.program.process(process);
        let body = declared.body.expect("a checked process has a body");
        let values: Values = declared.parameters.iter().copied().zip(data).collect();
        self.calls += 1;
        if self.calls > 40 {
            return Err(Trouble::Unguarded);
        }
        let body = self.term_of(body, &values);
        let result = visit(self, body);
        self.calls -= 1;
        result
    }

    /// All values of these variables, each with the given values of others.
    pub(super) fn assignments(
        &mut self,
        variables: &[VariableId],
        values: &Values,
    ) -> Result<Vec<Values>, Trouble> {
        let mut rows = vec![values.to_vec()];
        for &variable in variables {
            let column = self.data.values_of(self.data.program.variable(variable).sort)?;
            if rows.len() * column.len() > MOST {
                return Err(Trouble::TooMany);
            }
            rows = rows
                .iter()
                .flat_map(|row| column.iter().map(move |&value| [&row[..], &[(variable, value)]].concat()))
                .collect();
        }
        Ok(rows.into_iter().map(Into::into).collect())
    }

    fn evaluate_all(&mut self, all: &[ExpressionId], values: &Values) -> Result<Box<[Value]>, Trouble> {
        all.iter().map(|&one| self.data.evaluate(one, values)).collect()
    }

    fn steps_of(&mut self, behaviour: BehaviourId, values: &Values) -> Result<Vec<Step>, Trouble> {
        let term = self.term_of(behaviour, values);
        Ok(self.steps(term)?.to_vec())
    }

    /// The term for an expression and the values of its variables.
    pub(super) fn term_of(&mut self, behaviour: BehaviourId, values: &Values) -> TermId {
        let mentioned = self.variables_of(behaviour);
        let mut values: Vec<_> = values.iter().filter(|(one, _)| mentioned.contains(one)).copied().collect();
        values.sort_unstable();
        self.add(Term::Expression(behaviour, values.into()))
    }

    fn variables_of(&mut self, behaviour: BehaviourId) -> Box<[VariableId]> {
        if let Some(known) = self.mentioned.get(&behaviour) {
            return known.clone();
        }
        let (mut found, mut todo) = (Vec::new(), vec![behaviour]);
        while let Some(id) = todo.pop() {
            let behaviour = self.data.program.behaviour(id).clone();
            let expressions: Vec<ExpressionId> = match &behaviour {
                Behaviour::Action { arguments, .. } | Behaviour::Call { arguments, .. } => arguments.to_vec(),
                Behaviour::At { time: one, .. }
                | Behaviour::Dist { weight: one, .. }
                | Behaviour::If { condition: one, .. } => vec![*one],
                _ => Vec::new(),
            };
            expressions.iter().for_each(|&one| found.extend(self.data.variables_of(one)));
            todo.extend(behaviour.parts());
        }
        let found: Box<[VariableId]> = found.into();
        self.mentioned.insert(behaviour, found.clone());
        found
    }

    pub(super) fn add(&mut self, term: Term) -> TermId {
        let next = TermId(self.terms.len() as u32);
        let id = *self.known.entry(term.clone()).or_insert(next);
        if id == next {
            self.terms.push(term);
        }
        id
    }
}

/// Applies communications: each rule for each tuple of arguments, as often as its actions remain.
/// Results do not communicate again.
fn communicate(rules: &[(Box<[Symbol]>, Symbol)], actions: &[Act]) -> Vec<Act> {
    let mut left: Vec<Act> = actions.to_vec();
    let mut produced = Vec::new();
    for (names, result) in rules {
        while let Some((rest, act)) = one_communication(names, *result, &left) {
            left = rest;
            produced.push(act);
        }
    }
    left.extend(produced);
    left
}

fn one_communication(names: &[Symbol], result: Symbol, actions: &[Act]) -> Option<(Vec<Act>, Act)> {
    actions.iter().filter(|act| act.name == names[0]).find_map(|model| {
        let mut left = actions.to_vec();
        for &name in names {
            let partner = Act { name, ..model.clone() };
            left.remove(left.iter().position(|act| *act == partner)?);
        }
        Some((left, Act { name: result, ..model.clone() }))
    })
}
