//! Unfolds process terms into locations and edges, on demand from the root.
//!
//! A location is a term and its continuation. Its variables are the free variables of both, with
//! their ids in the source. An edge is found by walking down to an action (`expand`). On the way, a
//! substitution maps the variables of the source to expressions over the variables of the location
//! and of the edge. After the action, the walk continues to the next choice between actions
//! (`resolve`), through calls and through conditions, which become part of the update.

mod edges;
mod returns;
mod walk;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::Diagnostic;

use self::returns::{RETURN, replace_returns};
use super::continuation::{ChainId, Chains, Rest};
use super::distribution::PendingChoices;
use super::stack::Stack;
use super::terms::Terms;
use crate::lower::{Edge, Goto, Update};
use crate::typed::expression::{Substitution, representative, simplify, substitute, variable};
use crate::typed::{Behaviour, BehaviourId, ExpressionId, Program, VariableId};

/// The most locations of a component.
const LOCATIONS: usize = 1_000_000;

/// A location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Deadlock.
    Delta,
    /// Successful termination.
    Done,
    /// A term and its continuation.
    Term(Rest, ChainId),
}

/// A position in a walk down a term.
#[derive(Clone)]
pub(super) struct Here {
    pub(super) rest: Rest,
    pub(super) chain: ChainId,
    pub(super) values: Rc<Substitution>,
}

/// Builds the locations and edges of a component.
pub(super) struct Unfolding<'a> {
    pub(super) program: &'a mut Program,
    pub(super) terms: Terms,
    pub(super) chains: Chains,
    pub(super) places: Vec<Place>,
    known: FxHashMap<Place, u32>,
    /// The values of global variables.
    globals: Rc<Substitution>,
    pub(super) edges: Vec<Edge>,
    pub(super) stack: Option<Stack>,
    decisions: usize,
    /// Whether some choice is probabilistic. Probabilistic systems are compared by their numbers of
    /// states, so conditions then become part of the update only where the mCRL2 tools do the same:
    /// directly after an action.
    probabilistic: bool,
    /// With more locations than this unfolding fails.
    pub(super) limit: usize,
}

impl<'a> Unfolding<'a> {
    /// Globals without a value in the environment get a representative of their sort.
    pub(super) fn new(
        program: &'a mut Program,
        root: BehaviourId,
        environment: &Substitution,
    ) -> Result<Unfolding<'a>, Diagnostic> {
        let terms = Terms::new(program, root)?;
        let probabilistic =
            program.behaviour_ids().any(|id| matches!(program.behaviour(id), Behaviour::Dist { .. }));
        let mut globals = Substitution::default();
        for one in program.globals.clone() {
            let value = match environment.get(&one) {
                Some(&value) => Some(value),
                None => representative(program, program.variable(one).sort),
            };
            globals.extend(value.map(|value| (one, value)));
        }
        Ok(Unfolding {
            program,
            terms,
            chains: Chains::default(),
            places: Vec::new(),
            known: FxHashMap::default(),
            globals: Rc::new(globals),
            edges: Vec::new(),
            stack: None,
            decisions: 0,
            probabilistic,
            limit: LOCATIONS,
        })
    }

    /// Unfolds everything reachable from the root. Returns the initial update.
    pub(super) fn run(
        &mut self,
        root: BehaviourId,
        environment: &Substitution,
        pending: &mut PendingChoices,
    ) -> Result<Update, Diagnostic> {
        let mut values = (*self.globals).clone();
        // Any order will do, since the keys are distinct.
        values.extend(environment.iter().map(|(&one, &value)| (one, value)));
        // A root that is the body of a process uses its variables.
        let term = self.terms.canonical(root);
        let group = self.terms.named_process(term).and_then(|process| self.terms.group(process));
        let rest = Rest { term, group };
        let here = Here { rest, chain: ChainId::DONE, values: Rc::new(values) };
        let mut initial = self.resolve(here, pending, 0)?;
        let (mut next, mut returns) = (0, Vec::new());
        loop {
            if next < self.places.len() {
                self.expand(next as u32)?;
                next += 1;
            } else if self.stack.as_ref().is_some_and(|stack| returns.len() < stack.frames.len()) {
                let update = self.return_to(returns.len())?;
                returns.push(update);
            } else {
                break;
            }
        }
        if let Some(update) = self.return_by_frame(returns) {
            let mut edges = std::mem::take(&mut self.edges);
            edges.iter_mut().for_each(|edge| replace_returns(&mut edge.target, &update));
            self.edges = edges;
            replace_returns(&mut initial, &update);
        }
        Ok(initial)
    }

    /// A new variable with the same name and sort.
    fn fresh(&mut self, like: VariableId) -> VariableId {
        let like = *self.program.variable(like);
        self.program.add_variable(like.name, like.sort, like.span)
    }

    /// Translates an expression of the source to the variables of the location and the edge.
    fn apply(&mut self, values: &Substitution, expression: ExpressionId) -> ExpressionId {
        let applied =
            if values.is_empty() { expression } else { substitute(self.program, expression, values) };
        simplify(self.program, applied)
    }

    /// Renames bound variables of the source for this walk.
    pub(super) fn bind(
        &mut self,
        values: &mut Rc<Substitution>,
        variables: &[VariableId],
    ) -> Vec<VariableId> {
        let fresh: Vec<VariableId> = variables.iter().map(|&one| self.fresh(one)).collect();
        let values = Rc::make_mut(values);
        for (&one, &new) in variables.iter().zip(&fresh) {
            values.insert(one, variable(self.program, new));
        }
        fresh
    }

    /// Goes to a location, assigning its variables and the drawn values that are kept otherwise.
    fn go(
        &mut self,
        place: Place,
        values: &Substitution,
        drawn: &[(VariableId, ExpressionId)],
    ) -> Result<Update, Diagnostic> {
        let location = self.location(place)?;
        let mut assignments: Vec<(VariableId, ExpressionId)> = Vec::new();
        for one in self.variables(place) {
            let value = match values.get(&one) {
                Some(&value) => value,
                None => variable(self.program, one),
            };
            assignments.push((one, value));
        }
        for &(one, value) in drawn {
            if !assignments.iter().any(|other| other.0 == one) {
                assignments.push((one, value));
            }
        }
        Ok(Update::Go { location: Goto::Local(location), assignments })
    }

    fn location(&mut self, place: Place) -> Result<u32, Diagnostic> {
        if let Some(&location) = self.known.get(&place) {
            return Ok(location);
        }
        if self.places.len() >= self.limit {
            let message = format!("more than {} control locations", self.limit);
            return Err(Diagnostic::error(message).help("the process is not regular"));
        }
        let location = self.places.len() as u32;
        self.places.push(place);
        self.known.insert(place, location);
        Ok(location)
    }

    /// The variables of the source that a location may need.
    fn variables(&self, place: Place) -> Vec<VariableId> {
        let Place::Term(rest, chain) = place else { return Vec::new() };
        let mut all = self.terms.free(rest.term).to_vec();
        all.extend_from_slice(self.chains.free(chain));
        if let (true, Some(stack)) = (self.chains.returns(chain), &self.stack) {
            all.push(stack.variable);
        }
        all.sort_unstable();
        all.dedup();
        all.retain(|one| !self.globals.contains_key(one));
        all
    }
}
