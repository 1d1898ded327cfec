//! Differences of clocks, which extrapolation by constants alone does not preserve.
//!
//! In a network that compares differences, a zone is first split along all of them (Bengtsson and
//! Yi). Each piece, which lies on one side of every difference, is extrapolated by itself and then
//! intersected with its sides again. Assignments other than resets would shift the differences, so
//! zones of such networks stay exact.

use super::tuple::Tuple;
use crate::compile::analysis;
use crate::compile::tables::{FixedAtom, bound};
use crate::network::{ClockAtom, ClockCell, ClockValue, Expression, Local, Network, Statement};
use crate::query::Condition;
use crate::zone::{Bound, Dbm, Extrapolation};

/// Limit on the number of differences: each may double the number of pieces.
const MOST: usize = 48;

/// All differences that are compared; `None` if there are too many, or if clocks are assigned
/// values other than zero.
pub(super) fn differences(network: &Network, conditions: &[Condition]) -> Option<Vec<FixedAtom>> {
    let mut found: Vec<FixedAtom> = Vec::new();
    let mut fits = true;
    let mut look = |atom: &ClockAtom, locals: &[Local]| {
        let (Some(left), Some(right)) = (&atom.left, &atom.right) else { return };
        let (low, high) = analysis::range(network, locals, &atom.bound);
        let count = high.saturating_sub(low).saturating_add(1).max(1) as usize;
        let pairs = left.count as usize * right.count as usize;
        if count.saturating_mul(pairs) > MOST {
            fits = false;
            return;
        }
        for value in low..=high {
            let Some(bound) = i32::try_from(value).ok().and_then(|value| bound(value, atom.strict)) else {
                fits = false;
                return;
            };
            for left in cells(left) {
                for right in cells(right) {
                    let same = |known: &FixedAtom| {
                        (known.left, known.right, known.bound) == (left, right, bound)
                            || (known.right, known.left, known.bound) == (left, right, Bound(1 - bound.0))
                    };
                    if left != right && !found.iter().any(same) {
                        found.push(FixedAtom { left, right, bound });
                    }
                }
            }
        }
    };
    for process in &network.processes {
        for location in &process.locations {
            location.invariant.clocks.iter().for_each(|atom| look(atom, &[]));
        }
        for edge in &process.edges {
            edge.guard.clocks.iter().for_each(|atom| look(atom, &edge.locals));
        }
    }
    for condition in conditions {
        super::condition::visit(condition, &mut |leaf| {
            if let Condition::Clock(atom) = leaf {
                look(atom, &[]);
            }
        });
    }
    let updates = network.processes.iter().flat_map(|process| &process.edges).map(|edge| &edge.update);
    let bodies = network.functions.iter().map(|function| &function.body);
    let only_resets = updates.chain(bodies).all(|statements| only_resets(statements));
    (fits && found.len() <= MOST && only_resets).then_some(found)
}

fn cells(cell: &ClockCell) -> impl Iterator<Item = u32> {
    let first = cell.base.0 + 1;
    first..first + cell.count.max(1)
}

fn only_resets(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Clock { value, .. } => *value == ClockValue::Constant(Expression::Constant(0)),
        Statement::If(_, yes, no) => only_resets(yes) && only_resets(no),
        Statement::While(_, body, _) | Statement::For { body, .. } => only_resets(body),
        _ => true,
    })
}

/// One side of a difference, by rows.
type Side = (usize, usize, Bound);

/// Splits a zone along the differences of a tuple's active clocks and extrapolates each piece.
pub(super) fn pieces(zone: &Dbm, tuple: &Tuple, differences: &[FixedAtom]) -> Vec<Dbm> {
    let rows: Vec<Side> = differences
        .iter()
        .filter_map(|atom| {
            let (left, right) = (tuple.row(atom.left)?, tuple.row(atom.right)?);
            Some((left as usize, right as usize, atom.bound))
        })
        .collect();
    let mut pieces: Vec<(Dbm, Vec<Side>)> = vec![(zone.clone(), Vec::new())];
    for &(left, right, bound) in &rows {
        let mut split = Vec::with_capacity(pieces.len());
        for (piece, sides) in pieces {
            for side in [(left, right, bound), (right, left, Bound(1 - bound.0))] {
                let mut part = piece.clone();
                if part.conjoin(side.0, side.1, side.2) {
                    let mut sides = sides.clone();
                    sides.push(side);
                    split.push((part, sides));
                }
            }
        }
        pieces = split;
    }
    pieces
        .into_iter()
        .filter_map(|(mut piece, sides)| {
            piece.extrapolate(Extrapolation::M, tuple.lower(), tuple.upper());
            sides.iter().all(|&(i, j, bound)| piece.conjoin(i, j, bound)).then_some(piece)
        })
        .collect()
}
