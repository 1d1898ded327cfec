//! What is left of an expression whose value is not computed: its effects.

use turnpike_model::Diagnostic;

use super::functions::is_predeclared;
use super::real;
use crate::network::{Expression, Place, Statement};
use crate::syntax::uppaal::tree::{self, ExpressionKind};
use crate::typed::expressions::Operand;
use crate::typed::fold::has_effects;
use crate::typed::{Checker, Entity, Outcome};

impl Checker<'_> {
    /// What an expression does besides having a value that nobody needs.
    pub(crate) fn ignored(&mut self, expression: &tree::Expression) -> Outcome<Vec<Statement>> {
        let mut out = Vec::new();
        self.ignore(expression, false, &mut out)?;
        Ok(out)
    }

    /// `perhaps`: whether it depends on other values that the expression is evaluated at all.
    fn ignore(
        &mut self,
        expression: &tree::Expression,
        perhaps: bool,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        let certain = |done: &[Statement]| {
            if perhaps && !done.is_empty() {
                return Err(Diagnostic::error(
                    "what a `double` is computed from must not change anything on a condition",
                )
                .at(expression.span.clone(), "this assigns variables")
                .help("make it an assignment of its own"));
            }
            Ok(())
        };
        match &expression.kind {
            ExpressionKind::Name(name) => {
                if self.lookup(name, &expression.span).is_none() {
                    return Err(self.unknown(name, &expression.span, "name", |e| {
                        matches!(e, Entity::Stored { .. } | Entity::Function(..) | Entity::Number(_))
                    }));
                }
                Ok(())
            }
            ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Deadlock => Ok(()),
            ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
                let lazy = matches!(
                    expression.kind,
                    ExpressionKind::Binary(tree::Binary::And | tree::Binary::Or | tree::Binary::Imply, ..)
                );
                self.ignore(left, perhaps, out)?;
                self.ignore(right, perhaps || lazy, out)
            }
            ExpressionKind::Field(inner, _) | ExpressionKind::Unary(_, inner) | ExpressionKind::Rate(inner) => {
                self.ignore(inner, perhaps, out)
            }
            ExpressionKind::Conditional(test, yes, no) => {
                self.ignore(test, perhaps, out)?;
                self.ignore(yes, true, out)?;
                self.ignore(no, true, out)
            }
            // The variable that is bound is not worth declaring: without effects there is nothing
            // to look at.
            ExpressionKind::Quantified(_, _, _, body) if !may_act(body) => Ok(()),
            ExpressionKind::Quantified(..) => Err(Diagnostic::error(
                "what a `double` is computed from must not call functions or assign variables under a quantifier",
            )
            .at(expression.span.clone(), "")),
            ExpressionKind::Call(callee, arguments) => {
                let name = match &callee.kind {
                    ExpressionKind::Name(name) => name.as_str(),
                    _ => "",
                };
                if self.lookup(name, &callee.span).is_none() && is_predeclared(name) {
                    return arguments.iter().try_for_each(|argument| self.ignore(argument, perhaps, out));
                }
                let done = self.ignored_call(callee, arguments, &expression.span)?;
                certain(&done)?;
                out.extend(done);
                Ok(())
            }
            ExpressionKind::Assign(..) | ExpressionKind::Step(..) => {
                let mut done = Vec::new();
                self.effect(expression, &mut done)?;
                certain(&done)?;
                out.extend(done);
                Ok(())
            }
        }
    }

    /// What a call does besides its result. Calls without effects on variables need not be made.
    fn ignored_call(
        &mut self,
        callee: &tree::Expression,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Vec<Statement>> {
        let done = match self.call(callee, arguments, place)? {
            Operand::Value(value) if self.changes(&value.expression) => Some(value.expression),
            Operand::Real { effect, .. } => effect,
            Operand::Result(first, _) if self.changes(&first) => Some(first),
            _ => None,
        };
        Ok(done.map(Statement::Evaluate).into_iter().collect())
    }

    /// Whether a call changes variables or clocks: a function that was lowered without effects does
    /// not.
    fn changes(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Call { function, arguments, .. } => {
                arguments.iter().any(has_effects)
                    || !self
                        .state
                        .instances
                        .values()
                        .any(|instance| instance.id == *function && !instance.effects)
            }
            other => has_effects(other),
        }
    }

    /// Whether something that is assigned is real, and so is not computed.
    pub(crate) fn is_real_target(&mut self, target: &tree::Expression) -> bool {
        let reads = self.reads;
        let found = match &target.kind {
            ExpressionKind::Name(_) | ExpressionKind::Index(..) | ExpressionKind::Field(..) => {
                self.operand(target).is_ok_and(|operand| real(&operand).is_some())
            }
            _ => false,
        };
        self.reads = reads;
        found
    }
}

/// Whether an expression may do more than have a value.
fn may_act(expression: &tree::Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Integer(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Bool(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::Deadlock => false,
        ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
            may_act(left) || may_act(right)
        }
        ExpressionKind::Field(inner, _)
        | ExpressionKind::Unary(_, inner)
        | ExpressionKind::Quantified(_, _, _, inner)
        | ExpressionKind::Rate(inner) => may_act(inner),
        ExpressionKind::Conditional(test, yes, no) => may_act(test) || may_act(yes) || may_act(no),
        ExpressionKind::Call(callee, arguments) => {
            let predeclared = matches!(&callee.kind, ExpressionKind::Name(name) if is_predeclared(name));
            !predeclared || arguments.iter().any(may_act)
        }
        ExpressionKind::Assign(..) | ExpressionKind::Step(..) => true,
    }
}
