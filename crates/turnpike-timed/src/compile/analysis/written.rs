//! What processes assign. A variable that is never assigned keeps its initial value: its range
//! shrinks to it, and it takes no space in states.

use crate::network::{
    Cells, FunctionId, Network, Process, Space, Statement, Sync, Visitor, visit_block, visit_constraint,
    visit_statement,
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
                visit_constraint(&mut search, &location.invariant);
            }
            for edge in &process.edges {
                visit_constraint(&mut search, &edge.guard);
                if let Sync::Send(cell) | Sync::Receive(cell) = &edge.sync
                    && let Some(offset) = &cell.offset
                {
                    search.expression(offset);
                }
                visit_block(&mut search, &edge.update);
            }
        }
        while let Some(function) = search.waiting.pop() {
            visit_block(&mut search, &network.functions[function].body);
        }
        Written { variables: search.written, clocks: search.clocks }
    }
}

struct Search {
    written: Vec<bool>,
    clocks: Vec<bool>,
    called: Vec<bool>,
    /// Functions that are called but not yet visited.
    waiting: Vec<usize>,
}

impl Visitor for Search {
    fn statement(&mut self, statement: &Statement) {
        if let Statement::Clock { clock, .. } = statement {
            let first = clock.base.0 as usize;
            let last = (first + clock.count as usize).min(self.clocks.len());
            self.clocks[first.min(last)..last].fill(true);
        }
        visit_statement(self, statement);
    }

    fn write(&mut self, cells: &Cells, count: u32) {
        if let Some(offset) = &cells.offset {
            self.expression(offset);
        }
        if cells.space == Space::Local {
            return;
        }
        let first = cells.base as usize;
        let reach = if cells.offset.is_some() { cells.count.max(count) } else { count } as usize;
        let last = (first + reach).min(self.written.len());
        self.written[first.min(last)..last].fill(true);
    }

    fn call(&mut self, function: FunctionId) {
        let function = function.0 as usize;
        if !std::mem::replace(&mut self.called[function], true) {
            self.waiting.push(function);
        }
    }
}
