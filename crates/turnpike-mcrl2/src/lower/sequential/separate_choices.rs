//! Separates probabilistic choices that occur more than once before the next action.
//!
//! The outcome of a choice is kept in its variables, which are variables of the location. In
//! `P + P` and in `sum b: Bool. P`, where `P` starts with a choice, each copy needs variables of
//! its own. So does a choice that is made again while its last outcome is still live, as in
//! `P = dist x: Bool[1/2]. a . (b(x) + P)`. Calls are replaced by bodies, sums by their
//! alternatives, and the variables of repeated choices are renamed. Where necessary, the term after
//! an action becomes a process of its own, so that copying terminates.

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::diagnostic::Diagnostic;

use super::terms::{error, for_each_data, for_each_part};
use crate::syntax::{ProcessOperator, Span};
use crate::typed::expression::{Substitution, free_variables, substitute, variable};
use crate::typed::{
    Behaviour, BehaviourId, Expression, ExpressionId, Process, ProcessId, Program, Sort, SortId, VariableId,
};

/// The most choices before an action, and the most alternatives of an expanded sum.
const MOST_COPIES: usize = 1_000;
/// The stack that must be left for a step of the recursion, and the size of a new segment.
const STACK: (usize, usize) = (64 * 1024, 1024 * 1024);

/// Gives all probabilistic choices before the same action different variables, in all processes and
/// in `root`. Returns the new root.
pub(super) fn separate_choices(program: &mut Program, root: BehaviourId) -> Result<BehaviourId, Diagnostic> {
    if !program.behaviour_ids().any(|id| matches!(program.behaviour(id), Behaviour::Dist { .. })) {
        return Ok(root);
    }
    let mut separator =
        Separator { probabilistic: probabilistic_processes(program), program, known: FxHashMap::default() };
    let root = separator.separate(root);
    for index in 0..separator.program.processes.len() {
        if let Some(body) = separator.program.processes[index].body {
            separator.program.processes[index].body = Some(separator.prepare(body));
        }
    }
    // Bodies are copied from prepared bodies, not from other copies.
    let mut copies = Vec::new();
    for index in 0..separator.program.processes.len() {
        if let Some(body) = separator.program.processes[index].body
            && separator.repeats(body)
        {
            let mut copy = CopyState { used: FxHashSet::default(), left: MOST_COPIES };
            copies.push((index, separator.copy(body, &Substitution::default(), &mut copy)?));
        }
    }
    for (index, body) in copies {
        separator.program.processes[index].body = Some(body);
    }
    Ok(root)
}

struct Separator<'a> {
    program: &'a mut Program,
    /// Processes in which some alternative begins with a probabilistic choice.
    probabilistic: FxHashSet<ProcessId>,
    /// The replacements of terms after an action.
    known: FxHashMap<BehaviourId, BehaviourId>,
}

/// The state of copying a term.
struct CopyState {
    /// The variables of choices met so far.
    used: FxHashSet<VariableId>,
    left: usize,
}

/// Processes that may make a choice before any action: a least fixed point over the calls.
fn probabilistic_processes(program: &Program) -> FxHashSet<ProcessId> {
    let mut probabilistic = FxHashSet::default();
    loop {
        let before = probabilistic.len();
        for (index, process) in program.processes.iter().enumerate() {
            if process.body.is_some_and(|body| begins_with_choice(program, &probabilistic, body)) {
                probabilistic.insert(ProcessId::new(index));
            }
        }
        if probabilistic.len() == before {
            return probabilistic;
        }
    }
}

/// Whether some alternative of a term begins with a probabilistic choice.
fn begins_with_choice(program: &Program, probabilistic: &FxHashSet<ProcessId>, term: BehaviourId) -> bool {
    let mut work = vec![term];
    while let Some(id) = work.pop() {
        match program.behaviour(id) {
            Behaviour::Dist { .. } => return true,
            Behaviour::Call { process, .. } if probabilistic.contains(process) => return true,
            behaviour => work.extend(alternatives(behaviour)),
        }
    }
    false
}

/// The subterms that the first action of a term may come from.
fn alternatives(behaviour: &Behaviour) -> Vec<BehaviourId> {
    match behaviour {
        Behaviour::Binary(ProcessOperator::Sequence, left, _) => vec![*left],
        Behaviour::Binary(ProcessOperator::Choice, ..)
        | Behaviour::If { .. }
        | Behaviour::At { .. }
        | Behaviour::Sum { .. }
        | Behaviour::Dist { .. } => behaviour.parts().collect(),
        _ => Vec::new(),
    }
}

impl Separator<'_> {
    /// Replaces a term at the start or after an action.
    fn separate(&mut self, term: BehaviourId) -> BehaviourId {
        if let Some(&known) = self.known.get(&term) {
            return known;
        }
        let prepared = self.prepare(term);
        let new = match !self.begins_with_call(prepared) && self.repeats(prepared) {
            true => self.extract_process(prepared),
            false => prepared,
        };
        self.known.insert(term, new);
        new
    }

    /// Whether a term begins with a call. The body of that process is treated on its own.
    fn begins_with_call(&self, mut term: BehaviourId) -> bool {
        loop {
            match self.program.behaviour(term) {
                Behaviour::Binary(ProcessOperator::Sequence, left, _) => term = *left,
                behaviour => return matches!(behaviour, Behaviour::Call { .. }),
            }
        }
    }

    /// Replaces a term by a call of a new process with that body.
    fn extract_process(&mut self, term: BehaviourId) -> BehaviourId {
        let program = &mut *self.program;
        let free = free_of(program, term);
        let span = program.behaviour_span(term);
        let mut values = Substitution::default();
        let mut parameters = Vec::with_capacity(free.len());
        for &one in &free {
            let like = *program.variable(one);
            let new = program.add_variable(like.name, like.sort, like.span);
            values.insert(one, variable(program, new));
            parameters.push(new);
        }
        let arguments = free.iter().map(|&one| variable(program, one)).collect();
        let body = substitute_in_term(program, term, &values);
        let process = ProcessId::new(program.processes.len());
        let name = program.words.intern("choice");
        program.processes.push(Process { name, parameters: parameters.into(), body: Some(body), span });
        self.probabilistic.insert(process);
        program.add_behaviour(Behaviour::Call { process, arguments }, span)
    }

    /// Replaces all subterms after an action.
    fn prepare(&mut self, term: BehaviourId) -> BehaviourId {
        stacker::maybe_grow(STACK.0, STACK.1, || {
            let mut behaviour = self.program.behaviour(term).clone();
            match &mut behaviour {
                Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                    *left = self.prepare(*left);
                    *right = self.separate(*right);
                }
                Behaviour::Binary(ProcessOperator::Choice, ..)
                | Behaviour::If { .. }
                | Behaviour::At { .. }
                | Behaviour::Sum { .. }
                | Behaviour::Dist { .. } => for_each_part(&mut behaviour, |part| *part = self.prepare(*part)),
                _ => return term,
            }
            self.replace(term, behaviour)
        })
    }

    /// A changed term, or the original if nothing changed.
    fn replace(&mut self, term: BehaviourId, behaviour: Behaviour) -> BehaviourId {
        if *self.program.behaviour(term) == behaviour {
            return term;
        }
        let span = self.program.behaviour_span(term);
        self.program.add_behaviour(behaviour, span)
    }

    /// Whether a choice occurs twice before the first action, below a sum, or while its variables
    /// are live. Unguarded recursion is reported elsewhere.
    fn repeats(&self, term: BehaviourId) -> bool {
        let mut seen: FxHashSet<VariableId> = free_of(self.program, term).into_iter().collect();
        let mut repeats = false;
        let guarded = self.visit_choices(term, false, &mut Vec::new(), &mut |variables, below_sum| {
            repeats |= below_sum || !variables.iter().all(|&one| seen.insert(one));
            repeats
        });
        guarded && repeats
    }

    /// Calls `visit` for the choices before the first action, until it returns true. False for
    /// unguarded recursion.
    fn visit_choices(
        &self,
        term: BehaviourId,
        below_sum: bool,
        calls: &mut Vec<ProcessId>,
        visit: &mut dyn FnMut(&[VariableId], bool) -> bool,
    ) -> bool {
        if !begins_with_choice(self.program, &self.probabilistic, term) {
            return true;
        }
        stacker::maybe_grow(STACK.0, STACK.1, || match self.program.behaviour(term) {
            Behaviour::Call { process, .. } => {
                if calls.contains(process) {
                    return false;
                }
                calls.push(*process);
                let body = self.program.process(*process).body;
                let guarded = body.is_none_or(|body| self.visit_choices(body, below_sum, calls, visit));
                calls.pop();
                guarded
            }
            behaviour => {
                if let Behaviour::Dist { variables, .. } = behaviour
                    && visit(variables, below_sum)
                {
                    return true;
                }
                let below_sum = below_sum || matches!(behaviour, Behaviour::Sum { .. });
                alternatives(behaviour)
                    .into_iter()
                    .all(|part| self.visit_choices(part, below_sum, calls, visit))
            }
        })
    }

    /// Copies a term so that all choices before the first action have different variables.
    fn copy(
        &mut self,
        term: BehaviourId,
        values: &Substitution,
        copy: &mut CopyState,
    ) -> Result<BehaviourId, Diagnostic> {
        if !begins_with_choice(self.program, &self.probabilistic, term) {
            return Ok(substitute_in_term(self.program, term, values));
        }
        stacker::maybe_grow(STACK.0, STACK.1, || self.copy_node(term, values, copy))
    }

    fn copy_node(
        &mut self,
        term: BehaviourId,
        values: &Substitution,
        copy: &mut CopyState,
    ) -> Result<BehaviourId, Diagnostic> {
        let span = self.program.behaviour_span(term);
        let mut behaviour = self.program.behaviour(term).clone();
        match &mut behaviour {
            Behaviour::Call { process, arguments } => {
                let Process { parameters, body, .. } = self.program.process(*process).clone();
                let mut inner = Substitution::default();
                for (&one, &argument) in parameters.iter().zip(arguments.iter()) {
                    inner.insert(one, substitute(self.program, argument, values));
                }
                return match body {
                    Some(body) => self.copy(body, &inner, copy),
                    None => Ok(term),
                };
            }
            Behaviour::Sum { variables, body } => {
                return self.expand_sum(variables, *body, values, copy, span);
            }
            Behaviour::Dist { variables, weight, body } => {
                copy.left = copy.left.checked_sub(1).ok_or_else(|| too_many(span))?;
                let mut values = values.clone();
                for one in variables.iter_mut().filter(|one| !copy.used.insert(**one)) {
                    let like = *self.program.variable(*one);
                    let new = self.program.add_variable(like.name, like.sort, like.span);
                    values.insert(*one, variable(self.program, new));
                    *one = new;
                }
                *weight = substitute(self.program, *weight, &values);
                *body = self.copy(*body, &values, copy)?;
            }
            Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                *left = self.copy(*left, values, copy)?;
                *right = substitute_in_term(self.program, *right, values);
            }
            _ => {
                for_each_data(&mut behaviour, |one| *one = substitute(self.program, *one, values));
                let mut failed = None;
                for_each_part(&mut behaviour, |part| match self.copy(*part, values, copy) {
                    Ok(new) => *part = new,
                    Err(error) => failed = failed.take().or(Some(error)),
                });
                if let Some(error) = failed {
                    return Err(error);
                }
            }
        }
        Ok(self.program.add_behaviour(behaviour, span))
    }

    /// Expands `sum x. p` to `p[v] + p[w] + …`, so that each value has its own choice.
    fn expand_sum(
        &mut self,
        variables: &[VariableId],
        body: BehaviourId,
        values: &Substitution,
        copy: &mut CopyState,
        span: Span,
    ) -> Result<BehaviourId, Diagnostic> {
        let Some((&first, rest)) = variables.split_first() else { return self.copy(body, values, copy) };
        let sort = self.program.variable(first).sort;
        let Some(all) = values_of(self.program, sort) else {
            let message = "a probabilistic choice inside a sum needs a sum over a finite sort";
            let sort = self.program.sort_text(sort);
            return Err(Diagnostic::error(message)
                .at(span.range(), format!("the values of sort {sort} cannot be listed"))
                .help("put an action between the sum and the dist"));
        };
        let mut choice: Option<BehaviourId> = None;
        for value in all {
            let mut values = values.clone();
            values.insert(first, value);
            let one = self.expand_sum(rest, body, &values, copy, span)?;
            choice = Some(match choice {
                None => one,
                Some(others) => {
                    self.program.add_behaviour(Behaviour::Binary(ProcessOperator::Choice, others, one), span)
                }
            });
        }
        Ok(choice.unwrap_or_else(|| self.program.add_behaviour(Behaviour::Delta, span)))
    }
}

fn too_many(span: Span) -> Diagnostic {
    error(span, format!("more than {MOST_COPIES} probabilistic choices are made before one action"))
}

/// All values of a small sort as expressions: `Bool`, and sorts with constructors.
fn values_of(program: &mut Program, sort: SortId) -> Option<Vec<ExpressionId>> {
    if crate::compile::solver::finite_size(program, sort)? > MOST_COPIES as u64 {
        return None;
    }
    let span = Span::default();
    match program.sorts.get(sort) {
        Sort::Bool => {
            Some([true, false].map(|one| program.add_expression(Expression::Bool(one), sort, span)).to_vec())
        }
        Sort::Basic(_) | Sort::Struct(_) => {
            let mut all = Vec::new();
            for constructor in program.constructors(sort).to_vec() {
                let domain = program.signature(constructor).0.to_vec();
                if domain.is_empty() {
                    all.push(program.add_expression(Expression::Symbol(constructor), sort, span));
                    continue;
                }
                let mut tuples: Vec<Vec<ExpressionId>> = vec![Vec::new()];
                for argument in domain {
                    let values = values_of(program, argument)?;
                    tuples = tuples
                        .iter()
                        .flat_map(|tuple| values.iter().map(|&value| [&tuple[..], &[value]].concat()))
                        .collect();
                }
                for arguments in tuples {
                    let call = Expression::Call { symbol: constructor, arguments: arguments.into() };
                    all.push(program.add_expression(call, sort, span));
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// The free variables of a term, in increasing order.
fn free_of(program: &Program, term: BehaviourId) -> Vec<VariableId> {
    let (mut all, mut bound) = (Vec::new(), FxHashSet::default());
    let mut work = vec![term];
    while let Some(id) = work.pop() {
        let mut behaviour = program.behaviour(id).clone();
        for_each_data(&mut behaviour, |one| all.extend(free_variables(program, *one)));
        if let Behaviour::Sum { variables, .. } | Behaviour::Dist { variables, .. } = &behaviour {
            bound.extend(variables.iter().copied());
        }
        work.extend(behaviour.parts());
    }
    // Binders have distinct variables, so a variable bound in the term is not free anywhere in it.
    all.retain(|one| !bound.contains(one) && !program.globals.contains(one));
    all.sort_unstable();
    all.dedup();
    all
}

/// Substitutes variables in a term.
fn substitute_in_term(program: &mut Program, term: BehaviourId, values: &Substitution) -> BehaviourId {
    if values.is_empty() {
        return term;
    }
    stacker::maybe_grow(STACK.0, STACK.1, || {
        let mut behaviour = program.behaviour(term).clone();
        for_each_data(&mut behaviour, |one| *one = substitute(program, *one, values));
        for_each_part(&mut behaviour, |part| *part = substitute_in_term(program, *part, values));
        if *program.behaviour(term) == behaviour {
            return term;
        }
        let span = program.behaviour_span(term);
        program.add_behaviour(behaviour, span)
    })
}
