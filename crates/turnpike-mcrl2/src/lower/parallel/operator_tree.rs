//! The static part of a process: its components, and the operators above them.
//!
//! The walk starts at `init` and passes parallel operators and calls of processes that contain
//! some. Everything below is sequential and becomes one component. Data are closed on the way: the
//! arguments of calls and the values of conditions are known, so a process such as
//! `Row(n: Nat) = (n > 1) -> Cell(n) || Row(Int2Nat(n - 1)) <> Cell(1)` can be unfolded.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use turnpike_model::diagnostic::Diagnostic;

use super::alphabet::{Bag, bag};
use super::closed_terms::ClosedTerms;
use super::instance_names::{Instance, Origin, name_components};
use crate::lower::Automaton;
use crate::syntax::{ProcessOperator, Span, Symbol};
use crate::typed::expression::{self, Substitution};
use crate::typed::{Behaviour, BehaviourId, Expression, ExpressionId, ProcessId, Program};

/// The deepest nesting of calls. Deeper nesting counts as infinite.
const MAX_CALLS: usize = 2_000;
/// A limit that no sensible state exceeds.
const MAX_COMPONENTS: usize = 10_000;

/// A node of the operator tree. Children have smaller ids than their parents.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A sequential component, by its index.
    Leaf(usize),
    /// `||` of at least two operands, none of which is a `||` itself.
    Parallel(Vec<usize>),
    /// `comm`
    Comm(Vec<(Bag, Symbol)>, usize),
    /// `allow`
    Allow(Vec<Bag>, usize),
    /// `block`
    Block(Bag, usize),
    /// `hide`, except for the names that the user unhides.
    Hide(Bag, usize),
    /// `rename`
    Rename(Vec<(Symbol, Symbol)>, usize),
}

impl Node {
    /// The operands of a node.
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
    /// The nodes. The root is the last one.
    pub(super) nodes: Vec<Node>,
    pub(super) components: Vec<Automaton>,
}

/// The error has been added to the errors of the unfolder.
struct Failed;

struct Unfolder<'a> {
    program: &'a mut Program,
    closed: ClosedTerms,
    unhide: FxHashSet<Symbol>,
    /// For each process expression whether it contains a parallel operator, directly or in a
    /// process that it calls.
    parallel: Vec<bool>,
    skeleton: Skeleton,
    /// The origin of each component.
    origins: Vec<Origin>,
    errors: Vec<Diagnostic>,
    calls: Vec<(ProcessId, Vec<ExpressionId>)>,
    /// The number of the innermost call.
    call_number: usize,
    calls_so_far: usize,
}

/// The values of all variables in scope.
type Environment = Rc<Substitution>;

/// Unfolds the initial process.
pub(super) fn unfold(program: &mut Program, unhide: &[String]) -> Result<Skeleton, Vec<Diagnostic>> {
    let Some(init) = program.init else {
        return Err(vec![Diagnostic::error("there is no init, so there is nothing to execute")]);
    };
    let unhide = unhide.iter().filter_map(|name| program.words.find(name)).collect();
    let parallel = parallel_parts(program);
    let mut values = Substitution::default();
    for global in program.globals.clone() {
        // Any fixed value will do, since a specification must not depend on it.
        if let Some(value) = expression::representative(program, program.variable(global).sort) {
            values.insert(global, value);
        }
    }
    let mut unfolder = Unfolder {
        program,
        closed: ClosedTerms::default(),
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
    // Equal components have the same errors.
    let mut seen = FxHashSet::default();
    errors.retain(|one| {
        seen.insert((one.message.clone(), one.span.as_ref().map(|span| (span.range.start, span.range.end))))
    });
    Err(errors)
}

/// For each process expression whether it contains a parallel operator, directly or in a process
/// that it calls.
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

    /// Unfolds a process expression to a node.
    fn node(&mut self, id: BehaviourId, environment: &Environment) -> Result<usize, Failed> {
        let mut operands = Vec::new();
        self.collect(id, environment, &mut operands)?;
        Ok(if operands.len() == 1 { operands[0] } else { self.add(Node::Parallel(operands)) })
    }

    /// Collects the operands of nested `||`, or the single node of anything else.
    fn collect(
        &mut self,
        id: BehaviourId,
        environment: &Environment,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.collect_here(id, environment, operands))
    }

    fn collect_here(
        &mut self,
        id: BehaviourId,
        environment: &Environment,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        if !self.parallel[id.index()] {
            operands.push(self.leaf(id, environment)?);
            return Ok(());
        }
        let node = match self.program.behaviour(id).clone() {
            Behaviour::Binary(ProcessOperator::Parallel, left, right) => {
                // Both sides are unfolded, so that the errors of both are reported.
                let first = self.collect(left, environment, operands);
                return first.and(self.collect(right, environment, operands));
            }
            Behaviour::Call { process, arguments } => {
                return self.call(id, process, &arguments, environment, operands);
            }
            Behaviour::If { condition, then, otherwise } => {
                return match (self.decide(condition, environment)?, otherwise) {
                    (true, _) => self.collect(then, environment, operands),
                    (false, Some(otherwise)) => self.collect(otherwise, environment, operands),
                    (false, None) => {
                        operands.push(self.delta(id, environment)?);
                        Ok(())
                    }
                };
            }
            Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                // A choice is allowed if all alternatives but one are impossible.
                return if self.is_impossible(left, environment)? {
                    self.collect(right, environment, operands)
                } else if self.is_impossible(right, environment)? {
                    self.collect(left, environment, operands)
                } else {
                    self.fail_misplaced(id)
                };
            }
            Behaviour::Comm { rules, body } => {
                let rules = rules.iter().map(|(names, result)| (bag(names), *result)).collect();
                Node::Comm(rules, self.node(body, environment)?)
            }
            Behaviour::Allow { actions, body } => {
                let mut bags: Vec<Bag> = actions.iter().map(|names| bag(names)).collect();
                bags.sort_unstable();
                bags.dedup();
                Node::Allow(bags, self.node(body, environment)?)
            }
            Behaviour::Block { actions, body } => Node::Block(bag(&actions), self.node(body, environment)?),
            Behaviour::Hide { actions, body } => {
                let hidden: Vec<Symbol> =
                    actions.iter().copied().filter(|name| !self.unhide.contains(name)).collect();
                Node::Hide(bag(&hidden), self.node(body, environment)?)
            }
            Behaviour::Rename { renamings, body } => {
                Node::Rename(renamings.to_vec(), self.node(body, environment)?)
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

    /// Unfolds a call of a process that contains parallel operators.
    fn call(
        &mut self,
        id: BehaviourId,
        process: ProcessId,
        arguments: &[ExpressionId],
        environment: &Environment,
        operands: &mut Vec<usize>,
    ) -> Result<(), Failed> {
        let values: Vec<ExpressionId> =
            arguments.iter().map(|&one| self.closed_value(one, environment)).collect();
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
            if let Some(&value) = environment.get(&global) {
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
    fn closed_value(&mut self, id: ExpressionId, environment: &Environment) -> ExpressionId {
        let closed = expression::substitute(self.program, id, environment);
        self.closed.normal_form(self.program, closed)
    }

    fn decide(&mut self, condition: ExpressionId, environment: &Environment) -> Result<bool, Failed> {
        let value = self.closed_value(condition, environment);
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

    /// Whether a process expression is `delta`, or is below a condition that is false.
    fn is_impossible(&mut self, id: BehaviourId, environment: &Environment) -> Result<bool, Failed> {
        Ok(match *self.program.behaviour(id) {
            Behaviour::Delta => true,
            Behaviour::If { condition, then, otherwise } => {
                match (self.decide(condition, environment)?, otherwise) {
                    (true, _) => self.is_impossible(then, environment)?,
                    (false, Some(otherwise)) => self.is_impossible(otherwise, environment)?,
                    (false, None) => true,
                }
            }
            Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                self.is_impossible(left, environment)? && self.is_impossible(right, environment)?
            }
            _ => false,
        })
    }

    /// A component that does nothing, in place of one below a condition that is false.
    fn delta(&mut self, id: BehaviourId, environment: &Environment) -> Result<usize, Failed> {
        let span = self.program.behaviour_span(id);
        let delta = self.program.add_behaviour(Behaviour::Delta, span);
        self.parallel.resize(self.program.behaviour_count(), false);
        self.leaf(delta, environment)
    }

    fn leaf(&mut self, id: BehaviourId, environment: &Environment) -> Result<usize, Failed> {
        let component = self.skeleton.components.len();
        let span = self.program.behaviour_span(id);
        if component == MAX_COMPONENTS {
            let message = format!("more than {MAX_COMPONENTS} components run in parallel");
            return self.fail(Diagnostic::error(message).at(span.range(), "this is one of them"));
        }
        let begins_as = match self.program.behaviour(id).clone() {
            Behaviour::Call { process, arguments } => {
                let arguments = arguments.iter().map(|&one| self.closed_value(one, environment)).collect();
                Some(Instance { process, arguments })
            }
            _ => None,
        };
        let inside = self.calls.last().map(|(process, arguments)| {
            (self.call_number, Instance { process: *process, arguments: arguments.clone() })
        });
        self.origins.push(Origin { begins_as, inside });
        match crate::lower::automaton(self.program, id, environment) {
            Ok(mut automaton) => {
                self.closed.fold_automaton(self.program, &mut automaton);
                self.parallel.resize(self.program.behaviour_count(), false);
                self.skeleton.components.push(automaton);
                Ok(self.add(Node::Leaf(component)))
            }
            Err(diagnostic) => self.fail(diagnostic),
        }
    }

    /// Reports a parallel operator below a sequential one.
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

    /// The current process, for messages.
    fn path(&self) -> String {
        match self.calls.last() {
            Some((process, _)) => {
                format!("in process {}", self.program.text(self.program.process(*process).name))
            }
            None => String::new(),
        }
    }
}

/// The place of errors about the whole specification.
pub(super) fn init_span(program: &Program) -> Span {
    program.init.map_or(Span::default(), |init| program.behaviour_span(init))
}
