//! What processes assign. Variables that nothing assigns keep their initial value: that is their range then, and they take no space in states.

use crate::network::{
    Cells, ClockCell, ClockValue, Constraint, Expression, Network, Process, Space, Statement, Sync,
};

/// Narrows the range of every variable that is never assigned.
pub(crate) fn narrow(network: &mut Network) {
    let written = Written::by(network, &network.processes);
    for (variable, written) in network.variables.iter_mut().zip(written.variables) {
        if !written {
            (variable.low, variable.high) = (variable.initial, variable.initial);
        }
    }
}

/// What may be assigned.
pub(crate) struct Written {
    /// By variable.
    pub(crate) variables: Vec<bool>,
    /// By clock.
    pub(crate) clocks: Vec<bool>,
}

impl Written {
    /// What some processes of a network may assign, with the functions they call.
    pub(crate) fn by(network: &Network, processes: &[Process]) -> Written {
        let mut search = Search {
            written: vec![false; network.variables.len()],
            clocks: vec![false; network.clocks.len()],
            called: vec![false; network.functions.len()],
            waiting: Vec::new(),
        };
        for process in processes {
            for location in &process.locations {
                search.constraint(&location.invariant);
            }
            for edge in &process.edges {
                search.constraint(&edge.guard);
                if let Sync::Send(cell) | Sync::Receive(cell) = &edge.sync
                    && let Some(offset) = &cell.offset
                {
                    search.expression(offset);
                }
                search.statements(&edge.update);
            }
        }
        while let Some(function) = search.waiting.pop() {
            search.statements(&network.functions[function].body);
        }
        Written { variables: search.written, clocks: search.clocks }
    }
}

struct Search {
    written: Vec<bool>,
    clocks: Vec<bool>,
    called: Vec<bool>,
    /// Functions that are called but have not been looked at.
    waiting: Vec<usize>,
}

impl Search {
    fn target(&mut self, cells: &Cells, count: u32) {
        self.cells(cells);
        if cells.space == Space::Local {
            return;
        }
        let first = cells.base as usize;
        let reach = if cells.offset.is_some() { cells.count.max(count) } else { count } as usize;
        let last = (first + reach).min(self.written.len());
        self.written[first.min(last)..last].fill(true);
    }

    fn cells(&mut self, cells: &Cells) {
        if let Some(offset) = &cells.offset {
            self.expression(offset);
        }
    }

    fn clock(&mut self, clock: &ClockCell) {
        if let Some(offset) = &clock.offset {
            self.expression(offset);
        }
    }

    fn constraint(&mut self, constraint: &Constraint) {
        for part in &constraint.data {
            self.expression(part);
        }
        for atom in &constraint.clocks {
            atom.left.iter().chain(&atom.right).for_each(|clock| self.clock(clock));
            atom.when.iter().for_each(|when| self.expression(when));
            self.expression(&atom.bound);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match expression {
            Expression::Constant(_) | Expression::At(..) => {}
            Expression::Read(cells) => self.cells(cells),
            Expression::Table(_, inner)
            | Expression::Unary(_, inner)
            | Expression::InRange { value: inner, .. }
            | Expression::Quantified { body: inner, .. } => self.expression(inner),
            Expression::Binary(_, left, right, _) => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Conditional(parts) => parts.iter().for_each(|part| self.expression(part)),
            Expression::Call { function, arguments, .. } => {
                arguments.iter().for_each(|argument| self.expression(argument));
                let function = function.0 as usize;
                if !std::mem::replace(&mut self.called[function], true) {
                    self.waiting.push(function);
                }
            }
            Expression::Assign { target, value, .. } => {
                self.target(target, 1);
                self.expression(value);
            }
            Expression::Sequence(parts) => parts.iter().for_each(|part| self.expression(part)),
        });
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign { target, value, .. } => {
                    self.target(target, 1);
                    self.expression(value);
                }
                Statement::Copy { target, source, count, .. } => {
                    self.target(target, *count);
                    self.cells(source);
                }
                Statement::Clock { clock, value, .. } => {
                    self.clock(clock);
                    let first = clock.base.0 as usize;
                    let last = (first + clock.count as usize).min(self.clocks.len());
                    self.clocks[first.min(last)..last].fill(true);
                    match value {
                        ClockValue::Constant(value) => self.expression(value),
                        ClockValue::Clock(source, value) => {
                            self.clock(source);
                            self.expression(value);
                        }
                    }
                }
                Statement::Evaluate(value) | Statement::Return(Some(value)) | Statement::Assert(value, _) => {
                    self.expression(value);
                }
                Statement::Return(None) => {}
                Statement::If(test, yes, no) => {
                    self.expression(test);
                    self.statements(yes);
                    self.statements(no);
                }
                Statement::While(test, body, _) => {
                    self.expression(test);
                    self.statements(body);
                }
                Statement::For { body, .. } => self.statements(body),
            }
        }
    }
}
