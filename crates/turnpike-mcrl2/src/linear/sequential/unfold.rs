//! Unfolding: from process terms to locations and edges, on demand from the root.
//!
//! A location is a term and what is left to do after it. Its variables are the free variables of both, under the ids they have in the
//! source. An edge is found by walking down to an action (`expand`); on the way a substitution says what the variables of the source
//! mean in terms of the location's variables and those of the edge. From the action on, the walk goes to where the next
//! choice between actions is (`resolve`): through calls, and through conditions, which are decided at once.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use turnpike_model::diagnostic::Diagnostic;

use super::chain::{ChainId, Chains, Rest};
use super::lottery::Lottery;
use super::stack::Stack;
use super::terms::{Terms, error};
use crate::expression::{
    self, Substitution, conjuncts, equal, not, representative, simplify, substitute, variable,
};
use crate::linear::{ActionInstance, Edge, Goto, Step, Update};
use crate::sorts::{Behaviour, BehaviourId, Expression, ExpressionId, ProcessId, Program, VariableId};
use crate::syntax::{ProcessOperator, Span};

/// The limit on locations.
const LOCATIONS: usize = 1_000_000;
/// Conditions inside conditions are decided at once this deep; deeper ones become conditions of edges.
const DEPTH: usize = 200;
/// One step decides at most this many conditions at once; further ones become conditions of edges.
const DECISIONS: usize = 5_000;
/// Stands for a return to the newest frame of the stack until all frames are known.
const RETURN: Goto = Goto::Local(u32::MAX);

/// A location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Nothing can happen.
    Delta,
    /// Successful termination can happen.
    Done,
    /// A term, and what is left to do after it.
    Term(Rest, ChainId),
}

/// A point of a walk down a term.
#[derive(Clone)]
pub(super) struct Here {
    pub(super) rest: Rest,
    pub(super) chain: ChainId,
    pub(super) values: Rc<Substitution>,
}

/// What was met on the way to an action.
#[derive(Clone, Default)]
struct Guard {
    variables: Vec<VariableId>,
    conditions: Vec<ExpressionId>,
    time: Option<ExpressionId>,
}

/// Builds the locations and edges of a component.
pub(super) struct Unfolding<'a> {
    pub(super) program: &'a mut Program,
    pub(super) terms: Terms,
    pub(super) chains: Chains,
    pub(super) places: Vec<Place>,
    known: FxHashMap<Place, u32>,
    /// Variables of the whole specification, which have one value everywhere.
    globals: Rc<Substitution>,
    pub(super) edges: Vec<Edge>,
    pub(super) stack: Option<Stack>,
    decisions: usize,
    /// Whether something is left to chance. Probabilistic systems are compared by their numbers of states, so conditions are then decided
    /// at once only where the mCRL2 tools do so: directly behind an action.
    chance: bool,
    /// More locations than this are an error.
    pub(super) limit: usize,
}

impl<'a> Unfolding<'a> {
    /// Unfolds nothing yet. Globals without a value in the environment get a representative of their sort.
    pub(super) fn new(
        program: &'a mut Program,
        root: BehaviourId,
        environment: &Substitution,
    ) -> Result<Unfolding<'a>, Diagnostic> {
        let terms = Terms::new(program, root)?;
        let chance =
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
            chance,
            limit: LOCATIONS,
        })
    }

    /// Unfolds everything that the root can become; returns how it begins.
    pub(super) fn run(
        &mut self,
        root: BehaviourId,
        environment: &Substitution,
        lottery: &mut Lottery,
    ) -> Result<Update, Diagnostic> {
        let mut values = (*self.globals).clone();
        // Any order will do: the keys differ.
        values.extend(environment.iter().map(|(&one, &value)| (one, value)));
        // A root that is the body of a process uses its variables.
        let term = self.terms.canonical(root);
        let group = self.terms.named(term).and_then(|process| self.terms.group(process));
        let rest = Rest { term, group };
        let here = Here { rest, chain: ChainId::DONE, values: Rc::new(values) };
        let mut initial = self.resolve(here, lottery, 0)?;
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

    /// A new variable like another one.
    fn fresh(&mut self, like: VariableId) -> VariableId {
        let like = *self.program.variable(like);
        self.program.add_variable(like.name, like.sort, like.span)
    }

    /// An expression of the source in terms of what the walk knows.
    fn apply(&mut self, values: &Substitution, expression: ExpressionId) -> ExpressionId {
        let applied =
            if values.is_empty() { expression } else { substitute(self.program, expression, values) };
        simplify(self.program, applied)
    }

    /// Gives variables of the source new names for this walk.
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

    /// `left . right`: the left side, with the right side left to do.
    fn enter_sequence(&mut self, here: &mut Here, left: BehaviourId, right: BehaviourId) {
        let (left, right) = (self.terms.canonical(left), self.terms.canonical(right));
        let group = here.rest.group;
        here.chain = match self.terms.terminates(left) {
            true => self.chains.before(&self.terms, Rest { term: right, group }, here.chain),
            false => ChainId::DONE,
        };
        here.rest = Rest { term: left, group };
    }

    /// A call: the body, with values for the parameters. What is left to do goes to the stack when its variables may get new values
    /// by this call.
    fn enter_call(&mut self, here: &mut Here, process: ProcessId, arguments: &[ExpressionId]) {
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

    /// What happens after an action that ends a term.
    fn after(
        &mut self,
        chain: ChainId,
        values: Rc<Substitution>,
        lottery: &mut Lottery,
    ) -> Result<Update, Diagnostic> {
        self.decisions = 0;
        if chain == ChainId::RETURN {
            // A call that came before the action pushed a frame, and the action ends what was called.
            let pushed = self.stack.as_ref().and_then(|stack| {
                let top = values.get(&stack.variable)?;
                stack.popped(self.program, *top)
            });
            return match pushed {
                Some((chain, restored)) => {
                    let mut values = values;
                    Rc::make_mut(&mut values).extend(restored);
                    self.after(chain, values, lottery)
                }
                None => Ok(Update::Go { location: RETURN, assignments: Vec::new() }),
            };
        }
        match self.chains.first(chain) {
            Some((rest, chain)) => self.resolve(Here { rest, chain, values }, lottery, 0),
            None => self.go(Place::Done, &values, &[]),
        }
    }

    /// Where a walk ends: at the next choice between actions.
    fn resolve(&mut self, mut here: Here, lottery: &mut Lottery, depth: usize) -> Result<Update, Diagnostic> {
        let mut direct = true;
        loop {
            match self.program.behaviour(here.rest.term).clone() {
                Behaviour::Delta => return self.go(Place::Delta, &here.values, &[]),
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
                    lottery.add(self.program, fresh, weight, &[])?;
                    here.rest.term = self.terms.canonical(body);
                }
                Behaviour::If { .. } if self.chance && !direct => return self.arrive(here, lottery),
                Behaviour::If { condition, then, otherwise }
                    if depth < DEPTH && self.decisions < DECISIONS =>
                {
                    let condition = self.apply(&here.values, condition);
                    let then = self.terms.canonical(then);
                    let otherwise = otherwise.map(|one| self.terms.canonical(one));
                    match (self.program.expression(condition), otherwise) {
                        (Expression::Bool(true), _) => here.rest.term = then,
                        (Expression::Bool(false), Some(otherwise)) => here.rest.term = otherwise,
                        (Expression::Bool(false), None) => return self.go(Place::Delta, &here.values, &[]),
                        _ => return self.decide(here, condition, then, otherwise, lottery, depth),
                    }
                }
                _ => return self.arrive(here, lottery),
            }
        }
    }

    fn decide(
        &mut self,
        mut here: Here,
        condition: ExpressionId,
        then: BehaviourId,
        otherwise: Option<BehaviourId>,
        lottery: &mut Lottery,
        depth: usize,
    ) -> Result<Update, Diagnostic> {
        self.decisions += 1;
        let negated = not(self.program, condition);
        let mut branch = here.clone();
        branch.rest.term = then;
        lottery.under(condition);
        let then = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.resolve(branch, lottery, depth + 1))?;
        lottery.leave();
        let otherwise = match otherwise {
            None => self.go(Place::Delta, &here.values, &[])?,
            Some(term) => {
                here.rest.term = term;
                lottery.under(negated);
                let update =
                    stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.resolve(here, lottery, depth + 1))?;
                lottery.leave();
                update
            }
        };
        let (then, otherwise) = (Box::new(then), Box::new(otherwise));
        Ok(Update::If { condition, then, otherwise, control: None })
    }

    /// The location of a term that offers actions.
    fn arrive(&mut self, mut here: Here, lottery: &mut Lottery) -> Result<Update, Diagnostic> {
        if !self.terms.terminates(here.rest.term) {
            here.chain = ChainId::DONE;
        }
        let mut chosen = Vec::new();
        if self.terms.chancy(here.rest.term) {
            chosen = self.choose(&here, lottery)?;
        }
        let place = Place::Term(here.rest, here.chain);
        self.go(place, &here.values, &chosen)
    }

    /// Draws the probabilistic choices inside a term that has other alternatives, too. Their variables become variables of the location;
    /// returns them with what they become.
    fn choose(
        &mut self,
        here: &Here,
        lottery: &mut Lottery,
    ) -> Result<Vec<(VariableId, ExpressionId)>, Diagnostic> {
        let mut chosen: Vec<(VariableId, ExpressionId)> = Vec::new();
        let mut work: Vec<(Here, Vec<ExpressionId>)> = vec![(here.clone(), Vec::new())];
        while let Some((mut here, conditions)) = work.pop() {
            let term = here.rest.term;
            if !self.terms.chancy(term) {
                continue;
            }
            let span = self.program.behaviour_span(term);
            let mut go = |here: &Here, body: BehaviourId, conditions: Vec<ExpressionId>| {
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
                        work.push((here, conditions.iter().copied().chain([condition]).collect()));
                    }
                }
                Behaviour::Call { process, arguments } => {
                    self.enter_call(&mut here, process, &arguments);
                    work.push((here, conditions));
                }
                Behaviour::Dist { variables, weight, body } => {
                    if variables.iter().any(|one| chosen.iter().any(|other| other.0 == *one)) {
                        return Err(error(
                            span,
                            "this probabilistic choice is made twice before the next action",
                        )
                        .help("give each of the two a process of its own"));
                    }
                    let fresh = self.bind(&mut here.values, &variables);
                    let weight = self.apply(&here.values, weight);
                    chosen.extend(variables.iter().map(|one| (*one, here.values[one])));
                    lottery.add(self.program, fresh, weight, &conditions)?;
                    here.rest.term = self.terms.canonical(body);
                    work.push((here, conditions));
                }
                _ => {
                    return Err(error(span, "a probabilistic choice directly inside a sum is not supported")
                        .help("put an action between the sum and the dist"));
                }
            }
        }
        Ok(chosen)
    }

    /// Goes to a location, with values for all its variables.
    fn go(
        &mut self,
        place: Place,
        values: &Substitution,
        chosen: &[(VariableId, ExpressionId)],
    ) -> Result<Update, Diagnostic> {
        let location = self.location(place)?;
        let mut assignments: Vec<(VariableId, ExpressionId)> = chosen.to_vec();
        for one in self.variables(place) {
            let value = match values.get(&one) {
                Some(&value) => value,
                None => variable(self.program, one),
            };
            assignments.push((one, value));
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

    /// The edges of a location.
    fn expand(&mut self, from: u32) -> Result<(), Diagnostic> {
        let (rest, chain) = match self.places[from as usize] {
            Place::Delta => return Ok(()),
            Place::Done => {
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
                return Ok(());
            }
            Place::Term(rest, chain) => (rest, chain),
        };
        let here = Here { rest, chain, values: Rc::clone(&self.globals) };
        let mut work = vec![(here, Rc::new(Guard::default()))];
        while let Some((mut here, mut guard)) = work.pop() {
            let term = here.rest.term;
            match self.program.behaviour(term).clone() {
                Behaviour::Delta => {}
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
                // Chosen on the way to this location.
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
                        let (mut here, mut guard) = (here.clone(), Rc::clone(&guard));
                        here.rest.term = self.terms.canonical(otherwise);
                        if self.require(Rc::make_mut(&mut guard), |program| not(program, condition)) {
                            work.push((here, guard));
                        }
                    }
                    here.rest.term = self.terms.canonical(then);
                    if self.require(Rc::make_mut(&mut guard), |_| condition) {
                        work.push((here, guard));
                    }
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

    /// Adds a condition; whether it can hold.
    fn require(&mut self, guard: &mut Guard, condition: impl FnOnce(&mut Program) -> ExpressionId) -> bool {
        let condition = condition(self.program);
        let parts = conjuncts(self.program, condition);
        for part in parts {
            match self.program.expression(part) {
                Expression::Bool(true) => {}
                Expression::Bool(false) => return false,
                // Long lists are rarely repetitive, and take long to look through.
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
        let mut lottery = Lottery::default();
        let target = self.after(here.chain, here.values, &mut lottery)?;
        let Guard { variables, conditions, time } = guard;
        let (what, distribution) = (Step::Actions(actions), lottery.distribution());
        self.edges.push(Edge { from, variables, conditions, what, time, distribution, target, span });
        Ok(())
    }

    /// What happens after a return to a frame.
    fn return_to(&mut self, index: usize) -> Result<Update, Diagnostic> {
        let Some(stack) = &self.stack else { return self.go(Place::Delta, &Substitution::default(), &[]) };
        let mut values = stack.restored(self.program, index);
        let chain = stack.frames[index].chain;
        values.extend(self.globals.iter().map(|(&one, &value)| (one, value)));
        let mut lottery = Lottery::default();
        let update = self.after(chain, Rc::new(values), &mut lottery)?;
        match (lottery.distribution(), self.chains.first(chain)) {
            (Some(_), Some((rest, _))) => Err(error(
                self.program.behaviour_span(rest.term),
                "a probabilistic choice directly after a recursive call is not supported",
            )
            .help("put an action between the call and the dist")),
            _ => Ok(update),
        }
    }

    /// What happens after a return, whatever the frame.
    fn return_by_frame(&mut self, returns: Vec<Update>) -> Option<Update> {
        let stack = self.stack.as_ref()?;
        let mut all: Option<Update> = None;
        for (index, then) in returns.into_iter().enumerate().rev() {
            all = Some(match all {
                None => then,
                Some(otherwise) => Update::If {
                    condition: stack.recognise(self.program, index),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                    control: None,
                },
            });
        }
        all
    }
}

fn replace_returns(update: &mut Update, by: &Update) {
    let mut work = vec![update];
    while let Some(update) = work.pop() {
        match update {
            Update::Go { location, .. } if *location == RETURN => *update = by.clone(),
            Update::Go { .. } => {}
            Update::If { then, otherwise, .. } => work.extend([&mut **then, &mut **otherwise]),
        }
    }
}
