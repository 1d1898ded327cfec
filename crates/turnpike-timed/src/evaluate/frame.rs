//! The number of local cells that an expression uses, where no declaration states it.

use crate::network::{
    Cells, ClockAtom, Expression, FunctionId, Network, Rate, Space, Statement, Visitor, visit_block,
    visit_parts, visit_statement,
};

/// Number of local cells that the frame of an expression needs.
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
    /// Functions on the caller's frame that were visited.
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
}

impl Visitor for Walk<'_> {
    fn expression(&mut self, expression: &Expression) {
        if let Expression::Quantified { local, .. } = expression {
            self.local(*local);
        }
        visit_parts(self, expression);
    }

    fn statement(&mut self, statement: &Statement) {
        if let Statement::For { local, .. } = statement {
            self.local(*local);
        }
        visit_statement(self, statement);
    }

    fn read(&mut self, cells: &Cells) {
        self.cells(cells);
    }

    fn write(&mut self, cells: &Cells, _: u32) {
        self.cells(cells);
    }

    fn call(&mut self, function: FunctionId) {
        let callee = &self.network.functions[function.0 as usize];
        if callee.shared && !self.seen.contains(&function.0) {
            self.seen.push(function.0);
            self.size = self.size.max(callee.locals.len());
            visit_block(self, &callee.body);
        }
    }
}
