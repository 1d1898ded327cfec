//! The constants that atoms compare clocks with.

use super::effects::cells;
use super::ranges::range;
use crate::network::{ClockAtom, ClockId, Local, Network};
use crate::query::Condition;

/// One comparison of a clock with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// `x > c` or `x >= c`.
    Lower(ClockId, i64),
    /// `x < c` or `x <= c`.
    Upper(ClockId, i64),
}

/// Visits the comparisons of an atom; `holds` is false if its negation is tested.
pub(super) fn tests(
    network: &Network,
    locals: &[Local],
    atom: &ClockAtom,
    holds: bool,
    tell: &mut impl FnMut(Test),
) {
    let (low, high) = range(network, locals, &atom.bound);
    match (&atom.left, &atom.right) {
        (Some(clock), None) => {
            for clock in cells(clock) {
                tell(if holds { Test::Upper(clock, high) } else { Test::Lower(clock, high) });
            }
        }
        (None, Some(clock)) => {
            for clock in cells(clock) {
                tell(if holds { Test::Lower(clock, -low) } else { Test::Upper(clock, -low) });
            }
        }
        // A difference tests both clocks from both sides.
        (Some(left), Some(right)) => {
            let size = low.abs().max(high.abs());
            for clock in cells(left).chain(cells(right)) {
                tell(Test::Lower(clock, size));
                tell(Test::Upper(clock, size));
            }
        }
        (None, None) => {}
    }
}

/// Visits all atoms of a condition, with whether the atom or its negation is tested.
pub(super) fn atoms<'a>(condition: &'a Condition, holds: bool, tell: &mut impl FnMut(&'a ClockAtom, bool)) {
    match condition {
        Condition::Clock(atom) => tell(atom, holds),
        Condition::Not(inner) => atoms(inner, !holds, tell),
        Condition::And(all) | Condition::Or(all) => all.iter().for_each(|one| atoms(one, holds, tell)),
        Condition::Data(_) | Condition::Deadlock | Condition::Rate(_) => {}
    }
}
