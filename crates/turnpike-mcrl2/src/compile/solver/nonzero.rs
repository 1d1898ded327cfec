//! Splits conditions that a number is 0, or not 0: a product into its factors, an `if` into its
//! branches. This makes it possible to find the outcomes of `dist x, y: Nat[f(x) * f(y)]` one
//! variable at a time.

use super::literal::builtin;
use super::planner::Planner;
use crate::typed::expression;
use crate::typed::{Builtin, Expression, ExpressionId, SymbolId};

impl Planner<'_> {
    /// Rewrites `number == 0` or `number != 0` to comparisons of the parts of the number; `None` if
    /// it has no such parts.
    pub(super) fn compared_with_zero(&mut self, id: ExpressionId) -> Option<ExpressionId> {
        let (is, symbol, number, zero) = match (self.program.expression(id), builtin(&self.program, id)?) {
            (Expression::Call { symbol, .. }, (Builtin::Equal, &[left, right])) => {
                (true, *symbol, left, right)
            }
            (Expression::Call { symbol, .. }, (Builtin::NotEqual, &[left, right])) => {
                (false, *symbol, left, right)
            }
            _ => return None,
        };
        if !self.is_zero(zero)? {
            return None;
        }
        let number = self.unfold_definition(number).unwrap_or(number);
        match builtin(&self.program, number)? {
            (Builtin::Multiply, &[left, right])
                if [left, right]
                    .iter()
                    .all(|&one| self.program.sort_of(one) == self.program.sort_of(number)) =>
            {
                let parts = [left, right].map(|part| self.compare(symbol, is, part, zero));
                let program = self.extend();
                Some(match is {
                    true => expression::any(program, &parts),
                    false => expression::all(program, &parts),
                })
            }
            (Builtin::If, &[condition, then, otherwise]) => {
                let [then, otherwise] = [then, otherwise].map(|part| self.compare(symbol, is, part, zero));
                let program = self.extend();
                let otherwise_only = expression::not(program, condition);
                let first = expression::all(program, &[condition, then]);
                let second = expression::all(program, &[otherwise_only, otherwise]);
                Some(expression::any(program, &[first, second]))
            }
            _ => None,
        }
    }

    fn is_zero(&self, id: ExpressionId) -> Option<bool> {
        Some(expression::number_value(&self.program, id)?.is_zero())
    }

    fn compare(
        &mut self,
        symbol: SymbolId,
        is: bool,
        part: ExpressionId,
        zero: ExpressionId,
    ) -> ExpressionId {
        let known = self.is_zero(part);
        let program = self.extend();
        match known {
            Some(found) => expression::boolean(program, found == is),
            None => {
                let (sort, span) = (crate::typed::SortId::BOOL, program.span_of(part));
                let arguments = [part, zero].into();
                program.add_expression(Expression::Call { symbol, arguments }, sort, span)
            }
        }
    }
}
