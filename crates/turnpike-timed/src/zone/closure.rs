//! Conjunction of constraints, and closure: every entry becomes the tightest implied bound.

use super::dbm::{FINITE, INFINITE};
use super::lanes::relax_rows;
use super::{Bound, Dbm};

impl Dbm {
    /// Brings a bound into range: infinity if it is too large to store.
    #[inline]
    fn admitted(&mut self, bound: Bound) -> i32 {
        if bound.0.unsigned_abs() <= FINITE.unsigned_abs() || bound.is_infinite() {
            return bound.0;
        }
        self.overflowed = true;
        if bound.0 < 0 { -FINITE } else { INFINITE }
    }

    /// Adds the constraint `x_i - x_j` with this bound; false if the zone becomes empty (its matrix
    /// is then invalid).
    #[must_use]
    pub fn conjoin(&mut self, i: usize, j: usize, bound: Bound) -> bool {
        let bound = self.admitted(bound);
        if bound >= self.get(i, j).0 {
            return true;
        }
        if Bound(bound) + self.get(j, i) < Bound::ZERO {
            return false;
        }
        let Dbm { width, entries, scratch, .. } = self;
        scratch.prepared.set(bound, &entries[j * *width..][..*width]);
        relax_rows(entries, *width, i, &scratch.prepared);
        self.grown(2 * self.largest + bound.abs() + 2);
        true
    }

    /// Intersects with another zone over the same clocks; false if the result is empty.
    #[must_use]
    pub fn intersect(&mut self, other: &Dbm) -> bool {
        debug_assert_eq!(self.dimension, other.dimension);
        for (lanes, also) in self.entries.iter_mut().zip(&other.entries) {
            *lanes = std::array::from_fn(|lane| lanes[lane].min(also[lane]));
        }
        self.largest = self.largest.max(other.largest);
        self.overflowed |= other.overflowed;
        self.close()
    }

    /// The smallest zone that includes this one and another.
    pub fn hull(&mut self, other: &Dbm) {
        debug_assert_eq!(self.dimension, other.dimension);
        for (lanes, also) in self.entries.iter_mut().zip(&other.entries) {
            *lanes = std::array::from_fn(|lane| lanes[lane].max(also[lane]));
        }
        self.largest = self.largest.max(other.largest);
        self.overflowed |= other.overflowed;
    }

    /// Floyd-Warshall: computes the tightest implied entries; false if the constraints contradict
    /// each other.
    #[must_use]
    pub(super) fn close(&mut self) -> bool {
        if self.needs_wide_sums() {
            return self.close_wide();
        }
        for k in 0..self.dimension {
            let Dbm { width, entries, scratch, .. } = self;
            scratch.prepared.set(Bound::ZERO.0, &entries[k * *width..][..*width]);
            relax_rows(entries, *width, k, &scratch.prepared);
            if (0..self.dimension).any(|i| self.get(i, i) < Bound::ZERO) {
                return false;
            }
        }
        self.grown(self.largest.saturating_mul(self.dimension as i32));
        true
    }

    /// Whether sums could overflow during closure. Without a contradiction, entries are lengths of
    /// simple paths.
    pub(super) fn needs_wide_sums(&mut self) -> bool {
        let far = |zone: &Dbm| i64::from(zone.largest) * zone.dimension as i64 > i64::from(3 * FINITE);
        if far(self) {
            self.settle();
        }
        far(self)
    }

    /// The same with 64-bit sums, for numbers near the limit.
    #[cold]
    pub(super) fn close_wide(&mut self) -> bool {
        let n = self.dimension;
        let widen = |&entry: &i32| if entry == INFINITE { i64::MAX } else { i64::from(entry) };
        let mut wide: Vec<i64> = self.rows().flat_map(|row| row.iter().map(widen)).collect();
        for k in 0..n {
            for i in 0..n {
                let a = wide[i * n + k];
                for j in 0..n {
                    let b = wide[k * n + j];
                    if a != i64::MAX && b != i64::MAX {
                        wide[i * n + j] = wide[i * n + j].min(a + b - ((a | b) & 1));
                    }
                }
            }
            if (0..n).any(|i| wide[i * n + i] < i64::from(Bound::ZERO.0)) {
                return false;
            }
        }
        let finite = i64::from(FINITE);
        let mut overflowed = false;
        for (row, wide) in self.rows_mut().zip(wide.chunks_exact(n)) {
            for (entry, &wide) in row.iter_mut().zip(wide) {
                overflowed |= wide != i64::MAX && wide.abs() > finite;
                *entry = if wide > finite { INFINITE } else { wide.max(-finite) as i32 };
            }
        }
        self.overflowed |= overflowed;
        self.largest = FINITE;
        true
    }
}
