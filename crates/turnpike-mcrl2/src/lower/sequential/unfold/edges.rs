//! Finds the edges of a location: walks down to its actions and collects the conditions on the way.

use std::rc::Rc;

use turnpike_model::diagnostic::Diagnostic;

use super::{Here, Place, Unfolding};
use crate::lower::sequential::distribution::PendingChoices;
use crate::lower::sequential::terms::{error, has_delta};
use crate::lower::{ActionInstance, Edge, Step};
use crate::syntax::{ProcessOperator, Span};
use crate::typed::expression::{self, Substitution, conjuncts, equal, not};
use crate::typed::{Behaviour, BehaviourId, Expression, ExpressionId, Program, VariableId};

/// The conditions on the way to an action.
#[derive(Clone, Default)]
struct Guard {
    variables: Vec<VariableId>,
    conditions: Vec<ExpressionId>,
    time: Option<ExpressionId>,
}

impl Unfolding<'_> {
    /// The edges of a location.
    pub(super) fn expand(&mut self, from: u32) -> Result<(), Diagnostic> {
        let (rest, chain) = match self.places[from as usize] {
            Place::Delta => return Ok(()),
            Place::Done => {
                return self.terminate(from);
            }
            Place::Term(rest, chain) => (rest, chain),
        };
        let here = Here { rest, chain, values: Rc::clone(&self.globals) };
        let mut work = vec![(here, Rc::new(Guard::default()))];
        while let Some((mut here, mut guard)) = work.pop() {
            let term = here.rest.term;
            match self.program.behaviour(term).clone() {
                Behaviour::Delta => {}
                Behaviour::Binary(ProcessOperator::Synchronise, ..) if has_delta(self.program, term) => {}
                Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                    let mut other = here.clone();
                    other.rest.term = self.terms.canonical(right);
                    work.push((other, Rc::clone(&guard)));
                    here.rest.term = self.terms.canonical(left);
                    work.push((here, guard));
                }
                Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                    self.enter_sequence(&mut here, left, right);
                    work.push((here, guard));
                }
                Behaviour::Call { process, arguments } => {
                    self.enter_call(&mut here, process, &arguments);
                    work.push((here, guard));
                }
                Behaviour::Sum { variables, body } => {
                    let fresh = self.bind(&mut here.values, &variables);
                    Rc::make_mut(&mut guard).variables.extend(fresh);
                    here.rest.term = self.terms.canonical(body);
                    work.push((here, guard));
                }
                // The choice was made on the way to this location.
                Behaviour::Dist { variables, body, .. } => {
                    let values = Rc::make_mut(&mut here.values);
                    variables.iter().for_each(|one| {
                        values.remove(one);
                    });
                    here.rest.term = self.terms.canonical(body);
                    work.push((here, guard));
                }
                Behaviour::At { body, time } => {
                    let time = self.apply(&here.values, time);
                    let guard_mut = Rc::make_mut(&mut guard);
                    let agree = match guard_mut.time {
                        Some(other) => self.require(guard_mut, |program| equal(program, other, time)),
                        None => {
                            guard_mut.time = Some(time);
                            true
                        }
                    };
                    if agree {
                        here.rest.term = self.terms.canonical(body);
                        work.push((here, guard));
                    }
                }
                Behaviour::If { condition, then, otherwise } => {
                    let condition = self.apply(&here.values, condition);
                    if let Some(otherwise) = otherwise {
                        let (here, guard) = (here.clone(), Rc::clone(&guard));
                        let negated = not(self.program, condition);
                        work.extend(self.under(here, guard, negated, otherwise));
                    }
                    work.extend(self.under(here, guard, condition, then));
                }
                Behaviour::Tau
                | Behaviour::Action { .. }
                | Behaviour::Binary(ProcessOperator::Synchronise, ..) => {
                    self.edge(from, here, Rc::unwrap_or_clone(guard))?;
                }
                _ => return Err(error(self.program.behaviour_span(term), "not a sequential process")),
            }
        }
        Ok(())
    }

    /// The edge of a location at which the component terminates.
    fn terminate(&mut self, from: u32) -> Result<(), Diagnostic> {
        let target = self.go(Place::Delta, &Substitution::default(), &[])?;
        self.edges.push(Edge {
            from,
            variables: Vec::new(),
            conditions: Vec::new(),
            what: Step::Terminate,
            time: None,
            distribution: None,
            target,
            span: Span::default(),
        });
        Ok(())
    }

    /// Enters a branch with one more condition, unless that can never hold.
    fn under(
        &mut self,
        mut here: Here,
        mut guard: Rc<Guard>,
        condition: ExpressionId,
        branch: BehaviourId,
    ) -> Option<(Here, Rc<Guard>)> {
        here.rest.term = self.terms.canonical(branch);
        self.require(Rc::make_mut(&mut guard), |_| condition).then_some((here, guard))
    }

    /// Adds a condition. False if it can never hold.
    fn require(&mut self, guard: &mut Guard, condition: impl FnOnce(&mut Program) -> ExpressionId) -> bool {
        let condition = condition(self.program);
        let parts = conjuncts(self.program, condition);
        for part in parts {
            match self.program.expression(part) {
                Expression::Bool(true) => {}
                Expression::Bool(false) => return false,
                // Long lists are rarely repetitive, and take long to search.
                _ if guard.conditions.len() < 50
                    && guard.conditions.iter().any(|&one| expression::same(self.program, one, part)) => {}
                _ => guard.conditions.push(part),
            }
        }
        true
    }

    fn edge(&mut self, from: u32, here: Here, guard: Guard) -> Result<(), Diagnostic> {
        let mut actions = Vec::new();
        let mut work = vec![here.rest.term];
        while let Some(term) = work.pop() {
            match self.program.behaviour(term).clone() {
                Behaviour::Action { action, arguments } => {
                    let name = self.program.action(action).name;
                    let arguments =
                        arguments.iter().map(|&argument| self.apply(&here.values, argument)).collect();
                    actions.push(ActionInstance { name, arguments });
                }
                Behaviour::Binary(_, left, right) => work.extend([right, left]),
                _ => {}
            }
        }
        let span = self.program.behaviour_span(here.rest.term);
        let mut pending = PendingChoices::default();
        let target = self.after(here.chain, here.values, &mut pending)?;
        let Guard { variables, conditions, time } = guard;
        let (what, distribution) = (Step::Actions(actions), pending.distribution());
        self.edges.push(Edge { from, variables, conditions, what, time, distribution, target, span });
        Ok(())
    }
}
