//! Reduces an automaton: removes dead variables, impossible edges and unreachable locations, and
//! replaces variables that never change by constants.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::liveness::{Live, liveness};
use super::updates::{
    change_expressions, change_leaves, decisions, for_each_condition, for_each_leaf, placeholder, settle,
};
use crate::lower::{Distribution, Edge, Goto, Step, Update};
use crate::typed::expression::{Substitution, conjuncts, free_variables, same, simplify, substitute};
use crate::typed::{Expression, ExpressionId, Program, VariableId};

/// An automaton during its reduction.
pub(super) struct Reduction<'a> {
    pub(super) program: &'a mut Program,
    /// The original number of each location.
    pub(super) locations: Vec<u32>,
    /// The edges, sorted by source.
    pub(super) edges: Vec<Edge>,
    pub(super) chance: Option<Distribution>,
    pub(super) initial: Update,
    pub(super) live: Live,
    free: FxHashMap<ExpressionId, Rc<[VariableId]>>,
}

/// The values of a variable seen so far.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    Always(ExpressionId),
    Varies,
}

impl<'a> Reduction<'a> {
    /// An automaton with this number of locations.
    pub(super) fn new(
        program: &'a mut Program,
        locations: usize,
        edges: Vec<Edge>,
        chance: Option<Distribution>,
        initial: Update,
    ) -> Reduction<'a> {
        Reduction {
            program,
            locations: (0..locations as u32).collect(),
            edges,
            chance,
            initial,
            live: Live::default(),
            free: FxHashMap::default(),
        }
    }

    /// Reduces to a fixed point.
    pub(super) fn run(&mut self) {
        loop {
            self.prune();
            if self.remove_dead() {
                continue;
            }
            let constants = self.constants();
            if constants.is_empty() {
                return;
            }
            self.simplify(&constants);
        }
    }

    pub(super) fn free(&mut self, expression: ExpressionId) -> Rc<[VariableId]> {
        let program = &*self.program;
        let entry = self.free.entry(expression);
        Rc::clone(entry.or_insert_with(|| free_variables(program, expression).into()))
    }

    /// Substitutes variables everywhere, and drops impossible edges.
    pub(super) fn simplify(&mut self, values: &Substitution) {
        let mut edges = std::mem::take(&mut self.edges);
        edges.retain_mut(|edge| self.simplify_edge(edge, values));
        self.edges = edges;
        let initial = std::mem::replace(&mut self.initial, placeholder());
        self.initial = self.simplify_update(initial, values);
        if let Some(mut chance) = self.chance.take() {
            chance.weight = self.replace(chance.weight, values);
            self.chance = Some(chance);
        }
    }

    /// Whether the edge is possible.
    fn simplify_edge(&mut self, edge: &mut Edge, values: &Substitution) -> bool {
        let mut conditions = Vec::with_capacity(edge.conditions.len());
        for &condition in &edge.conditions {
            let condition = self.replace(condition, values);
            match self.program.expression(condition) {
                Expression::Bool(true) => {}
                Expression::Bool(false) => return false,
                _ => conditions.extend(conjuncts(self.program, condition)),
            }
        }
        edge.conditions = conditions;
        if let Step::Actions(actions) = &mut edge.what {
            let arguments = actions.iter_mut().flat_map(|action| &mut action.arguments);
            arguments.for_each(|argument| *argument = self.replace(*argument, values));
        }
        edge.time = edge.time.map(|time| self.replace(time, values));
        if let Some(distribution) = &mut edge.distribution {
            distribution.weight = self.replace(distribution.weight, values);
        }
        let target = std::mem::replace(&mut edge.target, placeholder());
        edge.target = self.simplify_update(target, values);
        true
    }

    fn simplify_update(&mut self, mut update: Update, values: &Substitution) -> Update {
        change_expressions(&mut update, |one| *one = self.replace(*one, values));
        change_leaves(&mut update, |_, assignments| assignments.retain(|(one, _)| !values.contains_key(one)));
        settle(self.program, update)
    }

    fn replace(&mut self, expression: ExpressionId, values: &Substitution) -> ExpressionId {
        if !self.free(expression).iter().any(|one| values.contains_key(one)) {
            return expression;
        }
        let replaced = substitute(self.program, expression, values);
        simplify(self.program, replaced)
    }

    /// Drops unreachable locations and merges all locations without edges.
    fn prune(&mut self) {
        const NONE: u32 = u32::MAX;
        let mut first = vec![0usize; self.locations.len() + 1];
        self.edges.iter().for_each(|edge| first[edge.from as usize + 1] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let end = |location: u32| first[location as usize] == first[location as usize + 1];
        let (mut new, mut order, mut dead) = (vec![NONE; self.locations.len()], Vec::new(), NONE);
        let mut reach = |update: &Update, order: &mut Vec<u32>| {
            for_each_leaf(update, |location, _| {
                if new[location as usize] != NONE {
                    return;
                }
                if end(location) {
                    if dead == NONE {
                        dead = order.len() as u32;
                        order.push(location);
                    }
                    new[location as usize] = dead;
                } else {
                    new[location as usize] = order.len() as u32;
                    order.push(location);
                }
            });
        };
        reach(&self.initial, &mut order);
        let mut next = 0;
        while let Some(&location) = order.get(next) {
            next += 1;
            for edge in &self.edges[first[location as usize]..first[location as usize + 1]] {
                reach(&edge.target, &mut order);
            }
        }
        self.edges.retain(|edge| new[edge.from as usize] != NONE);
        let updates = self.edges.iter_mut().map(|edge| {
            edge.from = new[edge.from as usize];
            &mut edge.target
        });
        for update in updates.chain([&mut self.initial]) {
            change_leaves(update, |location, _| *location = new[*location as usize]);
        }
        self.edges.sort_by_key(|edge| edge.from);
        self.locations = order.iter().map(|&location| self.locations[location as usize]).collect();
    }

    /// Recomputes liveness, and drops dead assignments and unused sum variables. Returns whether a
    /// condition became irrelevant and was removed.
    fn remove_dead(&mut self) -> bool {
        let mut settled = false;
        self.live = liveness(self);
        let mut edges = std::mem::take(&mut self.edges);
        for edge in &mut edges {
            settled |= self.remove_dead_assignments(&mut edge.target);
            let mut used: Vec<VariableId> = Vec::new();
            let mut expressions: Vec<ExpressionId> = edge.conditions.clone();
            if let Step::Actions(actions) = &edge.what {
                actions.iter().for_each(|action| expressions.extend(&action.arguments));
            }
            expressions.extend(edge.time);
            expressions.extend(edge.distribution.as_ref().map(|one| one.weight));
            for_each_condition(&edge.target, |condition| expressions.push(condition));
            for_each_leaf(&edge.target, |_, assignments| {
                expressions.extend(assignments.iter().map(|one| one.1));
            });
            if edge.variables.is_empty() {
                continue;
            }
            expressions.iter().for_each(|&one| used.extend_from_slice(&self.free(one)));
            edge.variables.retain(|one| used.contains(one));
        }
        self.edges = edges;
        let mut initial = self.initial.clone();
        settled |= self.remove_dead_assignments(&mut initial);
        self.initial = initial;
        settled
    }

    fn remove_dead_assignments(&self, update: &mut Update) -> bool {
        change_leaves(update, |location, assignments| {
            assignments.retain(|(one, _)| self.live.contains(*location, *one));
        });
        let before = decisions(update);
        if before > 0 {
            *update = settle(self.program, std::mem::replace(update, placeholder()));
        }
        decisions(update) < before
    }

    /// Finds variables that have the same closed value wherever they are live, as a greatest fixed
    /// point: all are assumed constant until an assignment contradicts that.
    fn constants(&mut self) -> Substitution {
        let mut known: FxHashMap<VariableId, Known> =
            self.live.variables().iter().map(|&one| (one, Known::Nothing)).collect();
        if known.is_empty() {
            return Substitution::default();
        }
        let mut first = vec![0usize; self.locations.len() + 1];
        self.edges.iter().for_each(|edge| first[edge.from as usize + 1] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        loop {
            let mut values = Substitution::default();
            for one in self.live.variables() {
                if let Known::Always(value) = known[one] {
                    values.insert(*one, value);
                }
            }
            let mut changed = false;
            let mut reached = vec![false; self.locations.len()];
            let mut work = Vec::new();
            let initial = self.initial.clone();
            self.record_values(&initial, &values, &mut known, &mut changed, &mut reached, &mut work);
            while let Some(location) = work.pop() {
                for index in first[location as usize]..first[location as usize + 1] {
                    let conditions = self.edges[index].conditions.clone();
                    let possible = conditions.iter().all(|&condition| !self.fails(condition, &values));
                    if possible {
                        let target = self.edges[index].target.clone();
                        self.record_values(
                            &target,
                            &values,
                            &mut known,
                            &mut changed,
                            &mut reached,
                            &mut work,
                        );
                    }
                }
            }
            if !changed {
                return values;
            }
        }
    }

    fn fails(&mut self, condition: ExpressionId, values: &Substitution) -> bool {
        if !self.free(condition).iter().any(|one| values.contains_key(one)) {
            return false;
        }
        let condition = self.replace(condition, values);
        matches!(self.program.expression(condition), Expression::Bool(false))
    }

    /// Compares the values that an update assigns with those seen so far.
    fn record_values(
        &mut self,
        update: &Update,
        values: &Substitution,
        known: &mut FxHashMap<VariableId, Known>,
        changed: &mut bool,
        reached: &mut [bool],
        work: &mut Vec<u32>,
    ) {
        let mut open = vec![update];
        while let Some(update) = open.pop() {
            let (location, assignments) = match update {
                Update::If { condition, then, otherwise, .. } => {
                    let condition = match self.free(*condition).iter().any(|one| values.contains_key(one)) {
                        true => self.replace(*condition, values),
                        false => *condition,
                    };
                    match self.program.expression(condition) {
                        Expression::Bool(true) => open.push(then),
                        Expression::Bool(false) => open.push(otherwise),
                        _ => open.extend([&**otherwise, &**then]),
                    }
                    continue;
                }
                Update::Go { location: Goto::Local(location), assignments } => (*location, assignments),
                Update::Go { .. } => continue,
            };
            if !std::mem::replace(&mut reached[location as usize], true) {
                work.push(location);
            }
            for &(one, value) in assignments {
                let before = match known.get(&one) {
                    Some(Known::Varies) | None => continue,
                    Some(before) => *before,
                };
                if *self.program.expression(value) == Expression::Variable(one) {
                    continue;
                }
                let after = self.value_under(value, values, known);
                let after = match (before, after) {
                    // No reachable assignment determines it yet.
                    (_, Known::Nothing) => continue,
                    (Known::Always(old), Known::Always(new)) if same(self.program, old, new) => continue,
                    (Known::Nothing, after) => after,
                    _ => Known::Varies,
                };
                known.insert(one, after);
                *changed = true;
            }
        }
    }

    fn value_under(
        &mut self,
        value: ExpressionId,
        values: &Substitution,
        known: &FxHashMap<VariableId, Known>,
    ) -> Known {
        let free = self.free(value);
        for one in free.iter() {
            match known.get(one) {
                Some(Known::Always(_)) if values.contains_key(one) => {}
                // The value was found in this round. The next round will use it.
                Some(Known::Always(_) | Known::Nothing) => return Known::Nothing,
                _ => return Known::Varies,
            }
        }
        let value = if free.is_empty() { value } else { self.replace(value, values) };
        if self.free(value).is_empty() { Known::Always(value) } else { Known::Varies }
    }
}
