//! What remains of an expression whose value is ignored: its effects, and the integers in it that
//! may be errors (an index out of range, a division by zero).

use turnpike_model::Diagnostic;

use super::functions::is_predeclared;
use super::real;
use crate::network::{Binary, Expression, Place, Statement, Unary, Visitor, visit_parts};
use crate::syntax::uppaal::tree::{self, ExpressionKind};
use crate::typed::expressions::Operand;
use crate::typed::fold::{Value, has_effects};
use crate::typed::types::Class;
use crate::typed::{Checker, Entity, Outcome, Wanted};

impl Checker<'_> {
    /// The effects of an expression whose value is not needed.
    pub(crate) fn ignored(&mut self, expression: &tree::Expression) -> Outcome<Vec<Statement>> {
        let mut out = Vec::new();
        self.ignore(expression, false, &mut out)?;
        Ok(out)
    }

    /// `perhaps`: whether other values decide if the expression is evaluated at all.
    fn ignore(
        &mut self,
        expression: &tree::Expression,
        perhaps: bool,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        if !may_act(expression) && self.ignore_integer(expression, out) {
            return Ok(());
        }
        let certain = |this: &Self, done: &[Statement]| {
            if perhaps && this.change(done) {
                return Err(Diagnostic::error(
                    "an operand of a `double` must not have effects under a condition",
                )
                .at(expression.span.clone(), "this assigns variables")
                .help("assign it in a separate statement"));
            }
            Ok(())
        };
        match &expression.kind {
            ExpressionKind::Name(name) => {
                if self.lookup(name, &expression.span).is_none() {
                    return Err(self.unknown(name, &expression.span, Wanted::Name, |e| {
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
                use tree::Binary::{And, Imply, Or};
                let ExpressionKind::Binary(operator @ (And | Or | Imply), ..) = expression.kind else {
                    self.ignore(left, perhaps, out)?;
                    return self.ignore(right, perhaps, out);
                };
                let mut done = Vec::new();
                self.ignore(right, true, &mut done)?;
                let (yes, no) = if operator == Or { (Vec::new(), done) } else { (done, Vec::new()) };
                self.ignore_branches(left, yes, no, perhaps, out)
            }
            ExpressionKind::Field(inner, _)
            | ExpressionKind::Unary(_, inner)
            | ExpressionKind::Rate(inner) => self.ignore(inner, perhaps, out),
            ExpressionKind::Conditional(test, yes, no) => {
                let (mut first, mut second) = (Vec::new(), Vec::new());
                self.ignore(yes, true, &mut first)?;
                self.ignore(no, true, &mut second)?;
                self.ignore_branches(test, first, second, perhaps, out)
            }
            // Without effects in the body, there is no need to declare the bound variable.
            ExpressionKind::Quantified(_, _, _, body) if !may_act(body) => Ok(()),
            ExpressionKind::Quantified(..) => Err(Diagnostic::error(
                "an operand of a `double` must not call functions or assign variables under a quantifier",
            )
            .at(expression.span.clone(), "")),
            ExpressionKind::Call(callee, arguments) => {
                if let ExpressionKind::Name(name) = &callee.kind
                    && is_predeclared(name)
                    && self.lookup(name, &callee.span).is_none()
                {
                    return arguments.iter().try_for_each(|argument| self.ignore(argument, perhaps, out));
                }
                let done = self.ignored_call(callee, arguments, &expression.span)?;
                certain(self, &done)?;
                out.extend(done);
                Ok(())
            }
            ExpressionKind::Assign(..) | ExpressionKind::Step(..) => {
                let mut done = Vec::new();
                self.effect(expression, &mut done)?;
                certain(self, &done)?;
                out.extend(done);
                Ok(())
            }
        }
    }

    /// The remaining statements of two branches and the test between them.
    fn ignore_branches(
        &mut self,
        test: &tree::Expression,
        yes: Vec<Statement>,
        no: Vec<Statement>,
        perhaps: bool,
        out: &mut Vec<Statement>,
    ) -> Outcome<()> {
        let nothing = yes.is_empty() && no.is_empty();
        // The outcome of a test on real values is unknown: neither branch is executed.
        match (!nothing && !may_act(test)).then(|| self.truth(test)) {
            Some(Ok(test)) => out.push(Statement::If(test.expression, yes, no)),
            _ => self.ignore(test, perhaps, out)?,
        }
        Ok(())
    }

    /// Keeps an integer that may be an error, or the index of an ignored value. Returns whether the
    /// expression is one of these; it then has no other effect.
    fn ignore_integer(&mut self, expression: &tree::Expression, out: &mut Vec<Statement>) -> bool {
        let reads = self.reads;
        let computed = match self.operand(expression) {
            Ok(Operand::Value(Value { expression, .. })) => Some(expression),
            Ok(Operand::Lvalue(lvalue)) if lvalue.ty.class() == Class::Data => lvalue.offset,
            _ => {
                self.reads = reads;
                return false;
            }
        };
        match computed.filter(may_fail) {
            Some(computed) => out.push(Statement::Evaluate(computed)),
            None => self.reads = reads,
        }
        true
    }

    /// Whether statements have effects, rather than being evaluated because they may fail.
    fn change(&self, statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::Evaluate(expression) => self.changes(expression),
            Statement::If(test, yes, no) => self.changes(test) || self.change(yes) || self.change(no),
            _ => true,
        })
    }

    /// What remains of an ignored argument, as an expression; `None` if it would have effects.
    pub(crate) fn ignored_argument(
        &mut self,
        argument: &tree::Expression,
    ) -> Outcome<Option<Vec<Expression>>> {
        let done = self.ignored(argument)?;
        Ok((!self.change(&done)).then(|| done.into_iter().filter_map(as_expression).collect()))
    }

    /// The effects of a call whose result is ignored. Calls without effects are dropped.
    fn ignored_call(
        &mut self,
        callee: &tree::Expression,
        arguments: &[tree::Expression],
        place: &Place,
    ) -> Outcome<Vec<Statement>> {
        let done = match self.call(callee, arguments, place)? {
            Operand::Value(value) if may_fail(&value.expression) => Some(value.expression),
            Operand::Real { effect, .. } => effect,
            Operand::Result(first, _) if self.changes(&first) => Some(first),
            _ => None,
        };
        Ok(done.map(Statement::Evaluate).into_iter().collect())
    }

    /// Whether a call changes variables or clocks: a function lowered without effects does not.
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
            Expression::Sequence(parts) => parts.iter().any(|part| self.changes(part)),
            Expression::Conditional(parts) => parts.iter().any(|part| self.changes(part)),
            other => has_effects(other),
        }
    }

    /// Whether an assigned object is real, and so not tracked.
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

/// A statement without effects, as an expression.
fn as_expression(statement: Statement) -> Option<Expression> {
    let all = |list: Vec<Statement>| {
        in_sequence(list.into_iter().filter_map(as_expression).collect(), Expression::Constant(0))
    };
    match statement {
        Statement::Evaluate(expression) => Some(expression),
        Statement::If(test, yes, no) => Some(Expression::Conditional(Box::new([test, all(yes), all(no)]))),
        _ => None,
    }
}

/// Evaluates some expressions before the last one, and returns the value of that.
pub(crate) fn in_sequence(first: Vec<Expression>, last: Expression) -> Expression {
    first.into_iter().rev().fold(last, |rest, one| Expression::Sequence(Box::new([one, rest])))
}

/// Whether evaluating an expression can be an error of the model.
fn may_fail(expression: &Expression) -> bool {
    struct Search(bool);
    impl Visitor for Search {
        fn expression(&mut self, expression: &Expression) {
            self.0 |= match expression {
                Expression::Binary(operator, ..) => {
                    !operator.is_truth() && !matches!(operator, Binary::Minimum | Binary::Maximum)
                }
                Expression::Unary(Unary::Minus, _)
                | Expression::InRange { .. }
                | Expression::Call { .. }
                | Expression::Assign { .. } => true,
                _ => false,
            };
            if !self.0 {
                visit_parts(self, expression);
            }
        }
    }
    let mut search = Search(false);
    search.expression(expression);
    search.0
}

/// Whether evaluating an expression may have effects.
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
