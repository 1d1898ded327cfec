//! The earliest moments that meet all demands.

use super::demands::{Demand, Demands, Side};
use super::{Times, simplex};

/// `(number, steps)`: a number plus `steps` times an infinitesimal.
type Value = (i64, i64);

/// Moments that meet the demands; `None` if there are none. They are the earliest if all demands
/// are on differences.
pub(super) fn solve(demands: &Demands, more: &[Demand]) -> Option<Times> {
    let all: Vec<&Demand> = demands.always.iter().chain(more).collect();
    let sums = all.iter().any(|demand| matches!(demand.left, Side::Sum(_)));
    if sums { simplex::solve(demands.moments, &all) } else { earliest(demands.moments, &all) }
}

/// The earliest moments that meet demands on differences; `None` if there are none.
///
/// A strict bound is met by an infinitesimal step. Its size is chosen at the end, as large as
/// possible.
fn earliest(count: usize, all: &[&Demand]) -> Option<Times> {
    let mut moments: Vec<Value> = vec![(0, 0); count];
    // Bellman-Ford: `later - earlier <= bound` makes `earlier` at least `later - bound`. If the
    // demands are consistent, `count` rounds suffice.
    for round in 0..=count {
        let mut changed = false;
        for demand in all {
            let Side::Difference { later, earlier } = demand.left else { continue };
            let (number, steps) = moments[later];
            let least = (number - demand.bound, steps + i64::from(demand.strict));
            if least > moments[earlier] {
                moments[earlier] = least;
                changed = true;
            }
        }
        if moments[0] != (0, 0) {
            return None;
        }
        if !changed {
            break;
        }
        if round == count {
            return None;
        }
    }
    let most = moments.iter().map(|&(_, steps)| steps).max().unwrap_or(0);
    let units =
        std::iter::successors(Some(1_i64), |unit| unit.checked_mul(2)).take_while(|&unit| unit <= most + 1);
    let scaled =
        |unit: i64| moments.iter().map(|&(number, steps)| number * unit + steps).collect::<Vec<i64>>();
    for unit in units {
        let moments = scaled(unit);
        if all.iter().all(|demand| demand.holds(&moments, unit)) {
            return Some(Times { moments, unit });
        }
    }
    // Divide the unit into one part more than there are steps: together they stay below 1.
    Some(Times { moments: scaled(most + 1), unit: most + 1 })
}
