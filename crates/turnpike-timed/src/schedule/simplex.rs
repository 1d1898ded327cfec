//! Solves for the moments of a path on which clocks are stopped at times, so that sums of moments
//! are bounded and not only differences.
//!
//! This is the simplex method on exact fractions, over the delays between moments, which are
//! non-negative. Strict bounds share one slack variable, which is at most 1: it is maximised, and
//! must come out positive. Bland's rule prevents cycling.

use super::Times;
use super::demands::{Demand, Side};

/// Larger tableaux are not tried.
const MOST_ENTRIES: usize = 4_000_000;

/// Moments that meet all demands; `None` if there are none or numbers become too large.
pub(super) fn solve(count: usize, demands: &[&Demand]) -> Option<Times> {
    // Columns: the delay before each moment except the first, then the slack of strict bounds.
    let delays = count.saturating_sub(1);
    let mut rows: Vec<(Vec<i64>, i64)> = Vec::with_capacity(demands.len() + 1);
    for demand in demands {
        let mut row = vec![0; delays + 1];
        let mut add = |moment: usize, times: i64| row[..moment].iter_mut().for_each(|entry| *entry += times);
        match &demand.left {
            Side::Difference { later, earlier } => {
                add(*later, 1);
                add(*earlier, -1);
            }
            Side::Sum(terms) => terms.iter().for_each(|&(moment, times)| add(moment, times)),
        }
        row[delays] = i64::from(demand.strict);
        // Already implied by non-negative delays.
        if demand.bound >= 0 && row.iter().all(|&entry| entry <= 0) {
            continue;
        }
        if !rows.iter().any(|(known, bound)| *known == row && *bound <= demand.bound) {
            rows.push((row, demand.bound));
        }
    }
    let mut slack = vec![0; delays + 1];
    slack[delays] = 1;
    rows.push((slack, 1));
    if rows.len() * (delays + 3) > MOST_ENTRIES {
        return None;
    }
    let values = Tableau::new(&rows, delays + 1)?.largest_last()?;
    if values[delays].sign() <= 0 {
        return None;
    }
    // A common denominator.
    let mut unit: i128 = 1;
    for value in &values[..delays] {
        let common = gcd(unit, value.below);
        unit = unit.checked_mul(value.below / common)?;
    }
    let (mut moments, mut now) = (vec![0], 0_i64);
    for value in &values[..delays] {
        now = now.checked_add(i64::try_from(value.above.checked_mul(unit / value.below)?).ok()?)?;
        moments.push(now);
    }
    let unit = i64::try_from(unit).ok()?;
    demands.iter().all(|demand| demand.holds(&moments, unit)).then_some(Times { moments, unit })
}

/// An exact fraction in lowest terms, the denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    above: i128,
    below: i128,
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs().max(1)
}

impl Fraction {
    const ZERO: Fraction = Fraction { above: 0, below: 1 };

    fn whole(number: i64) -> Fraction {
        Fraction { above: number.into(), below: 1 }
    }

    fn sign(self) -> i128 {
        self.above.signum()
    }

    fn times(self, other: Fraction) -> Option<Fraction> {
        let (one, two) = (gcd(self.above, other.below), gcd(other.above, self.below));
        let above = (self.above / one).checked_mul(other.above / two)?;
        let below = (self.below / two).checked_mul(other.below / one)?;
        Some(Fraction { above, below })
    }

    fn over(self, other: Fraction) -> Option<Fraction> {
        let sign = other.above.signum();
        self.times(Fraction { above: other.below * sign, below: other.above * sign })
    }

    fn minus(self, other: Fraction) -> Option<Fraction> {
        let common = gcd(self.below, other.below);
        let below = (self.below / common).checked_mul(other.below)?;
        let left = self.above.checked_mul(other.below / common)?;
        let right = other.above.checked_mul(self.below / common)?;
        let above = left.checked_sub(right)?;
        let common = gcd(above, below);
        Some(Fraction { above: above / common, below: below / common })
    }

    fn is_less(self, other: Fraction) -> Option<bool> {
        Some(self.above.checked_mul(other.below)? < other.above.checked_mul(self.below)?)
    }
}

/// `basic + entries * nonbasic = constant`, all variables non-negative.
struct Tableau {
    /// One row for each basic variable; the last entry is the constant.
    rows: Vec<Vec<Fraction>>,
    /// The objective to maximise: coefficients by nonbasic variable, negated.
    goal: Vec<Fraction>,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    variables: usize,
}

impl Tableau {
    /// A feasible tableau; `None` if there is none or numbers are too large.
    fn new(rows: &[(Vec<i64>, i64)], variables: usize) -> Option<Tableau> {
        // Phase 1: a helper variable makes the system feasible and is then minimised.
        let helper = variables;
        let mut tableau = Tableau {
            rows: rows
                .iter()
                .map(|(row, bound)| {
                    let entries = row.iter().copied().chain([-1, *bound]);
                    entries.map(Fraction::whole).collect()
                })
                .collect(),
            goal: vec![Fraction::ZERO; variables + 2],
            basic: (0..rows.len()).map(|row| variables + 1 + row).collect(),
            nonbasic: (0..=variables).collect(),
            variables,
        };
        let worst = (0..rows.len()).min_by_key(|&row| rows[row].1)?;
        if rows[worst].1 < 0 {
            // Maximise minus the helper.
            tableau.goal[helper] = Fraction::whole(1);
            tableau.pivot(worst, helper)?;
            tableau.climb()?;
            if let Some(row) = tableau.basic.iter().position(|&variable| variable == helper) {
                if tableau.rows[row].last()?.sign() != 0 {
                    return None;
                }
                let entry = (0..tableau.nonbasic.len()).find(|&column| tableau.rows[row][column].sign() != 0);
                match entry {
                    Some(column) => tableau.pivot(row, column)?,
                    None => {
                        tableau.rows.remove(row);
                        tableau.basic.remove(row);
                    }
                }
            }
        }
        // The helper stays at zero.
        let column = tableau.nonbasic.iter().position(|&variable| variable == helper)?;
        for row in &mut tableau.rows {
            row.remove(column);
        }
        tableau.nonbasic.remove(column);
        Some(tableau)
    }

    /// The values of all variables where the last one is maximal.
    fn largest_last(mut self) -> Option<Vec<Fraction>> {
        let last = self.variables - 1;
        self.goal = vec![Fraction::ZERO; self.nonbasic.len() + 1];
        if let Some(column) = self.nonbasic.iter().position(|&variable| variable == last) {
            self.goal[column] = Fraction::whole(-1);
        } else if let Some(row) = self.basic.iter().position(|&variable| variable == last) {
            self.goal.clone_from(&self.rows[row]);
        }
        self.climb()?;
        let mut values = vec![Fraction::ZERO; self.variables];
        for (row, &variable) in self.rows.iter().zip(&self.basic) {
            if variable < self.variables {
                values[variable] = *row.last()?;
            }
        }
        Some(values)
    }

    /// Pivots until the objective is optimal. Every objective used here is bounded.
    fn climb(&mut self) -> Option<()> {
        loop {
            let gains = |&column: &usize| self.goal[column].sign() < 0;
            let entering = (0..self.nonbasic.len()).filter(gains).min_by_key(|&column| self.nonbasic[column]);
            let Some(column) = entering else { return Some(()) };
            let mut leaving: Option<(Fraction, usize)> = None;
            for (row, entries) in self.rows.iter().enumerate() {
                if entries[column].sign() <= 0 {
                    continue;
                }
                let ratio = entries.last()?.over(entries[column])?;
                let better = match leaving {
                    None => true,
                    Some((best, other)) => {
                        ratio.is_less(best)? || (ratio == best && self.basic[row] < self.basic[other])
                    }
                };
                if better {
                    leaving = Some((ratio, row));
                }
            }
            self.pivot(leaving?.1, column)?;
        }
    }

    /// Swaps a basic and a nonbasic variable.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let by = self.rows[row][column];
        let mut pivot = self.rows[row].clone();
        for (index, entry) in pivot.iter_mut().enumerate() {
            *entry = if index == column { Fraction::whole(1).over(by)? } else { entry.over(by)? };
        }
        let clear = |entries: &mut Vec<Fraction>| {
            let factor = std::mem::replace(&mut entries[column], Fraction::ZERO);
            if factor.sign() == 0 {
                return Some(());
            }
            for (entry, &own) in entries.iter_mut().zip(&pivot) {
                if own.sign() != 0 {
                    *entry = entry.minus(factor.times(own)?)?;
                }
            }
            Some(())
        };
        for (index, entries) in self.rows.iter_mut().enumerate() {
            if index != row {
                clear(entries)?;
            }
        }
        clear(&mut self.goal)?;
        self.rows[row] = pivot;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[(usize, i64)], bound: i64, strict: bool) -> Demand {
        Demand { left: Side::Sum(terms.to_vec()), bound, strict }
    }

    fn times(count: usize, demands: &[Demand]) -> Option<Times> {
        solve(count, &demands.iter().collect::<Vec<_>>())
    }

    #[test]
    fn halves_where_there_are_no_whole_numbers() {
        // a + b = b + c = a + c = 1 for the three delays a, b, c.
        let pairs = [vec![(2, 1)], vec![(3, 1), (1, -1)], vec![(3, 1), (2, -1), (1, 1)]];
        let mut demands = Vec::new();
        for pair in &pairs {
            let opposite: Vec<(usize, i64)> = pair.iter().map(|&(moment, times)| (moment, -times)).collect();
            demands.extend([sum(pair, 1, false), sum(&opposite, -1, false)]);
        }
        let found = times(4, &demands).expect("a half each");
        assert_eq!((found.moments, found.unit), (vec![0, 1, 2, 3], 2));
        demands.push(sum(&[(1, 1)], 0, false));
        assert_eq!(times(4, &demands), None);
    }

    #[test]
    fn strict_bounds_exclude_their_number() {
        let within = |strict| [sum(&[(1, 1)], 3, strict), sum(&[(1, -1)], -3, false)];
        assert!(times(2, &within(false)).is_some());
        assert_eq!(times(2, &within(true)), None);
        let open = [sum(&[(1, 1)], 4, true), sum(&[(1, -1)], -3, true)];
        let found = times(2, &open).expect("between them");
        assert!(3 * found.unit < found.moments[1] && found.moments[1] < 4 * found.unit);
    }
}
