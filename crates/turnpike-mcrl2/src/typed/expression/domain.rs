//! Implements the built-in functions for expressions.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::build::{boolean, truth};
use super::number::{call, literal, number_value};
use super::walk::{is_builtin, same};
use crate::builtin::Domain;
use crate::syntax::Span;
use crate::typed::{Builtin, Expression, ExpressionId, Program, SortId};

/// The expressions of a program, for evaluating a function at `span` with results of `sort`.
pub(super) struct Expressions<'p> {
    pub(super) program: &'p mut Program,
    /// `|>`, if no equation rewrites it.
    pub(super) cons: Option<Builtin>,
    pub(super) sort: SortId,
    pub(super) span: Span,
}

impl Domain for Expressions<'_> {
    type Term = ExpressionId;
    /// An expression, and the number of elements passed if it is a list of elements.
    type Cursor = (ExpressionId, usize);
    const HAS_RESIDUALS: bool = false;

    fn truth(&self, &term: &ExpressionId) -> Option<bool> {
        truth(self.program, term)
    }

    fn bool(&mut self, value: bool) -> ExpressionId {
        boolean(self.program, value)
    }

    fn operand_of_negation(&self, &term: &ExpressionId) -> Option<ExpressionId> {
        match self.program.expression(term) {
            Expression::Call { symbol, arguments } if is_builtin(self.program, *symbol, Builtin::Not) => {
                Some(arguments[0])
            }
            _ => None,
        }
    }

    fn negation(&mut self, &term: &ExpressionId) -> Option<ExpressionId> {
        let span = self.program.span_of(term);
        Some(call(self.program, Builtin::Not, "!", &[term], SortId::BOOL, span))
    }

    fn same(&self, &one: &ExpressionId, &other: &ExpressionId) -> bool {
        same(self.program, one, other)
    }

    fn index(&self, &term: &ExpressionId) -> Option<usize> {
        usize::try_from(number_value(self.program, term)?.numerator()).ok()
    }

    fn count(&mut self, count: usize) -> ExpressionId {
        literal(self.program, &RBig::from(IBig::from(count)), self.sort, self.span)
    }

    fn cursor(&self, &list: &ExpressionId) -> (ExpressionId, usize) {
        (list, 0)
    }

    fn next(&self, (list, passed): &mut (ExpressionId, usize)) -> Option<ExpressionId> {
        match self.program.expression(*list) {
            Expression::List(elements) => {
                let element = elements.get(*passed).copied()?;
                *passed += 1;
                Some(element)
            }
            Expression::Call { symbol, arguments }
                if self.cons.is_some_and(|cons| is_builtin(self.program, *symbol, cons)) =>
            {
                *list = arguments[1];
                Some(arguments[0])
            }
            _ => None,
        }
    }

    fn is_end(&self, &(list, passed): &(ExpressionId, usize)) -> bool {
        matches!(self.program.expression(list), Expression::List(elements) if elements.len() == passed)
    }

    fn rest(&mut self, (list, passed): (ExpressionId, usize)) -> ExpressionId {
        match self.program.expression(list) {
            Expression::List(elements) if passed > 0 => {
                let rest = Expression::List(elements[passed..].into());
                self.program.add_expression(rest, self.sort, self.span)
            }
            _ => list,
        }
    }

    fn prepend(&mut self, mut elements: Vec<ExpressionId>, list: ExpressionId) -> Option<ExpressionId> {
        let Expression::List(more) = self.program.expression(list) else { return None };
        elements.extend(more);
        Some(self.program.add_expression(Expression::List(elements.into()), self.sort, self.span))
    }

    fn empty_list(&mut self) -> ExpressionId {
        self.program.add_expression(Expression::List(Box::default()), self.sort, self.span)
    }

    fn residual(&mut self, _: [ExpressionId; 2]) -> Option<ExpressionId> {
        None
    }
}
