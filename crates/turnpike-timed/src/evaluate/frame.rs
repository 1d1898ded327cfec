//! How many local cells an expression uses, where no declaration says it.

use crate::network::{Cells, ClockAtom, Expression, Network, Rate, Space, Statement};

/// Local cells that the frame of an expression needs.
pub fn frame_size(network: &Network, expression: &Expression) -> usize {
    let mut walk = Walk { network, size: 0, seen: Vec::new() };
    walk.expression(expression);
    walk.size
}

/// The same for a bound on clocks.
pub fn atom_frame_size(network: &Network, atom: &ClockAtom) -> usize {
    let clocks = [&atom.left, &atom.right].into_iter().flatten().filter_map(|cell| cell.offset.as_ref());
    let parts = atom.when.iter().chain([&atom.bound]).chain(clocks);
    parts.map(|part| frame_size(network, part)).max().unwrap_or(0)
}

/// The same for the rate of a clock.
pub fn rate_frame_size(network: &Network, rate: &Rate) -> usize {
    let parts = rate.when.iter().chain([&rate.value]).chain(&rate.clock.offset);
    parts.map(|part| frame_size(network, part)).max().unwrap_or(0)
}

struct Walk<'n> {
    network: &'n Network,
    size: usize,
    /// Functions on the caller's frame that were looked at.
    seen: Vec<u32>,
}

impl Walk<'_> {
    fn local(&mut self, cell: u32) {
        self.size = self.size.max(cell as usize + 1);
    }

    fn cells(&mut self, cells: &Cells) {
        if cells.space == Space::Local {
            self.local(cells.base + cells.count.saturating_sub(1));
        }
        if let Some(offset) = &cells.offset {
            self.expression(offset);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.parts(expression));
    }

    fn parts(&mut self, expression: &Expression) {
        match expression {
            Expression::Constant(_) | Expression::At(..) => {}
            Expression::Read(cells) => self.cells(cells),
            Expression::Table(_, part) | Expression::Unary(_, part) => self.expression(part),
            Expression::Binary(_, left, right, _) => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Conditional(parts) => parts.iter().for_each(|part| self.expression(part)),
            Expression::InRange { value, .. } => self.expression(value),
            Expression::Quantified { local, body, .. } => {
                self.local(*local);
                self.expression(body);
            }
            Expression::Call { function, arguments, .. } => {
                arguments.iter().for_each(|argument| self.expression(argument));
                let callee = &self.network.functions[function.0 as usize];
                if callee.shared && !self.seen.contains(&function.0) {
                    self.seen.push(function.0);
                    self.size = self.size.max(callee.locals.len());
                    self.statements(&callee.body);
                }
            }
            Expression::Assign { target, value, .. } => {
                self.cells(target);
                self.expression(value);
            }
            Expression::Sequence(parts) => parts.iter().for_each(|part| self.expression(part)),
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign { target, value, .. } => {
                    self.cells(target);
                    self.expression(value);
                }
                Statement::Copy { target, source, .. } => {
                    self.cells(target);
                    self.cells(source);
                }
                Statement::Clock { .. } | Statement::Return(None) => {}
                Statement::Evaluate(value) | Statement::Return(Some(value)) | Statement::Assert(value, _) => {
                    self.expression(value);
                }
                Statement::If(condition, yes, no) => {
                    self.expression(condition);
                    self.nested(yes);
                    self.nested(no);
                }
                Statement::While(condition, body, _) => {
                    self.expression(condition);
                    self.nested(body);
                }
                Statement::For { local, body, .. } => {
                    self.local(*local);
                    self.nested(body);
                }
            }
        }
    }

    fn nested(&mut self, statements: &[Statement]) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.statements(statements));
    }
}
