//! Visits the cells that expressions and statements mention.

use crate::network::{
    Cells, ClockCell, Edge, Expression, FunctionId, Network, Space, Statement, Visitor, visit_block,
    visit_constraint, visit_parts, visit_statement,
};

/// Limit on nested calls.
const CALLS: usize = 50;

/// All cells of an edge, including those of functions that use its frame.
pub(super) fn edge_cells(network: &Network, edge: &Edge, visit: &mut dyn FnMut(&Cells)) {
    let mut walk = Walk { network, visit, clocks: &mut |_| {}, calls: 0, bound: Vec::new() };
    for condition in &edge.guard.data {
        walk.expression(condition);
    }
    for atom in &edge.guard.clocks {
        walk.expression(&atom.bound);
    }
    visit_block(&mut walk, &edge.update);
}

/// All cells of an expression.
pub(super) fn expression_cells(network: &Network, expression: &Expression, visit: &mut dyn FnMut(&Cells)) {
    Walk { network, visit, clocks: &mut |_| {}, calls: 0, bound: Vec::new() }.expression(expression);
}

/// All cells of a statement.
pub(super) fn statement_cells(network: &Network, statement: &Statement, visit: &mut dyn FnMut(&Cells)) {
    Walk { network, visit, clocks: &mut |_| {}, calls: 0, bound: Vec::new() }.statement(statement);
}

/// All cells of statements.
pub(super) fn block_cells(network: &Network, statements: &[Statement], visit: &mut dyn FnMut(&Cells)) {
    let mut walk = Walk { network, visit, clocks: &mut |_| {}, calls: 0, bound: Vec::new() };
    visit_block(&mut walk, statements);
}

/// All cells and clocks of a network.
pub(super) fn everything(
    network: &Network,
    cells: &mut dyn FnMut(&Cells),
    clocks: &mut dyn FnMut(&ClockCell),
) {
    let mut walk = Walk { network, visit: cells, clocks, calls: CALLS, bound: Vec::new() };
    for function in &network.functions {
        visit_block(&mut walk, &function.body);
    }
    for process in &network.processes {
        let constraints = process.locations.iter().map(|location| &location.invariant);
        for constraint in constraints.chain(process.edges.iter().map(|edge| &edge.guard)) {
            visit_constraint(&mut walk, constraint);
        }
        for edge in &process.edges {
            visit_block(&mut walk, &edge.update);
        }
    }
}

/// Whether the statements contain a `return`.
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
    /// Local cells bound by quantifiers.
    bound: Vec<u32>,
}

impl Walk<'_> {
    fn cells(&mut self, cells: &Cells) {
        if let Some(offset) = &cells.offset {
            self.expression(offset);
        }
        // A bound cell is replaced by numbers, so no variable is mentioned.
        let bound = cells.offset.is_none() && cells.space == Space::Local && self.bound.contains(&cells.base);
        if !bound {
            (self.visit)(cells);
        }
    }
}

impl Visitor for Walk<'_> {
    fn expression(&mut self, expression: &Expression) {
        let Expression::Quantified { local, body, .. } = expression else {
            return visit_parts(self, expression);
        };
        self.bound.push(*local);
        self.expression(body);
        self.bound.pop();
    }

    fn statement(&mut self, statement: &Statement) {
        if let Statement::For { local, .. } = statement {
            self.cells(&Cells::fixed(Space::Local, *local));
        }
        visit_statement(self, statement);
    }

    fn read(&mut self, cells: &Cells) {
        self.cells(cells);
    }

    fn write(&mut self, cells: &Cells, _: u32) {
        self.cells(cells);
    }

    fn clock(&mut self, clock: &ClockCell) {
        if let Some(offset) = &clock.offset {
            self.expression(offset);
        }
        (self.clocks)(clock);
    }

    fn call(&mut self, function: FunctionId) {
        if let Some(function) = self.network.functions.get(function.0 as usize)
            && function.shared
            && self.calls < CALLS
        {
            self.calls += 1;
            visit_block(self, &function.body);
            self.calls -= 1;
        }
    }
}
