//! What a process term does, by the rules of structural operational semantics and nothing else: no
//! linear form, no reasoning about alphabets, nothing left out because it cannot matter.
//!
//! A term is a process expression with values for its variables, or an operator over terms. Its
//! steps are multi-actions, perhaps with a time, into another term or into termination.
//! Probabilities are decided on arrival: [`Interpreter::outcomes`] gives the terms that a term may
//! turn out to be, and only terms that have been decided are asked for steps.

use std::collections::HashMap;
use std::rc::Rc;

use dashu_ratio::RBig;
use turnpike_mcrl2::syntax::{ProcessOperator, Symbol};
use turnpike_mcrl2::typed::{Behaviour, BehaviourId, ExpressionId, ProcessId, Program, SortId, VariableId};

use super::data::{Data, Trouble, Value, Values};

/// A process term, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(super) u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// A process expression with values for the variables it mentions.
    Written(BehaviourId, Values),
    /// An infix operator.
    Binary(ProcessOperator, TermId, TermId),
    /// A sum that was written out, because probabilities in it had to be decided.
    Choice(Box<[TermId]>),
    /// `p @ t`
    At(TermId, Value),
    /// `block`, `hide`, `allow`, `rename` or `comm`, as the expression says, of a term.
    Under(BehaviourId, TermId),
}

/// An action with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Act {
    /// Its name.
    pub(crate) name: Symbol,
    /// The sorts of its data: actions of the same name may differ in them.
    pub(crate) sorts: Rc<[SortId]>,
    /// Its data.
    pub(crate) data: Box<[Value]>,
}

/// One step of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// What happens together, in any order; nothing for `tau`.
    pub(crate) actions: Vec<Act>,
    /// When, if that is said.
    pub(crate) time: Option<Value>,
    /// What comes after; `None` for successful termination.
    pub(crate) target: Option<TermId>,
}

/// What a term may turn out to be, with probabilities.
pub(crate) type Outcomes = Vec<(TermId, RBig)>;

/// At most so many outcomes of one choice, and so many steps of one term.
pub(super) const MOST: usize = 150;

/// Tells what the processes of one program do.
#[derive(Debug)]
pub(crate) struct Interpreter {
    /// The program and its values.
    pub(crate) data: Data,
    /// Action names that are not hidden, whatever the program says.
    unhide: Vec<Symbol>,
    pub(super) terms: Vec<Term>,
    known: HashMap<Term, TermId>,
    steps: HashMap<TermId, Rc<[Step]>>,
    mentioned: HashMap<BehaviourId, Box<[VariableId]>>,
    /// For each expression whether something must be decided before its first step, once somebody
    /// asked.
    pub(super) chancy: Option<Vec<bool>>,
    calls: u32,
}

impl Interpreter {
    /// For a program that was checked.
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
        self.written(init, &Values::default())
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
            Term::Written(behaviour, values) => self.derive_written(behaviour, &values)?,
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

    fn derive_written(&mut self, behaviour: BehaviourId, values: &Values) -> Result<Vec<Step>, Trouble> {
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
                self.called(process, &arguments, values, |this, body| Ok(this.steps(body)?.to_vec()))
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
                let term = self.taken_apart(behaviour, values)?;
                self.derive(term)
            }
        }
    }

    /// The outermost operator of an expression as an operator over terms.
    pub(super) fn taken_apart(&mut self, behaviour: BehaviourId, values: &Values) -> Result<TermId, Trouble> {
        let term = match *self.data.program.behaviour(behaviour) {
            Behaviour::Binary(operator, left, right) => {
                Term::Binary(operator, self.written(left, values), self.written(right, values))
            }
            Behaviour::At { body, time } => {
                Term::At(self.written(body, values), self.data.evaluate(time, values)?)
            }
            Behaviour::Block { body, .. }
            | Behaviour::Hide { body, .. }
            | Behaviour::Allow { body, .. }
            | Behaviour::Rename { body, .. }
            | Behaviour::Comm { body, .. } => Term::Under(behaviour, self.written(body, values)),
            _ => Term::Written(behaviour, values.clone()),
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
            // With every process read as one that may also wait, whatever p does is early enough
            // for q.
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

    /// `p || q` where either may have terminated.
    fn side_by_side(&mut self, left: Option<TermId>, right: Option<TermId>) -> Option<TermId> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.add(Term::Binary(ProcessOperator::Parallel, left, right))),
            (one, other) => one.or(other),
        }
    }

    /// What `block` and its like make of a multi-action; `None` where it cannot happen.
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

    /// Does something with the body of a process.
    pub(super) fn called<T>(
        &mut self,
        process: ProcessId,
        arguments: &[ExpressionId],
        values: &Values,
        ask: impl Fn(&mut Self, TermId) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let data = self.evaluate_all(arguments, values)?;
        let declared = self.data.program.process(process);
        let body = declared.body.expect("a checked process has a body");
        let values: Values = declared.parameters.iter().copied().zip(data).collect();
        self.calls += 1;
        if self.calls > 40 {
            return Err(Trouble::Unguarded);
        }
        let body = self.written(body, &values);
        let answer = ask(self, body);
        self.calls -= 1;
        answer
    }

    /// All ways to give values to variables, besides those that have one.
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
        let term = self.written(behaviour, values);
        Ok(self.steps(term)?.to_vec())
    }

    /// An expression with values for what it mentions.
    pub(super) fn written(&mut self, behaviour: BehaviourId, values: &Values) -> TermId {
        let mentioned = self.variables_of(behaviour);
        let mut values: Vec<_> = values.iter().filter(|(one, _)| mentioned.contains(one)).copied().collect();
        values.sort_unstable();
        self.add(Term::Written(behaviour, values.into()))
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

/// Applies communications: each rule, for each data vector, as often as there are actions left for
/// it. What is produced does not take part again.
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
