//! Delays while some clocks are stopped.
//!
//! If a clock is stopped, the set of valuations after a delay is in general not a zone: elapsed
//! time relates the running clocks to each other, and to whatever they were related to among the
//! stopped ones. Each operation here returns the smallest zone that contains the set;
//! [`Dbm::is_separable`] tells whether it is exact.

use super::dbm::INFINITE;
use super::{Bound, Dbm};

impl Dbm {
    /// The valuations strictly after one of these.
    pub fn passed(&mut self) {
        self.up();
        let dimension = self.dimension();
        // Bound without the weak bit: the number itself is excluded.
        for entry in &mut self.entries.as_flattened_mut()[1..dimension] {
            *entry &= !1;
        }
    }

    /// Lets time pass for the clocks whose rows are in `runs`.
    pub fn up_running(&mut self, runs: &[bool]) {
        for (i, row) in self.rows_mut().enumerate() {
            if i > 0 && runs[i] {
                for (entry, _) in row.iter_mut().zip(runs).filter(|(_, runs)| !**runs) {
                    *entry = INFINITE;
                }
            }
        }
    }

    /// The valuations from which a delay of the clocks in `runs` leads into the zone.
    pub fn down_running(&mut self, runs: &[bool]) {
        for (i, row) in self.rows_mut().enumerate() {
            if i == 0 || !runs[i] {
                let least = if i == 0 { Bound::ZERO.0 } else { INFINITE };
                for (entry, _) in row.iter_mut().zip(runs).skip(1).filter(|(_, runs)| **runs) {
                    *entry = least;
                }
            }
        }
        let closed = self.close();
        debug_assert!(closed, "the result includes the zone");
    }

    /// Whether [`up_running`](Self::up_running) and [`down_running`](Self::down_running) are exact.
    ///
    /// Eliminating the delay from a lower and an upper bound on it, `x - s <= c` and `t - y <= d`
    /// with running `x` and `y`, leaves `x - y + t - s <= c + d`, which must follow from the bounds
    /// on `x - y` and `t - s`.
    pub fn is_separable(&self, runs: &[bool]) -> bool {
        let rows = |wanted: bool| (0..self.dimension()).filter(move |&row| (row > 0 && runs[row]) == wanted);
        if rows(true).nth(1).is_none() || rows(false).nth(1).is_none() {
            return true;
        }
        for x in rows(true) {
            for s in rows(false) {
                let upper = self.get(x, s);
                if upper.is_infinite() {
                    continue;
                }
                for y in rows(true).filter(|&y| y != x) {
                    for t in rows(false).filter(|&t| t != s) {
                        if self.get(x, y) + self.get(t, s) > upper + self.get(t, y) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_is_later() {
        let mut zone = Dbm::universe(2);
        assert!(zone.conjoin(1, 0, Bound::weak(5)) && zone.conjoin(0, 1, Bound::weak(-3)));
        zone.passed();
        assert_eq!((zone.get(0, 1), zone.get(1, 0)), (Bound::strict(-3), Bound::INFINITY));
    }

    #[test]
    fn clocks_that_stand_still_keep_their_bounds() {
        // Two clocks at zero; the second is stopped.
        let runs = [false, true, false];
        let mut zone = Dbm::zero(3);
        assert!(zone.is_separable(&runs));
        zone.up_running(&runs);
        assert_eq!((zone.get(1, 0), zone.get(2, 0)), (Bound::INFINITY, Bound::ZERO));
        assert!(zone.conjoin(1, 0, Bound::weak(4)));
        // Now the first is stopped.
        let runs = [false, false, true];
        zone.up_running(&runs);
        assert_eq!((zone.get(1, 0), zone.get(2, 0)), (Bound::weak(4), Bound::INFINITY));
        zone.down_running(&runs);
        assert_eq!((zone.get(1, 0), zone.get(0, 2)), (Bound::weak(4), Bound::ZERO));
    }

    #[test]
    fn sums_of_clocks_are_seen() {
        // x <= 4 and s = y <= 4: if x and y run, x - y + s <= 4 remains, which is not a difference.
        let mut zone = Dbm::universe(4);
        assert!(zone.conjoin(1, 0, Bound::weak(4)) && zone.conjoin(2, 0, Bound::weak(4)));
        assert!(zone.conjoin(2, 3, Bound::ZERO) && zone.conjoin(3, 2, Bound::ZERO));
        assert!(!zone.is_separable(&[false, true, true, false]));
        assert!(zone.is_separable(&[false, true, false, false]));
        // If x = y as well, it follows from s <= 4.
        assert!(zone.conjoin(1, 2, Bound::ZERO) && zone.conjoin(2, 1, Bound::ZERO));
        assert!(zone.is_separable(&[false, true, true, false]));
    }
}
