//! A simple and slow implementation of zones for tests: 64-bit numbers with separate strictness,
//! exhaustive closure; and valuations on a grid.

use std::ops::Range;

use proptest::prelude::*;

use super::{Bound, Dbm, NO_BOUND};

/// A number and whether it is attained: pairs compare like bounds. `None`: no bound.
pub(super) type Slack = Option<(i64, bool)>;

/// Decodes a bound.
pub(super) fn slack(bound: Bound) -> Slack {
    (!bound.is_infinite()).then(|| (i64::from(bound.value()), !bound.is_strict()))
}

/// The least of two bounds.
pub(super) fn least(a: Slack, b: Slack) -> Slack {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

/// A matrix of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slow {
    pub(super) n: usize,
    pub(super) at: Vec<Vec<Slack>>,
}

impl Slow {
    /// All valuations.
    pub(super) fn universe(n: usize) -> Slow {
        let mut at = vec![vec![None; n]; n];
        at[0] = vec![Some((0, true)); n];
        (0..n).for_each(|i| at[i][i] = Some((0, true)));
        Slow { n, at }
    }

    /// No constraint at all, not even that clocks are non-negative.
    pub(super) fn unconstrained(n: usize) -> Slow {
        let mut zone = Slow::universe(n);
        zone.at[0][1..].fill(None);
        zone
    }

    pub(super) fn of(zone: &Dbm) -> Slow {
        let n = zone.dimension();
        Slow { n, at: (0..n).map(|i| (0..n).map(|j| slack(zone.get(i, j))).collect()).collect() }
    }

    /// Adds a constraint without closing.
    pub(super) fn and(&mut self, i: usize, j: usize, bound: Slack) {
        self.at[i][j] = least(self.at[i][j], bound);
    }

    /// Closes the matrix; false if it is contradictory.
    pub(super) fn close(&mut self) -> bool {
        for k in 0..self.n {
            for i in 0..self.n {
                for j in 0..self.n {
                    if let (Some((a, weak)), Some((b, also))) = (self.at[i][k], self.at[k][j]) {
                        self.and(i, j, Some((a + b, weak && also)));
                    }
                }
            }
            if (0..self.n).any(|i| self.at[i][i] < Some((0, true))) {
                return false;
            }
        }
        true
    }

    /// Multiplies all numbers by a factor.
    pub(super) fn scaled(&self, factor: i64) -> Slow {
        let mut zone = self.clone();
        zone.at.iter_mut().flatten().flatten().for_each(|bound| bound.0 *= factor);
        zone
    }

    /// Whether a valuation, given in units of `1 / unit`, is in the zone.
    pub(super) fn contains(&self, values: &[i64], unit: i64) -> bool {
        let value = |i: usize| if i == 0 { 0 } else { values[i - 1] };
        (0..self.n).all(|i| {
            (0..self.n).all(|j| match self.at[i][j] {
                None => true,
                Some((c, weak)) => (value(i) - value(j), !weak) <= (c * unit, false),
            })
        })
    }
}

/// Visits every valuation of `clocks` clocks up to `most`, in steps of one.
pub(super) fn grid(clocks: usize, most: i64, visit: &mut dyn FnMut(&[i64])) {
    let mut values = vec![0; clocks];
    loop {
        visit(&values);
        let Some(i) = values.iter().position(|&value| value < most) else { return };
        values[i] += 1;
        values[..i].fill(0);
    }
}

/// A constraint on two rows, taken modulo the dimension.
pub(super) type Constraint = (usize, usize, i64, bool);

/// Constraints with small numbers.
pub(super) fn constraints(most: usize) -> impl Strategy<Value = Vec<Constraint>> {
    constraints_of(most, -5..7)
}

fn constraints_of(most: usize, numbers: Range<i64>) -> impl Strategy<Value = Vec<Constraint>> {
    prop::collection::vec((0..64usize, 0..64usize, numbers, any::<bool>()), 0..most)
}

/// The zone of all constraints that do not contradict earlier ones.
pub(super) fn zone_of(n: usize, constraints: &[Constraint]) -> Dbm {
    let mut zone = Dbm::universe(n);
    for &(i, j, c, strict) in constraints {
        let mut next = zone.clone();
        if i % n != j % n && next.conjoin(i % n, j % n, Bound::new(c, strict).expect("a small number")) {
            zone = next;
        }
    }
    zone
}

/// A non-empty zone of this dimension with small numbers.
pub(super) fn zone(n: usize) -> impl Strategy<Value = Dbm> {
    constraints(3 * n).prop_map(move |constraints| zone_of(n, &constraints))
}

/// The same with numbers up to 3 in absolute value, and fewer than `most` constraints, so that
/// bounds often coincide.
pub(super) fn tiny_zone(n: usize, most: usize) -> impl Strategy<Value = Dbm> {
    constraints_of(most, -3..4).prop_map(move |constraints| zone_of(n, &constraints))
}

/// Clock bounds for extrapolation.
pub(super) fn clock_bounds(n: usize) -> impl Strategy<Value = Vec<i32>> {
    prop::collection::vec(prop_oneof![Just(NO_BOUND), 0..6i32], n - 1)
}
