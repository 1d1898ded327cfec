//! Scales large constants: if all constants that clocks are compared with or set to have a common
//! divisor, that divisor becomes the unit of time.
//!
//! Only done when needed, so that zones usually show the constants of the model.

use crate::network::{ClockAtom, ClockValue, Expression, Network, Statement};
use crate::query::Condition;
use crate::zone::Bound;

/// Divides all clock constants of a network and of the conditions by their greatest common divisor
/// if one of them would be too large. Returns the divisor: 1 if nothing changed.
pub(crate) fn reduce(network: &mut Network, conditions: &mut [Condition]) -> i32 {
    let mut found = Found { divisor: 0, largest: 0, constant: true };
    each(network, conditions, &mut |expression| found.look(expression));
    if !found.constant || found.largest < Bound::LIMIT.unsigned_abs() || found.divisor < 2 {
        return 1;
    }
    let Ok(unit) = i32::try_from(found.divisor) else { return 1 };
    each(network, conditions, &mut |expression| {
        if let Expression::Constant(value) = expression {
            *value /= unit;
        }
    });
    unit
}

struct Found {
    divisor: u32,
    largest: u32,
    constant: bool,
}

impl Found {
    fn look(&mut self, expression: &Expression) {
        let Expression::Constant(value) = expression else {
            self.constant = false;
            return;
        };
        let (mut a, mut b) = (self.divisor, value.unsigned_abs());
        self.largest = self.largest.max(b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        self.divisor = a;
    }
}

/// Visits every number that a clock is compared with or set to.
fn each(network: &mut Network, conditions: &mut [Condition], visit: &mut impl FnMut(&mut Expression)) {
    for process in &mut network.processes {
        for location in &mut process.locations {
            atoms(&mut location.invariant.clocks, visit);
        }
        for edge in &mut process.edges {
            atoms(&mut edge.guard.clocks, visit);
            statements(&mut edge.update, visit);
        }
    }
    for function in &mut network.functions {
        statements(&mut function.body, visit);
    }
    for condition in conditions {
        parts(condition, visit);
    }
}

fn atoms(atoms: &mut [ClockAtom], visit: &mut impl FnMut(&mut Expression)) {
    atoms.iter_mut().for_each(|atom| visit(&mut atom.bound));
}

fn statements(all: &mut [Statement], visit: &mut impl FnMut(&mut Expression)) {
    for statement in all {
        match statement {
            Statement::Clock {
                value: ClockValue::Constant(number) | ClockValue::Clock(_, number), ..
            } => {
                visit(number);
            }
            Statement::If(_, yes, no) => {
                statements(yes, visit);
                statements(no, visit);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => statements(body, visit),
            Statement::Assign { .. }
            | Statement::Copy { .. }
            | Statement::Evaluate(_)
            | Statement::Return(_)
            | Statement::Assert(..) => {}
        }
    }
}

fn parts(condition: &mut Condition, visit: &mut impl FnMut(&mut Expression)) {
    match condition {
        Condition::Clock(atom) => visit(&mut atom.bound),
        Condition::Not(part) => parts(part, visit),
        Condition::And(all) | Condition::Or(all) => all.iter_mut().for_each(|part| parts(part, visit)),
        Condition::Data(_) | Condition::Deadlock | Condition::Rate(_) => {}
    }
}
