//! Builds the typed expression when the sort and the function of every node are known.

use super::checker::Checker;
use super::infer::Resolution;
use crate::syntax::{Data, DataId};
use crate::typed::items::{Expression, ExpressionId, VariableId};

impl Checker<'_> {
    /// Builds the expressions of a list of nodes, parents before children.
    pub(super) fn build(&mut self, order: &[DataId]) {
        for &id in order.iter().rev() {
            let node = self.inference.nodes[id.index()];
            let span = self.tree.data_span(id);
            let Some(expression) = self.build_node(id) else { continue };
            let mut typed = self.program.add_expression(expression, node.own, span);
            if node.own != node.expected {
                typed = self.program.add_expression(Expression::Upcast(typed), node.expected, span);
            }
            self.inference.nodes[id.index()].typed = Some(typed);
        }
    }

    fn typed_expression(&self, id: DataId) -> Option<ExpressionId> {
        self.inference.nodes[id.index()].typed
    }

    fn typed_expressions(&self, ids: &[DataId]) -> Option<Box<[ExpressionId]>> {
        ids.iter().map(|&one| self.typed_expression(one)).collect()
    }

    fn build_node(&self, id: DataId) -> Option<Expression> {
        let node = self.inference.nodes[id.index()];
        let bound = |count: usize| -> Box<[VariableId]> {
            let first = self.first_bound(id).index();
            (first..first + count).map(VariableId::new).collect()
        };
        Some(match self.tree.data(id) {
            Data::Name(_) => match (node.resolution, node.symbol) {
                (Resolution::Variable(variable), _) => Expression::Variable(variable),
                (_, Some(symbol)) => Expression::Symbol(symbol),
                _ => return None,
            },
            Data::Number(digits) => Expression::Number(self.word(*digits)),
            Data::Bool(value) => Expression::Bool(*value),
            Data::List(elements) => Expression::List(self.typed_expressions(elements)?),
            Data::Set(elements) => Expression::Set(self.typed_expressions(elements)?),
            Data::Bag(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|&(one, count)| Some((self.typed_expression(one)?, self.typed_expression(count)?)));
                Expression::Bag(pairs.collect::<Option<_>>()?)
            }
            Data::Comprehension { body, .. } => Expression::Comprehension {
                variable: self.first_bound(id),
                body: self.typed_expression(*body)?,
            },
            Data::Apply { function, arguments } => {
                let arguments = self.typed_expressions(arguments)?;
                match node.symbol {
                    Some(symbol) => Expression::Call { symbol, arguments },
                    None => Expression::Apply { function: self.typed_expression(*function)?, arguments },
                }
            }
            Data::Update { function, key, value } => Expression::Call {
                symbol: node.symbol?,
                arguments: self.typed_expressions(&[*function, *key, *value])?,
            },
            Data::Unary(_, operand) => {
                Expression::Call { symbol: node.symbol?, arguments: self.typed_expressions(&[*operand])? }
            }
            Data::Binary(_, left, right) => Expression::Call {
                symbol: node.symbol?,
                arguments: self.typed_expressions(&[*left, *right])?,
            },
            Data::Binder { binder, variables, body } => Expression::Binder {
                binder: *binder,
                variables: bound(variables.len()),
                body: self.typed_expression(*body)?,
            },
            Data::Where { body, definitions } => {
                let variables = bound(definitions.len());
                let pairs = variables.iter().zip(definitions).map(|(&variable, definition)| {
                    Some((variable, self.typed_expression(definition.value)?))
                });
                Expression::Where {
                    body: self.typed_expression(*body)?,
                    definitions: pairs.collect::<Option<_>>()?,
                }
            }
        })
    }
}
