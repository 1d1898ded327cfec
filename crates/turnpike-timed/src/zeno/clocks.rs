//! The certain effects of every edge on clocks.

use crate::compile::analysis::range;
use crate::network::{
    ClockAtom, ClockCell, ClockValue, Constraint, Edge, Expression, Function, Local, Network, Statement,
};

/// Certain effects of one edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Effect {
    /// Clocks that are assigned whenever the edge is taken, sorted.
    pub(super) assigned: Vec<u32>,
    /// Clocks that have advanced by at least one since their assignment whenever the edge is taken,
    /// sorted.
    pub(super) tested: Vec<u32>,
}

/// Effects of all edges of a network.
pub(super) struct Clocks {
    effects: Vec<Vec<Effect>>,
}

impl Clocks {
    pub(super) fn of(network: &Network) -> Clocks {
        let most = assigned_values(network);
        let effects = network
            .processes
            .iter()
            .map(|process| {
                let effect = |edge: &Edge| {
                    let mut effect = Effect::default();
                    certain(network, &edge.update, &mut effect.assigned);
                    let mut test = |constraint: &Constraint, locals: &[Local]| {
                        for atom in &constraint.clocks {
                            if let Some((clock, least)) = lower_bound(network, locals, atom)
                                && most[clock as usize].is_some_and(|most| least > most)
                            {
                                effect.tested.push(clock);
                            }
                        }
                    };
                    test(&edge.guard, &edge.locals);
                    test(&process.locations[edge.source.0 as usize].invariant, &[]);
                    for clocks in [&mut effect.assigned, &mut effect.tested] {
                        clocks.sort_unstable();
                        clocks.dedup();
                    }
                    effect
                };
                process.edges.iter().map(effect).collect()
            })
            .collect();
        Clocks { effects }
    }

    pub(super) fn of_process(&self, process: usize) -> &[Effect] {
        &self.effects[process]
    }
}

/// A clock and an integer that it is at least.
fn lower_bound(network: &Network, locals: &[Local], atom: &ClockAtom) -> Option<(u32, i64)> {
    match (&atom.when, &atom.left, &atom.right) {
        (None, None, Some(ClockCell { base, offset: None, .. })) => {
            // 0 - x <= bound: x is at least -bound. Strictness adds no whole unit.
            let (_, high) = range(network, locals, &atom.bound);
            Some((base.0, high.checked_neg()?))
        }
        _ => None,
    }
}

/// For every clock the largest value that is assigned to it; `None` if another clock may be copied
/// to it.
fn assigned_values(network: &Network) -> Vec<Option<i64>> {
    let mut most = vec![Some(0); network.clocks.len()];
    for edge in network.processes.iter().flat_map(|process| &process.edges) {
        walk(network, Some(&edge.locals), &edge.update, &mut most);
    }
    for function in &network.functions {
        // A shared function uses its caller's frame: the ranges of its cells are unknown here.
        let locals = (!function.shared).then_some(function.locals.as_slice());
        walk(network, locals, &function.body, &mut most);
    }
    most
}

fn walk(network: &Network, locals: Option<&[Local]>, statements: &[Statement], most: &mut [Option<i64>]) {
    for statement in statements {
        match statement {
            Statement::Clock { clock, value, .. } => {
                let value = match value {
                    ClockValue::Constant(Expression::Constant(number)) => Some(i64::from(*number)),
                    ClockValue::Constant(expression) => {
                        locals.map(|locals| range(network, locals, expression).1)
                    }
                    ClockValue::Clock(..) => None,
                };
                let cells = clock.base.0 as usize..clock.base.0 as usize + clock.count as usize;
                for cell in most.get_mut(cells).into_iter().flatten() {
                    *cell = match (*cell, value) {
                        (Some(known), Some(new)) => Some(known.max(new)),
                        _ => None,
                    };
                }
            }
            Statement::If(_, then, otherwise) => {
                walk(network, locals, then, most);
                walk(network, locals, otherwise, most);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => walk(network, locals, body, most),
            _ => {}
        }
    }
}

/// Clocks that a sequence of statements certainly assigns.
fn certain(network: &Network, statements: &[Statement], out: &mut Vec<u32>) {
    for statement in statements {
        match statement {
            Statement::Clock { clock: ClockCell { base, offset: None, .. }, .. } => out.push(base.0),
            Statement::Evaluate(Expression::Call { function, .. }) => {
                if let Some(Function { body, .. }) = network.functions.get(function.0 as usize) {
                    for statement in body {
                        // After a statement that may return, nothing is certain.
                        match statement {
                            Statement::Clock { clock: ClockCell { base, offset: None, .. }, .. } => {
                                out.push(base.0);
                            }
                            Statement::If(..)
                            | Statement::While(..)
                            | Statement::For { .. }
                            | Statement::Return(_) => break,
                            _ => {}
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
