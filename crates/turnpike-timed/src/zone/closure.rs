//! Constraints conjoined, and matrices closed: every entry the least that follows from all of them.
//!
//! Everything here is one kernel: add a number to a whole row and take the minimum with another row, as often as there are rows. The row that is added
//! is first made ready ([`Scratch::prepare`]) so that the kernel needs neither a test for infinity nor one for strictness: infinity is replaced by
//! [`HUGE`], from which no bound leads back below infinity, and there are two copies, one for weak numbers and one for strict ones.

use super::dbm::{FINITE, INFINITE, LANES, Scratch};
use super::{Bound, Dbm};

/// Stands for infinity in sums: twice this does not overflow, and with three finite bounds taken off it is still more than infinity. Counts as weak.
const HUGE: i32 = (1 << 30) - 1;

/// A bound on which the kernel adds a prepared row.
#[inline]
fn addend(entry: i32) -> i32 {
    if entry == INFINITE { HUGE } else { entry }
}

impl Scratch {
    /// Makes `row`, with a finite bound added to it, ready for being added to other bounds.
    #[inline]
    fn prepare(&mut self, bound: i32, row: &[i32]) {
        self.weak.resize(row.len(), 0);
        self.strict.resize(row.len(), 0);
        let (row, _) = row.as_chunks::<LANES>();
        let (weak, _) = self.weak.as_chunks_mut::<LANES>();
        let (strict, _) = self.strict.as_chunks_mut::<LANES>();
        for ((row, weak), strict) in row.iter().zip(weak).zip(strict) {
            for lane in 0..LANES {
                let entry = row[lane];
                let sum = if entry == INFINITE { HUGE } else { bound + entry - ((bound | entry) & 1) };
                // Weak and weak is weak, with one spare half; strict swallows the other's half.
                weak[lane] = sum - 1;
                strict[lane] = sum & !1;
            }
        }
    }

    /// The prepared row as it is to be added to this number.
    #[inline]
    fn for_addend(&self, number: i32) -> &[i32] {
        if number & 1 == 0 { &self.strict } else { &self.weak }
    }
}

/// The kernel: what follows for `row` from a way to a prepared row.
#[inline]
fn relax(row: &mut [i32], number: i32, prepared: &[i32]) {
    let (row, _) = row.as_chunks_mut::<LANES>();
    let (prepared, _) = prepared.as_chunks::<LANES>();
    for (row, prepared) in row.iter_mut().zip(prepared) {
        for lane in 0..LANES {
            row[lane] = row[lane].min(number + prepared[lane]);
        }
    }
}

impl Dbm {
    /// Brings a bound into range: `None` if it is none, or none that can be kept.
    fn admitted(&mut self, bound: Bound) -> Option<i32> {
        if bound.is_infinite() {
            return None;
        }
        if bound.0 > FINITE {
            self.overflowed = true;
            return None;
        }
        if bound.0 < -FINITE {
            self.overflowed = true;
            return Some(-FINITE);
        }
        Some(bound.0)
    }

    /// Conjoins `x_i - x_j` with a bound; false when nothing is left (the matrix is then worthless).
    #[must_use]
    pub fn conjoin(&mut self, i: usize, j: usize, bound: Bound) -> bool {
        let Some(bound) = self.admitted(bound) else { return true };
        if bound >= self.get(i, j).0 {
            return true;
        }
        if Bound(bound) + self.get(j, i) < Bound::ZERO {
            return false;
        }
        let Dbm { stride, entries, scratch, .. } = self;
        scratch.prepare(bound, &entries[j * *stride..][..*stride]);
        for row in entries.chunks_exact_mut(*stride) {
            let number = addend(row[i]);
            relax(row, number, scratch.for_addend(number));
        }
        self.grown(2 * self.largest + bound.abs() + 2);
        true
    }

    /// Conjoins `x_i` with an upper bound for each pair, all in one pass; false when nothing is left.
    #[must_use]
    pub fn conjoin_uppers(&mut self, bounds: &[(usize, Bound)]) -> bool {
        // All constraints lead to the constant zero: the shortest path uses one of them at most.
        let mut most = 0;
        let mut least = INFINITE;
        let mut tighter = false;
        for &(i, bound) in bounds {
            let Some(bound) = self.admitted(bound) else { continue };
            most = most.max(bound.abs());
            tighter |= bound < self.get(i, 0).0;
            least = least.min((Bound(bound) + self.get(0, i)).0);
        }
        if !tighter {
            return true;
        }
        if least < Bound::ZERO.0 {
            return false;
        }
        let Dbm { stride, entries, scratch, .. } = self;
        scratch.prepare(Bound::ZERO.0, &entries[..*stride]);
        for row in entries.chunks_exact_mut(*stride).skip(1) {
            let mut number = HUGE;
            for &(i, bound) in bounds {
                let bound = bound.0.max(-FINITE);
                let entry = row[i];
                let sum = entry + bound - ((entry | bound) & 1);
                number = number.min(if entry == INFINITE || bound > FINITE { HUGE } else { sum });
            }
            relax(row, number, scratch.for_addend(number));
        }
        self.grown(2 * self.largest + most + 2);
        true
    }

    /// Conjoins `0 - x_j` with a bound for each pair (`>= c` is [`Bound::weak`]`(-c)`), all in one pass; false when nothing is left.
    #[must_use]
    pub fn conjoin_lowers(&mut self, bounds: &[(usize, Bound)]) -> bool {
        // All constraints lead away from the constant zero.
        let mut most = 0;
        let mut least = INFINITE;
        let mut tighter = false;
        for &(j, bound) in bounds {
            let Some(bound) = self.admitted(bound) else { continue };
            most = most.max(bound.abs());
            tighter |= bound < self.get(0, j).0;
            least = least.min((Bound(bound) + self.get(j, 0)).0);
        }
        if !tighter {
            return true;
        }
        if least < Bound::ZERO.0 {
            return false;
        }
        let Dbm { stride, entries, scratch, .. } = self;
        let mut first = std::mem::take(&mut scratch.row);
        first.clear();
        first.extend_from_slice(&entries[..*stride]);
        for &(j, bound) in bounds.iter().filter(|(_, bound)| bound.0 <= FINITE) {
            scratch.prepare(bound.0.max(-FINITE), &entries[j * *stride..][..*stride]);
            relax(&mut first, Bound::ZERO.0, &scratch.weak);
        }
        scratch.prepare(Bound::ZERO.0, &first);
        for row in entries.chunks_exact_mut(*stride) {
            let number = addend(row[0]);
            relax(row, number, scratch.for_addend(number));
        }
        scratch.row = first;
        self.grown(2 * self.largest + most + 2);
        true
    }

    /// Conjoins with another zone over the same clocks; false when nothing is left.
    #[must_use]
    pub fn intersect(&mut self, other: &Dbm) -> bool {
        debug_assert_eq!(self.dimension, other.dimension);
        for (entry, &also) in self.entries.iter_mut().zip(&other.entries) {
            *entry = also.min(*entry);
        }
        self.largest = self.largest.max(other.largest);
        self.overflowed |= other.overflowed;
        self.close()
    }

    /// The smallest zone that includes this one and another.
    pub fn hull(&mut self, other: &Dbm) {
        debug_assert_eq!(self.dimension, other.dimension);
        for (entry, &also) in self.entries.iter_mut().zip(&other.entries) {
            *entry = also.max(*entry);
        }
        self.largest = self.largest.max(other.largest);
        self.overflowed |= other.overflowed;
    }

    /// Finds the least entries that follow from those there are; false when they contradict each other.
    #[must_use]
    pub(super) fn close(&mut self) -> bool {
        // As long as there is no contradiction entries are lengths of paths without repetition.
        let longest = |zone: &Dbm| i64::from(zone.largest) * zone.dimension as i64;
        if longest(self) > i64::from(3 * FINITE) {
            self.settle();
            if longest(self) > i64::from(3 * FINITE) {
                return self.close_wide();
            }
        }
        let Dbm { stride, entries, scratch, dimension, .. } = self;
        for k in 0..*dimension {
            scratch.prepare(Bound::ZERO.0, &entries[k * *stride..][..*stride]);
            let mut consistent = true;
            for (i, row) in entries.chunks_exact_mut(*stride).enumerate() {
                if row[k] == INFINITE || i == k {
                    continue;
                }
                let number = row[k];
                relax(row, number, scratch.for_addend(number));
                consistent &= row[i] >= Bound::ZERO.0;
            }
            if !consistent {
                return false;
            }
        }
        self.grown(self.largest.saturating_mul(self.dimension as i32));
        true
    }

    /// The same with wide sums, for numbers near the limit.
    #[cold]
    fn close_wide(&mut self) -> bool {
        let n = self.dimension;
        let widen = |&entry: &i32| if entry == INFINITE { i64::MAX } else { i64::from(entry) };
        let mut wide: Vec<i64> = self.rows().flat_map(|row| row[..n].iter().map(widen)).collect();
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
