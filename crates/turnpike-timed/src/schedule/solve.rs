//! The earliest moments that meet all demands.

use super::Times;
use super::demands::{Demands, Difference};

/// A number plus a multiple of a time that is as small as need be.
type Value = (i64, i64);

/// The earliest moments that meet the demands; `None` when there are none.
///
/// A strict bound is met by an arbitrarily small step; how small is decided at the end, as coarsely as possible.
pub(super) fn earliest(demands: &Demands, more: &[Difference]) -> Option<Times> {
    let all: Vec<Difference> = demands.always.iter().chain(more).copied().collect();
    let mut moments: Vec<Value> = vec![(0, 0); demands.moments];
    // `later - earlier <= bound` makes `earlier` at least `later - bound`. Without a contradiction, no moment depends on more others than there are.
    for round in 0..=demands.moments {
        let mut changed = false;
        for demand in &all {
            let (number, steps) = moments[demand.later];
            let least = (number - demand.bound, steps + i64::from(demand.strict));
            if least > moments[demand.earlier] {
                moments[demand.earlier] = least;
                changed = true;
            }
        }
        if moments[0] != (0, 0) {
            return None;
        }
        if !changed {
            break;
        }
        if round == demands.moments {
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
        let holds = |demand: &Difference| {
            let difference = moments[demand.later] - moments[demand.earlier];
            let bound = demand.bound * unit;
            if demand.strict { difference < bound } else { difference <= bound }
        };
        if all.iter().all(holds) {
            return Some(Times { moments, unit });
        }
    }
    // One more part than there are small steps: together they stay below a whole.
    Some(Times { moments: scaled(most + 1), unit: most + 1 })
}
