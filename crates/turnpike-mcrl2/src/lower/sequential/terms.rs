//! Analyses the process terms of a component before it is unfolded: which are equal, which can
//! terminate, which variables they need, and how processes call each other.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use turnpike_model::components::components;
use turnpike_model::diagnostic::Diagnostic;

use crate::syntax::{ProcessOperator, Span};
use crate::typed::expression::{free_variables, map_children};
use crate::typed::{
    Behaviour, BehaviourId, Expression, ExpressionId, ProcessId, Program, SortId, VariableId,
};

/// The terms below a root, including those of called processes. Equal terms are represented by the
/// first one.
pub(super) struct Terms {
    canonical: FxHashMap<BehaviourId, BehaviourId>,
    free: FxHashMap<BehaviourId, Rc<[VariableId]>>,
    terminating: FxHashSet<BehaviourId>,
    probabilistic: FxHashSet<BehaviourId>,
    processes: FxHashMap<ProcessId, Callee>,
    names: FxHashMap<BehaviourId, ProcessId>,
}

/// A process that the component may call.
#[derive(Clone, Copy)]
struct Callee {
    body: BehaviourId,
    /// The group of mutually recursive processes that it belongs to, if one of their calls in the
    /// group is followed by another term.
    group: Option<u32>,
}

impl Terms {
    /// Analyses all terms that `root` can become. Fails if it is not a sequential process, or if
    /// recursion is unguarded.
    pub(super) fn new(program: &Program, root: BehaviourId) -> Result<Terms, Diagnostic> {
        let (behaviours, processes) = reachable(program, root)?;
        let mut terms = Terms {
            canonical: FxHashMap::default(),
            free: FxHashMap::default(),
            terminating: FxHashSet::default(),
            probabilistic: FxHashSet::default(),
            processes: FxHashMap::default(),
            names: FxHashMap::default(),
        };
        terms.intern(program, &behaviours);
        for &process in &processes {
            if let Some(body) = program.process(process).body {
                let body = terms.canonical(body);
                terms.processes.insert(process, Callee { body, group: None });
                terms.names.entry(body).or_insert(process);
            }
        }
        terms.settle(program, &behaviours);
        terms.check_guarded(program, &processes)?;
        terms.find_groups(program, &processes);
        Ok(terms)
    }

    /// The representative of all terms that are equal to this one.
    pub(super) fn canonical(&self, id: BehaviourId) -> BehaviourId {
        self.canonical.get(&id).copied().unwrap_or(id)
    }

    /// The free variables of a term, in increasing order.
    pub(super) fn free(&self, id: BehaviourId) -> &[VariableId] {
        self.free.get(&id).map_or(&[], |all| all)
    }

    /// Whether a term can terminate according to its structure.
    pub(super) fn terminates(&self, id: BehaviourId) -> bool {
        self.terminating.contains(&id)
    }

    /// Whether a probabilistic choice comes before the first action of some alternative.
    pub(super) fn probabilistic(&self, id: BehaviourId) -> bool {
        self.probabilistic.contains(&id)
    }

    /// The body of a process.
    pub(super) fn body(&self, process: ProcessId) -> Option<BehaviourId> {
        self.processes.get(&process).map(|one| one.body)
    }

    /// The group of processes that may be nested in each other without bound.
    pub(super) fn group(&self, process: ProcessId) -> Option<u32> {
        self.processes.get(&process).and_then(|one| one.group)
    }

    /// All processes with their bodies, in the order of the source.
    pub(super) fn bodies(&self) -> Vec<(ProcessId, BehaviourId)> {
        let mut bodies: Vec<_> = self.processes.iter().map(|(&process, one)| (process, one.body)).collect();
        bodies.sort_unstable();
        bodies
    }

    /// The process with this body.
    pub(super) fn named_process(&self, id: BehaviourId) -> Option<ProcessId> {
        self.names.get(&id).copied()
    }

    /// Gives equal terms one representative, children first.
    fn intern(&mut self, program: &Program, behaviours: &[BehaviourId]) {
        let mut expressions = Expressions::default();
        let mut known: FxHashMap<Behaviour, BehaviourId> = FxHashMap::default();
        for &id in behaviours {
            let mut key = program.behaviour(id).clone();
            let mut data = Vec::new();
            for_each_data(&mut key, |one| {
                data.push(*one);
                *one = expressions.canonical(program, *one);
            });
            for_each_part(&mut key, |one| *one = self.canonical(*one));
            let first = *known.entry(key).or_insert(id);
            self.canonical.insert(id, first);
            if first == id {
                let free = self.free_of(program, id, &data);
                self.free.insert(id, free);
            }
        }
    }

    fn free_of(&self, program: &Program, id: BehaviourId, data: &[ExpressionId]) -> Rc<[VariableId]> {
        let parts: Vec<BehaviourId> = program.behaviour(id).parts().map(|one| self.canonical(one)).collect();
        let bound: &[VariableId] = match program.behaviour(id) {
            Behaviour::Sum { variables, .. } | Behaviour::Dist { variables, .. } => variables,
            _ => &[],
        };
        let mut all: Vec<VariableId> = data.iter().flat_map(|&one| free_variables(program, one)).collect();
        parts.iter().for_each(|&part| all.extend_from_slice(self.free(part)));
        all.retain(|one| !bound.contains(one));
        all.sort_unstable();
        all.dedup();
        // Long sequences over the same variables share a list.
        match parts.iter().filter_map(|part| self.free.get(part)).find(|free| ***free == all[..]) {
            Some(free) => Rc::clone(free),
            None => all.into(),
        }
    }

    /// Computes which terms can terminate and which begin with a probabilistic choice: least fixed
    /// points over the calls.
    fn settle(&mut self, program: &Program, behaviours: &[BehaviourId]) {
        let behaviours: Vec<BehaviourId> =
            behaviours.iter().copied().filter(|&id| self.canonical(id) == id).collect();
        loop {
            let before = (self.terminating.len(), self.probabilistic.len());
            for &id in &behaviours {
                let part = |id: &BehaviourId| self.canonical(*id);
                let (terminates, probabilistic) = match program.behaviour(id) {
                    Behaviour::Delta => (false, false),
                    Behaviour::Binary(ProcessOperator::Synchronise, ..) => (!has_delta(program, id), false),
                    Behaviour::Call { process, .. } => match self.body(*process) {
                        Some(body) => (self.terminates(body), self.probabilistic(body)),
                        None => (false, false),
                    },
                    Behaviour::Binary(ProcessOperator::Choice, left, right) => {
                        let (left, right) = (part(left), part(right));
                        (
                            self.terminates(left) || self.terminates(right),
                            self.probabilistic(left) || self.probabilistic(right),
                        )
                    }
                    Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                        let (left, right) = (part(left), part(right));
                        (self.terminates(left) && self.terminates(right), self.probabilistic(left))
                    }
                    Behaviour::At { body, .. } | Behaviour::Sum { body, .. } => {
                        (self.terminates(part(body)), self.probabilistic(part(body)))
                    }
                    Behaviour::Dist { body, .. } => (self.terminates(part(body)), true),
                    Behaviour::If { then, otherwise, .. } => {
                        let mut parts = otherwise.iter().chain([then]).map(part);
                        let terminates = parts.clone().any(|one| self.terminates(one));
                        (terminates, parts.any(|one| self.probabilistic(one)))
                    }
                    _ => (true, false),
                };
                if terminates {
                    self.terminating.insert(id);
                }
                if probabilistic {
                    self.probabilistic.insert(id);
                }
            }
            if before == (self.terminating.len(), self.probabilistic.len()) {
                return;
            }
        }
    }

    /// Every recursion must pass an action.
    fn check_guarded(&self, program: &Program, processes: &[ProcessId]) -> Result<(), Diagnostic> {
        let index: FxHashMap<ProcessId, usize> =
            processes.iter().enumerate().map(|(index, &process)| (process, index)).collect();
        let edges: Vec<Vec<usize>> = processes
            .iter()
            .map(|&process| {
                let mut calls = Vec::new();
                self.for_each_call(program, process, true, |callee, _| calls.push(index[&callee]));
                calls
            })
            .collect();
        let groups = mutually_recursive(&edges);
        for (node, targets) in edges.iter().enumerate() {
            if !targets.iter().any(|&target| groups[target] == groups[node]) {
                continue;
            }
            let mut members: Vec<&str> = (0..processes.len())
                .filter(|&other| groups[other] == groups[node])
                .map(|other| program.text(program.process(processes[other]).name))
                .collect();
            let message = match &members[..] {
                [only] => format!("process {only} calls itself before any action"),
                _ => {
                    let last = members.pop().unwrap_or_default();
                    format!("processes {} and {last} call each other before any action", members.join(", "))
                }
            };
            return Err(error(program.process(processes[node]).span, message)
                .help("recursion must be guarded: an action has to come before the call"));
        }
        Ok(())
    }

    /// Finds the groups of processes that can be nested without bound.
    fn find_groups(&mut self, program: &Program, processes: &[ProcessId]) {
        let index: FxHashMap<ProcessId, usize> =
            processes.iter().enumerate().map(|(index, &process)| (process, index)).collect();
        let mut calls: Vec<(usize, usize, bool)> = Vec::new();
        for (caller, &process) in processes.iter().enumerate() {
            self.for_each_call(program, process, false, |callee, pending| {
                calls.push((caller, index[&callee], pending));
            });
        }
        let mut edges = vec![Vec::new(); processes.len()];
        calls.iter().for_each(|&(caller, callee, _)| edges[caller].push(callee));
        let groups = mutually_recursive(&edges);
        let nested: FxHashSet<u32> = calls
            .iter()
            .filter(|&&(caller, callee, pending)| pending && groups[caller] == groups[callee])
            .map(|&(caller, ..)| groups[caller])
            .collect();
        for (node, process) in processes.iter().enumerate() {
            if let Some(callee) = self.processes.get_mut(process) {
                callee.group = nested.contains(&groups[node]).then_some(groups[node]);
            }
        }
    }

    /// Calls `visit` for every call in the body of a process, with whether a term follows the call.
    /// With `first`, only for calls before any action.
    fn for_each_call(
        &self,
        program: &Program,
        process: ProcessId,
        first: bool,
        mut visit: impl FnMut(ProcessId, bool),
    ) {
        let mut work: Vec<(BehaviourId, bool)> =
            self.body(process).map(|body| (body, false)).into_iter().collect();
        let mut seen: FxHashSet<(BehaviourId, bool)> = FxHashSet::default();
        while let Some((id, pending)) = work.pop() {
            if !seen.insert((id, pending)) {
                continue;
            }
            match program.behaviour(id) {
                Behaviour::Call { process, .. } => visit(*process, pending),
                Behaviour::Binary(ProcessOperator::Sequence, left, right) => {
                    let (left, right) = (self.canonical(*left), self.canonical(*right));
                    work.push((left, self.terminates(left)));
                    if self.terminates(left) && !first {
                        work.push((right, pending));
                    }
                }
                other => work.extend(other.parts().map(|one| (self.canonical(one), pending))),
            }
        }
    }
}

/// An error at a place.
pub(super) fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(message).at(span.range(), "")
}

/// Everything below a root, including called processes: terms by increasing id, processes in the
/// order of their discovery.
fn reachable(program: &Program, root: BehaviourId) -> Result<(Vec<BehaviourId>, Vec<ProcessId>), Diagnostic> {
    let mut found: FxHashSet<BehaviourId> = FxHashSet::default();
    let (mut all, mut processes) = (Vec::new(), Vec::new());
    let mut called: FxHashSet<ProcessId> = FxHashSet::default();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        if !found.insert(id) {
            continue;
        }
        all.push(id);
        check_sequential(program, id)?;
        if let Behaviour::Call { process, .. } = program.behaviour(id)
            && called.insert(*process)
        {
            processes.push(*process);
            work.extend(program.process(*process).body);
        }
        let first = work.len();
        work.extend(program.behaviour(id).parts());
        work[first..].reverse();
    }
    all.sort_unstable();
    Ok((all, processes))
}

fn check_sequential(program: &Program, id: BehaviourId) -> Result<(), Diagnostic> {
    let outer = |what: &str| {
        let message = format!("`{what}` may not stand inside a sequential process");
        Err(error(program.behaviour_span(id), message)
            .help("||, comm, allow, block, hide and rename may only stand at the outer level, never below `.`, `+`, `->`, sum, dist or `@`, nor in recursion"))
    };
    match program.behaviour(id) {
        Behaviour::Block { .. } => outer("block"),
        Behaviour::Hide { .. } => outer("hide"),
        Behaviour::Allow { .. } => outer("allow"),
        Behaviour::Rename { .. } => outer("rename"),
        Behaviour::Comm { .. } => outer("comm"),
        Behaviour::Binary(ProcessOperator::Parallel, ..) => outer("||"),
        Behaviour::Binary(operator @ (ProcessOperator::LeftMerge | ProcessOperator::Before), ..) => {
            let message = format!("the operator `{}` is not supported", operator.text());
            Err(error(program.behaviour_span(id), message))
        }
        Behaviour::Binary(ProcessOperator::Synchronise, left, right) => {
            for &side in [left, right] {
                let fits = matches!(
                    program.behaviour(side),
                    Behaviour::Tau
                        | Behaviour::Delta
                        | Behaviour::Action { .. }
                        | Behaviour::Binary(ProcessOperator::Synchronise, ..)
                );
                if !fits {
                    return Err(error(program.behaviour_span(side), "`|` joins actions only")
                        .help("a multi-action is written a|b"));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether a multi-action contains `delta`, so that it never happens.
pub(super) fn has_delta(program: &Program, multi_action: BehaviourId) -> bool {
    let mut work = vec![multi_action];
    while let Some(id) = work.pop() {
        match program.behaviour(id) {
            Behaviour::Delta => return true,
            Behaviour::Binary(ProcessOperator::Synchronise, left, right) => work.extend([*left, *right]),
            _ => {}
        }
    }
    false
}

/// Calls `visit` for every process expression directly below, which it may replace.
pub(super) fn for_each_part(behaviour: &mut Behaviour, mut visit: impl FnMut(&mut BehaviourId)) {
    match behaviour {
        Behaviour::Delta | Behaviour::Tau | Behaviour::Action { .. } | Behaviour::Call { .. } => {}
        Behaviour::Binary(_, left, right) => {
            visit(left);
            visit(right);
        }
        Behaviour::If { then, otherwise, .. } => {
            visit(then);
            otherwise.iter_mut().for_each(visit);
        }
        Behaviour::At { body, .. }
        | Behaviour::Sum { body, .. }
        | Behaviour::Dist { body, .. }
        | Behaviour::Block { body, .. }
        | Behaviour::Hide { body, .. }
        | Behaviour::Allow { body, .. }
        | Behaviour::Rename { body, .. }
        | Behaviour::Comm { body, .. } => visit(body),
    }
}

/// Calls `visit` for every data expression of the node itself.
pub(super) fn for_each_data(behaviour: &mut Behaviour, mut visit: impl FnMut(&mut ExpressionId)) {
    match behaviour {
        Behaviour::Action { arguments, .. } | Behaviour::Call { arguments, .. } => {
            arguments.iter_mut().for_each(visit);
        }
        Behaviour::At { time, .. } => visit(time),
        Behaviour::Dist { weight, .. } => visit(weight),
        Behaviour::If { condition, .. } => visit(condition),
        _ => {}
    }
}

/// Gives equal data expressions one id.
#[derive(Default)]
struct Expressions {
    canonical: FxHashMap<ExpressionId, ExpressionId>,
    known: FxHashMap<(Expression, SortId), ExpressionId>,
}

impl Expressions {
    fn canonical(&mut self, program: &Program, root: ExpressionId) -> ExpressionId {
        let mut found = vec![root];
        let mut next = 0;
        let mut seen: FxHashSet<ExpressionId> = FxHashSet::from_iter([root]);
        while let Some(&id) = found.get(next) {
            next += 1;
            if !self.canonical.contains_key(&id) {
                program.expression(id).for_each_child(|child| {
                    if seen.insert(child) {
                        found.push(child);
                    }
                });
            }
        }
        found.sort_unstable();
        for id in found {
            if self.canonical.contains_key(&id) {
                continue;
            }
            let key = map_children(program.expression(id), |child| self.canonical[&child]);
            let first = *self.known.entry((key, program.sort_of(id))).or_insert(id);
            self.canonical.insert(id, first);
        }
        self.canonical[&root]
    }
}

/// The group of every process, given the processes that each calls. Two processes are in one group
/// if they call each other.
fn mutually_recursive(calls: &[Vec<usize>]) -> Vec<u32> {
    components(calls.len(), |process, k| calls[process as usize].get(k).map(|&callee| callee as u32)).0
}
