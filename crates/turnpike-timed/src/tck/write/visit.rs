//! The cells that expressions and statements mention.

use crate::network::{Cells, ClockCell, ClockValue, Edge, Expression, Network, Statement};

/// Functions within functions.
const CALLS: usize = 50;

/// All cells of an edge, with those of functions that work on its frame.
pub(super) fn edge_cells(network: &Network, edge: &Edge, visit: &mut dyn FnMut(&Cells)) {
    let mut walk = Walk { network, visit, clocks: &mut |_| {}, calls: 0 };
    for condition in &edge.guard.data {
        walk.expression(condition);
    }
    for atom in &edge.guard.clocks {
        walk.expression(&atom.bound);
    }
    walk.block(&edge.update);
}

/// All cells of an expression.
pub(super) fn expression_cells(network: &Network, expression: &Expression, visit: &mut dyn FnMut(&Cells)) {
    Walk { network, visit, clocks: &mut |_| {}, calls: 0 }.expression(expression);
}

/// All cells of a statement.
pub(super) fn statement_cells(network: &Network, statement: &Statement, visit: &mut dyn FnMut(&Cells)) {
    Walk { network, visit, clocks: &mut |_| {}, calls: 0 }.statement(statement);
}

/// All cells of statements.
pub(super) fn block_cells(network: &Network, statements: &[Statement], visit: &mut dyn FnMut(&Cells)) {
    Walk { network, visit, clocks: &mut |_| {}, calls: 0 }.block(statements);
}

/// All cells and clocks of a network.
pub(super) fn everything(
    network: &Network,
    cells: &mut dyn FnMut(&Cells),
    clocks: &mut dyn FnMut(&ClockCell),
) {
    let mut walk = Walk { network, visit: cells, clocks, calls: CALLS };
    for function in &network.functions {
        walk.block(&function.body);
    }
    for process in &network.processes {
        let constraints = process.locations.iter().map(|location| &location.invariant);
        for constraint in constraints.chain(process.edges.iter().map(|edge| &edge.guard)) {
            for condition in &constraint.data {
                walk.expression(condition);
            }
            for atom in &constraint.clocks {
                for clock in atom.left.iter().chain(&atom.right) {
                    walk.clock(clock);
                }
                walk.expression(&atom.bound);
                if let Some(when) = &atom.when {
                    walk.expression(when);
                }
            }
        }
        for edge in &process.edges {
            walk.block(&edge.update);
        }
    }
}

/// Whether a `return` is among the statements.
pub(super) fn returns(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Return(_) => true,
        Statement::If(_, then, otherwise) => returns(then) || returns(otherwise),
        Statement::While(_, body, _) | Statement::For { body, .. } => returns(body),
        _ => false,
    })
}

struct Walk<'a> {
    network: &'a Network,
    visit: &'a mut dyn FnMut(&Cells),
    clocks: &'a mut dyn FnMut(&ClockCell),
    calls: usize,
}

impl Walk<'_> {
    fn cells(&mut self, cells: &Cells) {
        if let Some(offset) = &cells.offset {
            self.expression(offset);
        }
        (self.visit)(cells);
    }

    fn clock(&mut self, clock: &ClockCell) {
        if let Some(offset) = &clock.offset {
            self.expression(offset);
        }
        (self.clocks)(clock);
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Constant(_) | Expression::At(..) => {}
            Expression::Read(cells) => self.cells(cells),
            Expression::Table(_, operand)
            | Expression::Unary(_, operand)
            | Expression::InRange { value: operand, .. } => self.expression(operand),
            // The bound cell is replaced by numbers: mentions of it are none of a variable.
            Expression::Quantified { local, body, .. } => {
                let outer = &mut *self.visit;
                let mut visit = |cells: &Cells| {
                    if cells.offset.is_some()
                        || cells.base != *local
                        || cells.space == crate::network::Space::Global
                    {
                        outer(cells);
                    }
                };
                Walk {
                    network: self.network,
                    visit: &mut visit,
                    clocks: &mut *self.clocks,
                    calls: self.calls,
                }
                .expression(body);
            }
            Expression::Binary(_, left, right, _) => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Conditional(parts) => parts.iter().for_each(|part| self.expression(part)),
            Expression::Call { function, arguments, .. } => {
                arguments.iter().for_each(|argument| self.expression(argument));
                if let Some(function) = self.network.functions.get(function.0 as usize)
                    && function.shared
                    && self.calls < CALLS
                {
                    self.calls += 1;
                    self.block(&function.body);
                    self.calls -= 1;
                }
            }
            Expression::Assign { target, value, .. } => {
                self.expression(value);
                self.cells(target);
            }
            Expression::Sequence(parts) => parts.iter().for_each(|part| self.expression(part)),
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { target, value, .. } => {
                self.expression(value);
                self.cells(target);
            }
            Statement::Copy { target, source, .. } => {
                self.cells(source);
                self.cells(target);
            }
            Statement::Clock { clock, value, .. } => {
                self.clock(clock);
                match value {
                    ClockValue::Constant(number) => self.expression(number),
                    ClockValue::Clock(from, number) => {
                        self.clock(from);
                        self.expression(number);
                    }
                }
            }
            Statement::Evaluate(expression)
            | Statement::Return(Some(expression))
            | Statement::Assert(expression, _) => {
                self.expression(expression);
            }
            Statement::If(condition, then, otherwise) => {
                self.expression(condition);
                self.block(then);
                self.block(otherwise);
            }
            Statement::While(condition, body, _) => {
                self.expression(condition);
                self.block(body);
            }
            Statement::For { local, body, .. } => {
                self.cells(&Cells::fixed(crate::network::Space::Local, *local));
                self.block(body);
            }
            Statement::Return(None) => {}
        }
    }
}
