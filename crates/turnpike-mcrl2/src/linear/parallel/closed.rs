//! Values of closed expressions while the skeleton is unfolded.

use crate::expression;
use crate::sorts::{ExpressionId, Program};

/// Evaluates closed expressions to expressions.
#[derive(Debug, Default)]
pub(super) struct Closed {}

impl Closed {
    /// An equal expression, as simple as possible.
    pub(super) fn normal_form(&mut self, program: &mut Program, root: ExpressionId) -> ExpressionId {
        expression::simplify(program, root)
    }
}
