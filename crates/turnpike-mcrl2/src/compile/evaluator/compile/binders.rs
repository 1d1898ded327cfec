//! Compiles binders: `whr`, lambdas, comprehensions and quantifiers.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{CLOSED, Compiled, Compiler};
use crate::compile::evaluator::Scope;
use crate::compile::evaluator::alpha::describe;
use crate::compile::evaluator::node::{Binder, Body, Function, List, Node, NodeId, Otherwise, Quantifier};
use crate::compile::solver::{Plan, QUANTIFIER_LIMIT, Query};
use crate::typed::{Expression, ExpressionId, SortId, VariableId};

impl Compiler<'_> {
    pub(super) fn definitions(
        &mut self,
        body: ExpressionId,
        definitions: &[(VariableId, ExpressionId)],
    ) -> Compiled {
        let ids: Vec<ExpressionId> = definitions.iter().map(|&(_, value)| value).collect();
        let values: Vec<Compiled> = ids.iter().map(|&id| self.expression(id)).collect();
        let variables: Vec<VariableId> = definitions.iter().map(|&(variable, _)| variable).collect();
        let (slots, saved) = self.bind(&variables);
        let level = self.level;
        let mut inner = self.expression(body);
        self.unbind(saved);
        let around = values.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let total = around.min(outside(inner.level, level));
        if total != CLOSED {
            inner = self.closed_once(inner);
        }
        for (&slot, &value) in slots.iter().zip(&values).rev() {
            let value = if total == CLOSED { value } else { self.closed_once(value) };
            let depth = inner.depth.max(value.depth);
            inner = self.add(Node::Let { slot, value: value.node, body: inner.node }, total, depth);
        }
        inner
    }

    /// Gives variables fresh slots, and a level of their own.
    fn bind(&mut self, variables: &[VariableId]) -> (Vec<u32>, Saved) {
        self.level += 1;
        let level = self.level;
        let mut previous = Vec::new();
        let mut slots = Vec::new();
        for &variable in variables {
            let old_level = self.levels.insert(variable, level);
            let context = self.context();
            let slot = context.scope.fresh();
            let old_slot = context.scope.slots.insert(variable, slot);
            previous.push((variable, old_slot, old_level));
            slots.push(slot);
        }
        let memo = std::mem::take(&mut self.context().memo);
        (slots, Saved { previous, memo })
    }

    fn unbind(&mut self, saved: Saved) {
        self.level -= 1;
        for (variable, slot, level) in saved.previous.into_iter().rev() {
            restore(&mut self.context().scope.slots, variable, slot);
            restore(&mut self.levels, variable, level);
        }
        self.context().memo = saved.memo;
    }

    /// A lambda or comprehension.
    pub(super) fn closure(
        &mut self,
        id: ExpressionId,
        variables: &[VariableId],
        body: ExpressionId,
        node: impl Fn(u32, List) -> Node,
    ) -> Compiled {
        let (key, free) = describe(self.program, id);
        let binder = self.binder(id, key, &free, variables, Some(body));
        let captured: Vec<Compiled> = free.iter().map(|&variable| self.variable(variable)).collect();
        let level = captured.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let nodes: Vec<NodeId> = captured.iter().map(|one| one.node).collect();
        let captured = self.body().list(&nodes);
        self.add(node(binder, captured), level, 1)
    }

    /// The number of the binder of an expression, which alpha-equivalent expressions share.
    fn binder(
        &mut self,
        id: ExpressionId,
        key: Vec<u32>,
        free: &[VariableId],
        variables: &[VariableId],
        body: Option<ExpressionId>,
    ) -> u32 {
        if let Some(known) = self.rules.known_binder(&key) {
            return known;
        }
        // A binder that is never applied needs no code.
        let code = body.map(|body| self.binder_code(free, variables, body));
        let binder = Binder {
            expression: id,
            captured: free.into(),
            names: variables.iter().map(|&variable| self.rules.stable_name(self.program, variable)).collect(),
            is_bag: matches!(self.program.expression(id), Expression::Comprehension { .. })
                && body.is_some_and(|body| self.program.sort_of(body) != SortId::BOOL),
            function: code.map(Arc::new),
        };
        self.rules.add_binder(self.program, key, binder)
    }

    fn binder_code(&mut self, free: &[VariableId], variables: &[VariableId], body: ExpressionId) -> Function {
        let mut scope = Scope::default();
        for &variable in variables {
            let slot = scope.fresh();
            scope.slots.insert(variable, slot);
        }
        for &variable in free {
            scope.slot(variable);
        }
        let mut compiler = Compiler::new(self.rules, self.program, scope, Body::default());
        for &variable in variables {
            compiler.levels.insert(variable, 0);
        }
        let root = compiler.root(body);
        let (scope, nodes) = compiler.finish();
        Function {
            symbol: None,
            arity: variables.len() as u32,
            first: variables.len() as u32,
            frame: scope.size() as u32,
            conditional: None,
            body: nodes,
            root,
            otherwise: Otherwise::Stuck,
        }
    }

    pub(super) fn quantifier(
        &mut self,
        id: ExpressionId,
        exists: bool,
        variables: &[VariableId],
        body: ExpressionId,
    ) -> Compiled {
        let (key, free) = describe(self.program, id);
        let captured: Vec<Compiled> = free.iter().map(|&variable| self.variable(variable)).collect();
        let level = captured.iter().map(|one| one.level).min().unwrap_or(CLOSED);
        let nodes: Vec<NodeId> = captured.iter().map(|one| one.node).collect();
        let mut force = Vec::new();
        for &node in &nodes {
            if let Node::Lazy(slot) = self.body().nodes[node as usize] {
                force.push(slot);
            }
        }
        let binder = self.binder(id, key, &free, variables, None);
        let (_, saved) = self.bind(variables);
        let (rules, program) = (self.rules, self.program);
        let scope = &mut self.context().scope;
        let conditions = [(body, exists)];
        let query = Query { variables, conditions: &conditions, witness: true, limit: QUANTIFIER_LIMIT };
        let plan = Plan::for_query(rules, program, &query, scope);
        self.unbind(saved);
        let code = self.body();
        let captured = code.list(&nodes);
        code.quantifiers.push(Quantifier { plan, when_none: !exists, binder, captured, force: force.into() });
        let index = code.quantifiers.len() as u32 - 1;
        self.add(Node::Quantifier(index), level, 1)
    }
}

/// The bindings that a binder hides, to be restored after its body.
struct Saved {
    previous: Vec<(VariableId, Option<u32>, Option<u32>)>,
    memo: FxHashMap<ExpressionId, Compiled>,
}

fn restore(map: &mut FxHashMap<VariableId, u32>, variable: VariableId, old: Option<u32>) {
    match old {
        Some(old) => map.insert(variable, old),
        None => map.remove(&variable),
    };
}

/// The level of an expression as seen from outside a binder of level `bound`.
fn outside(level: u32, bound: u32) -> u32 {
    if level >= bound { CLOSED } else { level }
}
