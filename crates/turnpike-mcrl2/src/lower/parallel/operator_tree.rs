//! The static part of a process: its components, and the operators above them.
//!
//! The walk starts at `init` and passes parallel operators and calls of processes that contain
//! some. Everything below is sequential and becomes one component. Data is closed along the way:
//! the arguments of calls are known, and so are conditions. That is why a process such as
//! `Row(n: Nat) = (n > 1) -> Cell(n) || Row(Int2Nat(n - 1)) <> Cell(1)` can be unfolded.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use turnpike_model::diagnostic::Diagnostic;

use super::alphabet::{Bag, bag};
use super::closed_terms::Closed;
use super::instance_names::{Instance, Origin, name_components};
use crate::lower::Automaton;
use crate::syntax::{ProcessOperator, Span, Symbol};
use crate::typed::expression::{self, Substitution};
use crate::typed::{Behaviour, BehaviourId, Expression, ExpressionId, ProcessId, Program};

/// The deepest nesting of calls; deeper ones are taken to be infinite.
const MAX_CALLS: usize = 2_000;
/// More components than any state should have.
const MAX_COMPONENTS: usize = 10_000;

/// A node of the operator tree. Children have smaller ids than their parents.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A sequential component, as index.
    Leaf(usize),
    /// `||` of at least two, none of them a `||`.
    Parallel(Vec<usize>),
    /// `comm`
    Comm(Vec<(Bag, Symbol)>, usize),
    /// `allow`
    Allow(Vec<Bag>, usize),
    /// `block`
    Block(Bag, usize),
    /// `hide`, without what the user wants to see.
    Hide(Bag, usize),
    /// `rename`
    Rename(Vec<(Symbol, Symbol)>, usize),
}

impl Node {
    /// The nodes directly below.
    pub(super) fn operands(&self) -> &[usize] {
        match self {
            Node::Leaf(_) => &[],
            Node::Parallel(operands) => operands,
            Node::Comm(_, body)
            | Node::Allow(_, body)
            | Node::Block(_, body)
            | Node::Hide(_, body)
            | Node::Rename(_, body) => std::slice::from_ref(body),
        }
    }
}

/// The operator tree and its components.
#[derive(Clone, Debug, Default)]
pub(super) struct Skeleton {
    /// The root is the last.
    pub(super) nodes: Vec<Node>,
    pub(super) components: Vec<Automaton>,
}

/// The error is in the list of errors already.
struct Failed;

struct Unfolder<'a> {
    program: &'a mut Program,
    closed: Closed,
    unhide: FxHashSet<Symbol>,
    /// For each process expression whether there is a parallel operator in it or in a process it
    /// calls.
    parallel: Vec<bool>,
    skeleton: Skeleton,
    /// For each component where it comes from.
    origins: Vec<Origin>,
    errors: Vec<Diagnostic>,
    calls: Vec<(ProcessId, Vec<ExpressionId>)>,
    /// The number of the innermost call.
    call_number: usize,
    calls_so_far: usize,
}

/// Values of all variables in scope.
type Surroundings = Rc<Substitution>;

/// Unfolds the initial process.
pub(super) fn unfold(program: &mut Program, unhide: &[String]) -> Result<Skeleton, Vec<Diagnostic>> {
    let Some(init) = program.init else {
        return Err(vec![Diagnostic::error("there is no init, so there is nothing to execute")]);
    };
    let unhide = unhide.iter().filter_map(|name| program.words.find(name)).collect();
    let parallel = parallel_parts(program);
    let mut values = Substitution::default();
    for global in program.globals.clone() {
        // Any fixed value will do (a specification must not depend on it).
        if let Some(value) = expression::representative(program, program.variable(global).sort) {
            values.insert(global, value);
        }
    }
    let mut unfolder = Unfolder {
        program,
        closed: Closed::default(),
        unhide,
        parallel,
        skeleton: Skeleton::default(),
        origins: Vec::new(),
        errors: Vec::new(),
        calls: Vec::new(),
        call_number: 0,
        calls_so_far: 0,
    };
    let whole = unfolder.node(init, &Rc::new(values));
    let Unfolder { mut skeleton, origins, mut errors, .. } = unfolder;
    if whole.is_ok() && errors.is_empty() {
        name_components(program, &origins, &mut skeleton.components);
        return Ok(skeleton);
    }
    // Components that are alike have the same errors.
    let mut seen = FxHashSet::default();
    errors.retain(|one| {
        seen.insert((one.message.clone(), one.span.as_ref().map(|span| (span.range.start, span.range.end))))
    });
    Err(errors)
}

/// For each process expression whether there is a parallel operator in it or in a process it calls.
fn parallel_parts(program: &Program) -> Vec<bool> {
    let mut processes = vec![false; program.processes.len()];
    let mut parts = vec![false; program.behaviour_count()];
    loop {
        for id in program.behaviour_ids() {
            let behaviour = program.behaviour(id);
            parts[id.index()] = is_parallel_operator(behaviour)
                || matches!(behaviour, Behaviour::Call { process, .. } if processes[process.index()])
                || behaviour.parts().any(|child| parts[child.index()]);
        }
        let mut changed = false;
        for (process, known) in program.processes.iter().zip(&mut processes) {
            if !*known && process.body.is_some_and(|body| parts[body.index()]) {
                (*known, changed) = (true, true);
            }
        }
        if !changed {
            return parts;
        }
    }
}

fn is_parallel_operator(behaviour: &Behaviour) -> bool {
    matches!(
        behaviour,
        Behaviour::Binary(ProcessOperator::Parallel | ProcessOperator::LeftMerge, ..)
            | Behaviour::Comm { .. }
            | Behaviour::Allow { .. }
            | Behaviour::Block { .. }
            | Behaviour::Hide { .. }
            | Behaviour::Rename { .. }
    )
}

/// The operator of a process expression as written.
fn operator(behaviour: &Behaviour) -> &'static str {
    match behaviour {
        Behaviour::Binary(operator, ..) => operator.text(),
        Behaviour::At { .. } => "@",
        Behaviour::Sum { .. } => "sum",
        Behaviour::Dist { .. } => "dist",
        Behaviour::If { .. } => "->",
        Behaviour::Block { .. } => "block",
        Behaviour::Hide { .. } => "hide",
        Behaviour::Allow { .. } => "allow",
        Behaviour::Rename { .. } => "rename",
        Behaviour::Comm { .. } => "comm",
        Behaviour::Delta | Behaviour::Tau | Behaviour::Action { .. } | Behaviour::Call { .. } => "",
    }
}

impl Unfolder<'_> {
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T, Failed> {
        self.errors.push(diagnostic);
        Err(Failed)
    }

    fn add(&mut self, node: Node) -> usize {
        self.skeleton.nodes.push(node);
        self.skeleton.nodes.len() - 1
    }

    /// The node of a process expression.
    fn node(&mut self, id: BehaviourId, surroundings: &Surroundings) -> Result<usize, Failed> {
        let mut operands = Vec::new();
        self.collect(id, surroundings, &mut operands)?;
        Ok(if operands.len() == 1 { operands[0] } else { self.add(Node::Parallel(operands)) })
    }

    /// The nodes of all operands of `||`; just one for anything else.
    fn collect(
        &mut self,
        id: BehaviourId,
        surroundings: &Surroundings,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.collect_here(id, surroundings, operands))
    }

    fn collect_here(
        &mut self,
        id: BehaviourId,
        surroundings: &Surroundings,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        if !self.parallel[id.index()] {
            operands.push(self.leaf(id, surroundings)?);
            return Ok(());
        }
        let node = match self.program.behaviour(id).clone() {
            Behaviour::Binary(ProcessOperator::Parallel, left, right) => {
                // Both sides are tried, so that the errors of both are reported.
                let first = self.collect(left, surroundings, operands);
                return first.and(self.collect(right, surroundings, operands));
            }
            Behaviour::Call { process, arguments } => {
                return self.call(id, process, &arguments, surroundings, operands);
            }
            Behaviour::If { condition, then, otherwise } => {
                return match (self.decide(condition, surroundings)?, otherwise) {
                    (true, _) => self.collect(then, surroundings, operands),
                    (false, Some(otherwise)) => self.collect(otherwise, surroundings, operands),
                    (false, None) => {
                        operands.push(self.delta(id, surroundings)?);
                        Ok(())
                    }
                };
            }
            Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                // One of several alternatives, when the others are known to be impossible.
                return if self.is_impossible(left, surroundings)? {
                    self.collect(right, surroundings, operands)
                } else if self.is_impossible(right, surroundings)? {
                    self.collect(left, surroundings, operands)
                } else {
                    self.fail_misplaced(id)
                };
            }
            Behaviour::Comm { rules, body } => {
                let rules = rules.iter().map(|(names, result)| (bag(names), *result)).collect();
                Node::Comm(rules, self.node(body, surroundings)?)
            }
            Behaviour::Allow { actions, body } => {
                let mut bags: Vec<Bag> = actions.iter().map(|names| bag(names)).collect();
                bags.sort_unstable();
                bags.dedup();
                Node::Allow(bags, self.node(body, surroundings)?)
            }
            Behaviour::Block { actions, body } => Node::Block(bag(&actions), self.node(body, surroundings)?),
            Behaviour::Hide { actions, body } => {
                let hidden: Vec<Symbol> =
                    actions.iter().copied().filter(|name| !self.unhide.contains(name)).collect();
                Node::Hide(bag(&hidden), self.node(body, surroundings)?)
            }
            Behaviour::Rename { renamings, body } => {
                Node::Rename(renamings.to_vec(), self.node(body, surroundings)?)
            }
            Behaviour::Binary(ProcessOperator::LeftMerge, ..) => {
                let span = self.program.behaviour_span(id);
                return self.fail(
                    Diagnostic::error("||_ cannot be executed")
                        .at(span.range(), "")
                        .help("the left merge is an operator for proofs; write || instead"),
                );
            }
            _ => return self.fail_misplaced(id),
        };
        let node = self.add(node);
        operands.push(node);
        Ok(())
    }

    /// A call of a process that contains parallel operators.
    fn call(
        &mut self,
        id: BehaviourId,
        process: ProcessId,
        arguments: &[ExpressionId],
        surroundings: &Surroundings,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        let values: Vec<ExpressionId> =
            arguments.iter().map(|&one| self.closed_value(one, surroundings)).collect();
        let endless = self.calls.len() >= MAX_CALLS
            || self.calls.iter().any(|(known, with)| {
                *known == process
                    && with
                        .iter()
                        .zip(&values)
                        .all(|(&left, &right)| expression::same(self.program, left, right))
            });
        let Program { words, processes, .. } = &*self.program;
        let declared = &processes[process.index()];
        if endless {
            let name = words.text(declared.name);
            let message = format!("process {name} is put in parallel with itself without end");
            let span = self.program.behaviour_span(id);
            return self.fail(Diagnostic::error(message).at(span.range(), "this call leads back to itself").help(
                "the number of components must be fixed at the start: let a parameter count down and stop with a condition",
            ));
        }
        let Some(body) = declared.body else { return Err(Failed) };
        let parameters = declared.parameters.iter().copied().zip(values.iter().copied());
        let mut inner: Substitution = parameters.collect();
        for &global in &self.program.globals {
            if let Some(&value) = surroundings.get(&global) {
                inner.insert(global, value);
            }
        }
        self.calls.push((process, values));
        self.calls_so_far += 1;
        let outer = std::mem::replace(&mut self.call_number, self.calls_so_far);
        let result = self.collect(body, &Rc::new(inner), operands);
        self.call_number = outer;
        self.calls.pop();
        result
    }

    /// A data expression with the values of its variables, evaluated as far as possible.
    fn closed_value(&mut self, id: ExpressionId, surroundings: &Surroundings) -> ExpressionId {
        let closed = expression::substitute(self.program, id, surroundings);
        self.closed.normal_form(self.program, closed)
    }

    fn decide(&mut self, condition: ExpressionId, surroundings: &Surroundings) -> Result<bool, Failed> {
        let value = self.closed_value(condition, surroundings);
        if let Expression::Bool(value) = *self.program.expression(value) {
            return Ok(value);
        }
        let span = self.program.span_of(condition);
        let became = expression::text(self.program, value);
        self.fail(
            Diagnostic::error("a condition above parallel operators is neither true nor false")
                .at(span.range(), format!("this becomes {became}"))
                .help("which components there are must be known at the start"),
        )
    }

    /// Whether a process expression is `delta`, or stands under a condition that does not hold.
    fn is_impossible(&mut self, id: BehaviourId, surroundings: &Surroundings) -> Result<bool, Failed> {
        Ok(match *self.program.behaviour(id) {
            Behaviour::Delta => true,
            Behaviour::If { condition, then, otherwise } => {
                match (self.decide(condition, surroundings)?, otherwise) {
                    (true, _) => self.is_impossible(then, surroundings)?,
                    (false, Some(otherwise)) => self.is_impossible(otherwise, surroundings)?,
                    (false, None) => true,
                }
            }
            Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                self.is_impossible(left, surroundings)? && self.is_impossible(right, surroundings)?
            }
            _ => false,
        })
    }

    /// A component that does nothing, as a condition that does not hold leaves behind.
    fn delta(&mut self, id: BehaviourId, surroundings: &Surroundings) -> Result<usize, Failed> {
        let span = self.program.behaviour_span(id);
        let delta = self.program.add_behaviour(Behaviour::Delta, span);
        self.parallel.resize(self.program.behaviour_count(), false);
        self.leaf(delta, surroundings)
    }

    fn leaf(&mut self, id: BehaviourId, surroundings: &Surroundings) -> Result<usize, Failed> {
        let component = self.skeleton.components.len();
        let span = self.program.behaviour_span(id);
        if component == MAX_COMPONENTS {
            let message = format!("more than {MAX_COMPONENTS} components run in parallel");
            return self.fail(Diagnostic::error(message).at(span.range(), "this is one of them"));
        }
        let begins_as = match self.program.behaviour(id).clone() {
            Behaviour::Call { process, arguments } => {
                let arguments = arguments.iter().map(|&one| self.closed_value(one, surroundings)).collect();
                Some(Instance { process, arguments })
            }
            _ => None,
        };
        let inside = self.calls.last().map(|(process, arguments)| {
            (self.call_number, Instance { process: *process, arguments: arguments.clone() })
        });
        self.origins.push(Origin { begins_as, inside });
        match crate::lower::automaton(self.program, id, surroundings) {
            Ok(mut automaton) => {
                self.closed.fold_automaton(self.program, &mut automaton);
                self.parallel.resize(self.program.behaviour_count(), false);
                self.skeleton.components.push(automaton);
                Ok(self.add(Node::Leaf(component)))
            }
            Err(diagnostic) => self.fail(diagnostic),
        }
    }

    /// A parallel operator below a sequential one.
    fn fail_misplaced<T>(&mut self, above: BehaviourId) -> Result<T, Failed> {
        let outer = operator(self.program.behaviour(above));
        let mut id = above;
        while let Some(child) = self.program.behaviour(id).parts().find(|child| self.parallel[child.index()])
        {
            id = child;
            if is_parallel_operator(self.program.behaviour(id)) {
                break;
            }
        }
        let behaviour = self.program.behaviour(id);
        let what = match behaviour {
            Behaviour::Call { process, .. } => {
                let name = self.program.text(self.program.process(*process).name);
                format!("process {name}, which contains parallel operators, is called")
            }
            _ => format!("{} is used", operator(behaviour)),
        };
        let span = self.program.behaviour_span(id);
        let note = self.path();
        self.fail(
            Diagnostic::error(format!("{what} inside of {outer}"))
                .at(span.range(), note)
                .help("||, comm, allow, block, hide and rename must stand outside of all sequential operators: put them into init"),
        )
    }

    /// The process that is being unfolded, for messages.
    fn path(&self) -> String {
        match self.calls.last() {
            Some((process, _)) => {
                format!("in process {}", self.program.text(self.program.process(*process).name))
            }
            None => String::new(),
        }
    }
}

/// A place for errors that concern the whole.
pub(super) fn init_span(program: &Program) -> Span {
    program.init.map_or(Span::default(), |init| program.behaviour_span(init))
}
