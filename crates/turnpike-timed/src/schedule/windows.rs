//! After which delays a transition can be taken at the end of a run.
//!
//! The moments of the run are fixed, so every demand bounds a single unknown: the next moment.

use std::cmp::Ordering;

use super::Times;
use super::demands::{Demand, Demands, Side};

/// A moment as a fraction of the unit of the fixed ones, with a positive denominator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    pub(super) above: i64,
    pub(super) below: i64,
}

impl Fraction {
    fn compare(self, other: Fraction) -> Ordering {
        let wide = |above: i64, below: i64| i128::from(above) * i128::from(below);
        wide(self.above, other.below).cmp(&wide(other.above, self.below))
    }
}

/// An end of an interval, and whether it is excluded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) at: Fraction,
    pub(super) open: bool,
}

/// The moments between two limits; a missing limit means unbounded on that side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    pub(super) from: Option<Limit>,
    pub(super) to: Option<Limit>,
}

impl Interval {
    fn is_empty(self) -> bool {
        let (Some(from), Some(to)) = (self.from, self.to) else { return false };
        match from.at.compare(to.at) {
            Ordering::Less => false,
            Ordering::Equal => from.open || to.open,
            Ordering::Greater => true,
        }
    }

    fn intersect(self, other: Interval) -> Interval {
        let later = |one: Limit, two: Limit| match one.at.compare(two.at) {
            Ordering::Less => two,
            Ordering::Equal => Limit { open: one.open || two.open, ..one },
            Ordering::Greater => one,
        };
        let earlier = |one: Limit, two: Limit| match one.at.compare(two.at) {
            Ordering::Less => one,
            Ordering::Equal => Limit { open: one.open || two.open, ..one },
            Ordering::Greater => two,
        };
        let both =
            |one: Option<Limit>, two: Option<Limit>, pick: &dyn Fn(Limit, Limit) -> Limit| match (one, two) {
                (Some(one), Some(two)) => Some(pick(one, two)),
                (one, two) => one.or(two),
            };
        Interval { from: both(self.from, other.from, &later), to: both(self.to, other.to, &earlier) }
    }

    /// The parts before and after another interval.
    fn without(self, other: Interval) -> impl Iterator<Item = Interval> {
        let turned = |limit: Limit| Limit { open: !limit.open, ..limit };
        let before = other.from.map(|from| Interval { from: None, to: Some(turned(from)) });
        let after = other.to.map(|to| Interval { from: Some(turned(to)), to: None });
        [before, after]
            .into_iter()
            .flatten()
            .map(move |part| self.intersect(part))
            .filter(|part| !part.is_empty())
    }
}

/// The values of the next moment that meet a demand, where the moments in `times` are fixed and
/// every other one is the next. `None` if the demand is on fixed moments only and they do not meet
/// it.
fn moments_of(demand: &Demand, times: &Times) -> Option<Interval> {
    let (mut speed, mut known) = (0, 0_i128);
    let mut add = |moment: usize, factor: i64| match times.moments.get(moment) {
        Some(&fixed) => known += i128::from(fixed) * i128::from(factor),
        None => speed += factor,
    };
    match &demand.left {
        Side::Difference { later, earlier } => {
            add(*later, 1);
            add(*earlier, -1);
        }
        Side::Sum(terms) => terms.iter().for_each(|&(moment, factor)| add(moment, factor)),
    }
    let left = i128::from(demand.bound) * i128::from(times.unit) - known;
    let limit = |above: i128, below: i64| {
        Some(Limit { at: Fraction { above: i64::try_from(above).ok()?, below }, open: demand.strict })
    };
    match speed.cmp(&0) {
        Ordering::Equal => (left > 0 || (left == 0 && !demand.strict)).then(Interval::default),
        Ordering::Greater => Some(Interval { from: None, to: limit(left, speed) }),
        Ordering::Less => Some(Interval { from: limit(-left, -speed), to: None }),
    }
}

/// The intervals in which the next moment can be.
pub(super) fn next_moments(demands: &Demands, times: &Times) -> Vec<Interval> {
    let all = |demands: &[Demand]| {
        demands
            .iter()
            .try_fold(Interval::default(), |rest, demand| Some(rest.intersect(moments_of(demand, times)?)))
    };
    let mut open: Vec<Interval> = all(&demands.always).filter(|rest| !rest.is_empty()).into_iter().collect();
    for rival in &demands.rivals {
        // A rival whose bounds never all hold is no obstacle.
        let Some(forbidden) = all(rival).filter(|forbidden| !forbidden.is_empty()) else { continue };
        open = open.into_iter().flat_map(|rest| rest.without(forbidden)).collect();
    }
    open
}
