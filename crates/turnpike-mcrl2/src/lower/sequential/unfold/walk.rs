//! Walks from an action to the next choice between actions: through calls, and through conditions,
//! which become part of the update.

use std::rc::Rc;

use turnpike_model::diagnostic::Diagnostic;

use super::{Here, Place, RETURN, Unfolding};
use crate::lower::Update;
use crate::lower::sequential::continuation::{ChainId, Rest};
use crate::lower::sequential::distribution::{PendingChoices, some_value};
use crate::lower::sequential::stack::Stack;
use crate::lower::sequential::terms::error;
use crate::syntax::ProcessOperator;
use crate::typed::expression::{Substitution, not, representative, variable};
use crate::typed::{Behaviour, BehaviourId, Expression, ExpressionId, ProcessId, VariableId};

/// The deepest nesting of conditions in an update. Deeper ones become conditions of edges.
const DEPTH: usize = 200;
/// The most conditions of one update. Further ones become conditions of edges.
const DECISIONS: usize = 5_000;

impl Unfolding<'_> {
    /// Enters the left side of `left . right`, and continues with the right side.
    pub(super) fn enter_sequence(&mut self, here: &mut Here, left: BehaviourId, right: BehaviourId) {
        let (left, right) = (self.terms.canonical(left), self.terms.canonical(right));
        let group = here.rest.group;
        here.chain = match self.terms.terminates(left) {
            true => self.chains.before(&self.terms, Rest { term: right, group }, here.chain),
            false => ChainId::DONE,
        };
        here.rest = Rest { term: left, group };
    }

    /// Enters the body of a call with values for the parameters. The continuation goes to the stack
    /// if this call may overwrite its variables.
    pub(super) fn enter_call(&mut self, here: &mut Here, process: ProcessId, arguments: &[ExpressionId]) {
        let parameters = self.program.process(process).parameters.clone();
        let arguments: Vec<ExpressionId> =
            arguments.iter().map(|&argument| self.apply(&here.values, argument)).collect();
        let group = self.terms.group(process);
        let Some(body) = self.terms.body(process) else { return };
        if !self.terms.terminates(body) {
            here.chain = ChainId::DONE;
        }
        if group.is_some_and(|group| self.chains.uses(here.chain, group)) {
            self.push(here);
        }
        let values = Rc::make_mut(&mut here.values);
        values.extend(parameters.iter().copied().zip(arguments));
        here.rest = Rest { term: body, group };
    }

    fn push(&mut self, here: &mut Here) {
        let program = &mut *self.program;
        let stack = self.stack.get_or_insert_with(|| Stack::new(program));
        let below = match self.chains.returns(here.chain) {
            true => match here.values.get(&stack.variable) {
                Some(&value) => value,
                None => variable(program, stack.variable),
            },
            false => stack.empty(program),
        };
        let needed: Vec<VariableId> = self
            .chains
            .free(here.chain)
            .iter()
            .copied()
            .filter(|one| !self.globals.contains_key(one))
            .collect();
        let pushed = stack.push(program, here.chain, &needed, &here.values, below);
        Rc::make_mut(&mut here.values).insert(stack.variable, pushed);
        here.chain = ChainId::RETURN;
    }

    /// The update after an action that ends a term.
    pub(super) fn after(
        &mut self,
        chain: ChainId,
        values: Rc<Substitution>,
        pending: &mut PendingChoices,
    ) -> Result<Update, Diagnostic> {
        self.decisions = 0;
        if chain == ChainId::RETURN {
            // A call before the action pushed a frame, and the action ends that call.
            let pushed = self.stack.as_ref().and_then(|stack| {
                let top = values.get(&stack.variable)?;
                stack.pop_frame(self.program, *top)
            });
            return match pushed {
                Some((chain, restored)) => {
                    let mut values = values;
                    Rc::make_mut(&mut values).extend(restored);
                    self.after(chain, values, pending)
                }
                None => Ok(Update::Go { location: RETURN, assignments: Vec::new() }),
            };
        }
        match self.chains.first(chain) {
            Some((rest, chain)) => self.resolve(Here { rest, chain, values }, pending, 0),
            None => self.go(Place::Done, &values, pending.kept()),
        }
    }

    /// Continues a walk to the next choice between actions.
    pub(super) fn resolve(
        &mut self,
        mut here: Here,
        pending: &mut PendingChoices,
        depth: usize,
    ) -> Result<Update, Diagnostic> {
        let mut direct = true;
        loop {
            match self.program.behaviour(here.rest.term).clone() {
                Behaviour::Delta => return self.go(Place::Delta, &here.values, pending.kept()),
                Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                    direct = false;
                    self.enter_sequence(&mut here, left, right);
                }
                Behaviour::Call { process, arguments } => {
                    direct = false;
                    self.enter_call(&mut here, process, &arguments);
                }
                Behaviour::Dist { variables, weight, body } => {
                    direct = false;
                    let fresh = self.bind(&mut here.values, &variables);
                    let weight = self.apply(&here.values, weight);
                    pending.add(self.program, fresh, weight, &[])?;
                    self.keep(&variables, &here.values, pending);
                    here.rest.term = self.terms.canonical(body);
                }
                Behaviour::If { .. } if self.probabilistic && !direct => {
                    return self.go_to_term(here, pending);
                }
                Behaviour::If { condition, then, otherwise }
                    if depth < DEPTH && self.decisions < DECISIONS =>
                {
                    let condition = self.apply(&here.values, condition);
                    let then = self.terms.canonical(then);
                    let otherwise = otherwise.map(|one| self.terms.canonical(one));
                    match (self.program.expression(condition), otherwise) {
                        (Expression::Bool(true), _) => here.rest.term = then,
                        (Expression::Bool(false), Some(otherwise)) => here.rest.term = otherwise,
                        (Expression::Bool(false), None) => {
                            return self.go(Place::Delta, &here.values, pending.kept());
                        }
                        _ => return self.decide(here, condition, then, otherwise, pending, depth),
                    }
                }
                _ => return self.go_to_term(here, pending),
            }
        }
    }

    /// Keeps drawn values in the state with `keep_dead`. If nothing is drawn they need a fixed
    /// value, which not every sort has.
    fn keep(&mut self, variables: &[VariableId], values: &Substitution, pending: &mut PendingChoices) {
        if !self.program.execution.keep_dead {
            return;
        }
        for &one in variables {
            if representative(self.program, self.program.variable(one).sort).is_some() {
                pending.keep(one, values[&one]);
            }
        }
    }

    fn decide(
        &mut self,
        mut here: Here,
        condition: ExpressionId,
        then: BehaviourId,
        otherwise: Option<BehaviourId>,
        pending: &mut PendingChoices,
        depth: usize,
    ) -> Result<Update, Diagnostic> {
        self.decisions += 1;
        let negated = not(self.program, condition);
        let mut branch = here.clone();
        branch.rest.term = then;
        pending.under(condition);
        let then = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.resolve(branch, pending, depth + 1))?;
        pending.leave();
        let otherwise = match otherwise {
            None => self.go(Place::Delta, &here.values, pending.kept())?,
            Some(term) => {
                here.rest.term = term;
                pending.under(negated);
                let update =
                    stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.resolve(here, pending, depth + 1))?;
                pending.leave();
                update
            }
        };
        let (then, otherwise) = (Box::new(then), Box::new(otherwise));
        Ok(Update::If { condition, then, otherwise, control: None })
    }

    /// Goes to the location of a term that offers actions.
    fn go_to_term(&mut self, mut here: Here, pending: &mut PendingChoices) -> Result<Update, Diagnostic> {
        if !self.terms.terminates(here.rest.term) {
            here.chain = ChainId::DONE;
        }
        let mut chosen = Vec::new();
        if self.terms.probabilistic(here.rest.term) {
            chosen = self.choose(&here, pending)?;
        }
        let place = Place::Term(here.rest, here.chain);
        chosen.extend_from_slice(pending.kept());
        self.go(place, &here.values, &chosen)
    }

    /// Makes the probabilistic choices inside a term that has other alternatives, too. Their
    /// variables become variables of the location. Returns these with their values.
    fn choose(
        &mut self,
        here: &Here,
        pending: &mut PendingChoices,
    ) -> Result<Vec<(VariableId, ExpressionId)>, Diagnostic> {
        let mut chosen: Vec<(VariableId, ExpressionId)> = Vec::new();
        // Positions with the conditions on the way; `None` if one of them never holds.
        let mut work: Vec<(Here, Option<Vec<ExpressionId>>)> = vec![(here.clone(), Some(Vec::new()))];
        while let Some((mut here, conditions)) = work.pop() {
            let term = here.rest.term;
            if !self.terms.probabilistic(term) {
                continue;
            }
            let span = self.program.behaviour_span(term);
            let mut go = |here: &Here, body: BehaviourId, conditions: Option<Vec<ExpressionId>>| {
                let mut here = here.clone();
                here.rest.term = self.terms.canonical(body);
                work.push((here, conditions));
            };
            match self.program.behaviour(term).clone() {
                Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                    go(&here, right, conditions.clone());
                    go(&here, left, conditions);
                }
                Behaviour::Binary(_, left, _) => go(&here, left, conditions),
                Behaviour::At { body, .. } => go(&here, body, conditions),
                Behaviour::If { condition, then, otherwise } => {
                    let condition = self.apply(&here.values, condition);
                    let negated = not(self.program, condition);
                    for (body, condition) in
                        otherwise.map(|one| (one, negated)).into_iter().chain([(then, condition)])
                    {
                        let mut here = here.clone();
                        here.rest.term = self.terms.canonical(body);
                        let possible = *self.program.expression(condition) != Expression::Bool(false);
                        let conditions = conditions.as_ref().filter(|_| possible);
                        let all =
                            |others: &Vec<ExpressionId>| others.iter().copied().chain([condition]).collect();
                        work.push((here, conditions.map(all)));
                    }
                }
                Behaviour::Call { process, arguments } => {
                    self.enter_call(&mut here, process, &arguments);
                    work.push((here, conditions));
                }
                Behaviour::Dist { variables, weight, body } => {
                    let fresh = self.bind(&mut here.values, &variables);
                    let weight = self.apply(&here.values, weight);
                    match &conditions {
                        Some(conditions) => {
                            chosen.extend(variables.iter().map(|one| (*one, here.values[one])));
                            pending.add(self.program, fresh, weight, conditions)?;
                        }
                        None => {
                            for &one in &variables {
                                chosen.push((one, some_value(self.program, one)?));
                            }
                        }
                    }
                    here.rest.term = self.terms.canonical(body);
                    work.push((here, conditions));
                }
                // Choices below sums have been moved: see `separate_choices`.
                _ => return Err(error(span, "a probabilistic choice cannot stand here")),
            }
        }
        Ok(chosen)
    }
}
