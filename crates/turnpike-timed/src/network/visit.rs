//! Visitors of expressions and statements.

use super::{Cells, ClockAtom, ClockCell, ClockValue, Constraint, Expression, FunctionId, Statement};

/// Trees come from files and can be deep.
const RED_ZONE: usize = 64 << 10;
const MORE_STACK: usize = 1 << 20;

/// Visits expressions and statements. The default methods visit the parts in evaluation order.
pub trait Visitor {
    /// An expression.
    fn expression(&mut self, expression: &Expression) {
        visit_parts(self, expression);
    }

    /// A statement.
    fn statement(&mut self, statement: &Statement) {
        visit_statement(self, statement);
    }

    /// Cells that are read.
    fn read(&mut self, cells: &Cells) {
        visit_offset(self, cells.offset.as_deref());
    }

    /// Cells that are assigned, `count` of them from the offset on.
    fn write(&mut self, cells: &Cells, count: u32) {
        let _ = count;
        visit_offset(self, cells.offset.as_deref());
    }

    /// A clock.
    fn clock(&mut self, clock: &ClockCell) {
        visit_offset(self, clock.offset.as_ref());
    }

    /// A function that is called; its arguments were visited.
    fn call(&mut self, function: FunctionId) {
        let _ = function;
    }
}

fn visit_offset<V: Visitor + ?Sized>(visitor: &mut V, offset: Option<&Expression>) {
    if let Some(offset) = offset {
        visitor.expression(offset);
    }
}

/// Visits the parts of an expression.
pub fn visit_parts<V: Visitor + ?Sized>(visitor: &mut V, expression: &Expression) {
    stacker::maybe_grow(RED_ZONE, MORE_STACK, || match expression {
        Expression::Constant(_) | Expression::At(..) => {}
        Expression::Read(cells) => visitor.read(cells),
        Expression::Table(_, part)
        | Expression::Unary(_, part)
        | Expression::InRange { value: part, .. }
        | Expression::Quantified { body: part, .. } => visitor.expression(part),
        Expression::Binary(_, left, right, _) => {
            visitor.expression(left);
            visitor.expression(right);
        }
        Expression::Conditional(parts) => parts.iter().for_each(|part| visitor.expression(part)),
        Expression::Sequence(parts) => parts.iter().for_each(|part| visitor.expression(part)),
        Expression::Call { function, arguments, .. } => {
            arguments.iter().for_each(|argument| visitor.expression(argument));
            visitor.call(*function);
        }
        Expression::Assign { target, value, .. } => {
            visitor.write(target, 1);
            visitor.expression(value);
        }
    });
}

/// Visits the parts of a statement.
pub fn visit_statement<V: Visitor + ?Sized>(visitor: &mut V, statement: &Statement) {
    match statement {
        Statement::Assign { target, value, .. } => {
            visitor.write(target, 1);
            visitor.expression(value);
        }
        Statement::Copy { target, source, count, .. } => {
            visitor.write(target, *count);
            visitor.read(source);
        }
        Statement::Clock { clock, value, .. } => {
            visitor.clock(clock);
            match value {
                ClockValue::Constant(number) => visitor.expression(number),
                ClockValue::Clock(from, number) => {
                    visitor.clock(from);
                    visitor.expression(number);
                }
            }
        }
        Statement::Evaluate(value) | Statement::Return(Some(value)) | Statement::Assert(value, _) => {
            visitor.expression(value);
        }
        Statement::Return(None) => {}
        Statement::If(condition, then, otherwise) => {
            visitor.expression(condition);
            visit_block(visitor, then);
            visit_block(visitor, otherwise);
        }
        Statement::While(condition, body, _) => {
            visitor.expression(condition);
            visit_block(visitor, body);
        }
        Statement::For { body, .. } => visit_block(visitor, body),
    }
}

/// Visits statements.
pub fn visit_block<V: Visitor + ?Sized>(visitor: &mut V, statements: &[Statement]) {
    stacker::maybe_grow(RED_ZONE, MORE_STACK, || {
        statements.iter().for_each(|statement| visitor.statement(statement));
    });
}

/// Visits a guard or an invariant.
pub fn visit_constraint<V: Visitor + ?Sized>(visitor: &mut V, constraint: &Constraint) {
    constraint.data.iter().for_each(|condition| visitor.expression(condition));
    for ClockAtom { left, right, bound, when, .. } in &constraint.clocks {
        left.iter().chain(right).for_each(|clock| visitor.clock(clock));
        visitor.expression(bound);
        when.iter().for_each(|when| visitor.expression(when));
    }
}
