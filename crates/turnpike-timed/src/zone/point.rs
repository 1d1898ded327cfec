//! Single valuations of zones, exact: integers over a common denominator.

use std::fmt;

use super::dbm::INFINITE;
use super::{Bound, Dbm};

/// A valuation: each clock's value times the denominator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The positive common denominator.
    pub denominator: i64,
    /// One number per clock, starting with row 1.
    pub values: Vec<i64>,
}

impl Point {
    /// The value of a clock as a fraction in lowest terms: numerator and denominator.
    pub fn value(&self, clock: usize) -> (i64, i64) {
        let number = self.values[clock];
        let (mut a, mut b) = (number.unsigned_abs(), self.denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = (a as i64).max(1);
        (number / common, self.denominator / common)
    }
}

/// Values separated by commas: `1,3/2,0`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for clock in 0..self.values.len() {
            let comma = if clock == 0 { "" } else { "," };
            match self.value(clock) {
                (number, 1) => write!(f, "{comma}{number}")?,
                (number, denominator) => write!(f, "{comma}{number}/{denominator}")?,
            }
        }
        Ok(())
    }
}

impl Dbm {
    /// The valuation with the least common denominator, and among those the least one: integers if
    /// the zone contains any. `None` if the zone is empty.
    pub fn point(&self) -> Option<Point> {
        // With `n` rows, no cycle of strict bounds takes more than n / (n + 1) of the unit of slack
        // that it has at least.
        (1..=self.dimension as i64 + 1).find_map(|denominator| self.point_over(denominator))
    }

    /// The least valuation in multiples of `1 / denominator`, if the zone contains one.
    pub fn point_over(&self, denominator: i64) -> Option<Point> {
        // Bellman-Ford: how far each clock is pushed from zero.
        let n = self.dimension;
        let step = |entry: i32| i64::from(entry >> 1) * denominator - i64::from(entry & 1 == 0);
        let mut distance: Vec<i64> = vec![i64::MAX; n];
        distance[0] = 0;
        for _ in 0..=n {
            let mut changed = false;
            for (i, row) in self.rows().enumerate() {
                if distance[i] == i64::MAX {
                    continue;
                }
                for (j, &entry) in row.iter().enumerate() {
                    if entry != INFINITE && i != j && distance[i] + step(entry) < distance[j] {
                        distance[j] = distance[i] + step(entry);
                        changed = true;
                    }
                }
            }
            if !changed {
                return Some(Point { denominator, values: distance[1..].iter().map(|far| -far).collect() });
            }
        }
        None
    }

    /// The same zone in units of `1 / factor`, so that points with that denominator become
    /// integers. `None` if numbers become too large.
    pub fn scaled(&self, factor: i32) -> Option<Dbm> {
        let mut scaled = self.clone();
        let entries = scaled.entries.as_flattened_mut();
        for entry in entries.iter_mut().filter(|entry| **entry != INFINITE) {
            let value = i64::from(*entry >> 1) * i64::from(factor);
            *entry = Bound::new(value, *entry & 1 == 0)?.0;
        }
        scaled.settle();
        Some(scaled)
    }

    /// Whether a valuation is in the zone.
    pub fn contains(&self, point: &Point) -> bool {
        let value = |i: usize| if i == 0 { 0 } else { i128::from(point.values[i - 1]) };
        point.values.len() + 1 == self.dimension
            && self.rows().enumerate().all(|(i, row)| {
                row.iter().enumerate().all(|(j, &entry)| {
                    let most = i128::from(entry >> 1) * i128::from(point.denominator);
                    let difference = value(i) - value(j);
                    entry == INFINITE || difference < most || (difference == most && entry & 1 == 1)
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_zones_hold_the_same_points() {
        let mut zone = Dbm::universe(3);
        assert!(zone.conjoin(1, 2, Bound::strict(3)) && zone.conjoin(0, 2, Bound::strict(-1)));
        let double = zone.scaled(2).expect("small numbers");
        assert_eq!((double.get(1, 2), double.get(0, 2)), (Bound::strict(6), Bound::strict(-2)));
        assert_eq!((double.get(2, 1), double.get(1, 1)), (Bound::INFINITY, Bound::ZERO));
        assert_eq!(double.point_over(1).map(|point| point.values), Some(vec![0, 3]));
        assert_eq!(zone.scaled(Bound::LIMIT), None);
    }

    #[test]
    fn integers_are_preferred_and_fractions_are_as_simple_as_can_be() {
        let mut zone = Dbm::universe(3);
        assert!(zone.conjoin(0, 1, Bound::strict(-3)));
        assert_eq!(zone.point().map(|point| point.to_string()).as_deref(), Some("4,0"));
        assert!(zone.conjoin(1, 0, Bound::strict(4)));
        assert_eq!(zone.point().map(|point| point.to_string()).as_deref(), Some("7/2,0"));
        // 0 < y < x - 3 < 1
        assert!(zone.conjoin(2, 1, Bound::strict(-3)) && zone.conjoin(0, 2, Bound::strict(0)));
        let point = zone.point().expect("not empty");
        assert_eq!((point.to_string().as_str(), point.denominator), ("11/3,1/3", 3));
    }
}
