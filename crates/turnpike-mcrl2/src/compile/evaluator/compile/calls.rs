//! Compiles applications: of functions with rules, and of function values.

use super::{Compiled, Compiler, deepest};
use crate::compile::evaluator::node::{Node, NodeId};
use crate::typed::{Expression, ExpressionId, SymbolId};

impl Compiler<'_> {
    pub(super) fn apply(&mut self, function: ExpressionId, arguments: &[ExpressionId]) -> Compiled {
        if let Some((symbol, all)) = self.curried(function, arguments)
            && let Some(index) = self.rules.known.curried(symbol, all.len())
            && self.rules.known.least(symbol) == Some(all.len())
        {
            return self.user_call(index, &all);
        }
        let mut all = vec![function];
        all.extend_from_slice(arguments);
        let (operands, level) = self.operands(&all);
        self.application(operands, level)
    }

    fn application(&mut self, operands: Vec<Compiled>, level: u32) -> Compiled {
        let nodes: Vec<NodeId> = operands[1..].iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let arguments = self.body().list(&nodes);
        self.add(Node::Apply { function: operands[0].node, arguments }, level, depth)
    }

    /// `f(x)(y)` as the symbol `f` with all arguments.
    fn curried(
        &self,
        function: ExpressionId,
        arguments: &[ExpressionId],
    ) -> Option<(SymbolId, Vec<ExpressionId>)> {
        let mut groups = vec![arguments];
        let mut function = function;
        let symbol = loop {
            match self.program.expression(function) {
                Expression::Apply { function: inner, arguments } => {
                    groups.push(arguments);
                    function = *inner;
                }
                Expression::Call { symbol, arguments } => {
                    groups.push(arguments);
                    break *symbol;
                }
                _ => return None,
            }
        };
        Some((symbol, groups.into_iter().rev().flatten().copied().collect()))
    }

    /// A call of a function with rules.
    fn user_call(&mut self, function: u32, arguments: &[ExpressionId]) -> Compiled {
        let shape = self.rules.known.shape(function);
        if let Some([condition, then, otherwise]) = shape.conditional {
            let ids = [condition, then, otherwise].map(|index| arguments[index as usize]);
            let (operands, level) = self.operands(&ids);
            let depth = deepest(&operands);
            let [condition, then, otherwise] = [0, 1, 2].map(|index: usize| operands[index].node);
            return self.add(Node::Choose { condition, then, otherwise, function }, level, depth);
        }
        let mut operands = Vec::new();
        for (index, &argument) in arguments.iter().enumerate() {
            let lazy = index < 64 && shape.lazy >> index & 1 == 1;
            operands.push(if lazy { self.lazy_argument(argument) } else { self.expression(argument) });
        }
        let (operands, level) = self.finish_operands(operands);
        let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
        let depth = deepest(&operands);
        let arguments = self.body().list(&nodes);
        self.add(Node::Call { function, arguments }, level, depth)
    }

    /// A call whose arguments are the first slots.
    pub(in crate::compile::evaluator) fn call_by_name(&mut self, symbol: SymbolId, arity: u32) -> NodeId {
        let operands: Vec<Compiled> = (0..arity).map(|slot| self.add(Node::Slot(slot), 0, 0)).collect();
        if let Some(function) = self.rules.known.function(symbol) {
            let nodes: Vec<NodeId> = operands.iter().map(|one| one.node).collect();
            let arguments = self.body().list(&nodes);
            return self.body().add(Node::Call { function, arguments });
        }
        self.primitive(symbol, operands, 0).node
    }

    pub(super) fn call(&mut self, symbol: SymbolId, arguments: &[ExpressionId]) -> Compiled {
        let known = &self.rules.known;
        if known.nullary(symbol).is_some() {
            let function = self.symbol(symbol);
            let mut operands = vec![function];
            operands.extend(arguments.iter().map(|&id| self.expression(id)));
            let (operands, level) = self.finish_operands(operands);
            return self.application(operands, level);
        }
        if let Some(function) = known.function(symbol) {
            return self.user_call(function, arguments);
        }
        let (operands, level) = self.operands(arguments);
        self.primitive(symbol, operands, level)
    }
}
