//! Rows of packed bounds as arrays of four, which compilers vectorise, and the inner loop of
//! closure.
//!
//! The kernel adds a number to a whole row and takes the minimum with another row, once for each
//! row of a matrix ([`relax_rows`]). The added row is prepared first ([`Prepared::set`]) so that
//! the kernel tests neither for infinity nor for strictness: infinity is replaced by [`HUGE`], so
//! large that no sum falls below infinity, and there are two copies, one for weak numbers and one
//! for strict ones.

use super::dbm::INFINITE;

/// Adjacent entries of a row.
pub(super) type Lanes = [i32; LANES];

/// Rows are padded to a multiple of this with infinity.
pub(super) const LANES: usize = 4;

/// Rows of at most this many arrays have specialised loops without an early exit: the branch would
/// cost more.
pub(super) const UNROLLED: usize = 4;

/// Represents infinity in sums: twice this does not overflow, and minus three finite bounds it
/// still exceeds infinity. It is odd, hence weak.
const HUGE: i32 = (1 << 30) - 1;

/// The sum of two finite packed bounds: strict if one of them is.
#[inline(always)]
pub(super) fn sum(a: i32, b: i32) -> i32 {
    a + b - ((a | b) & 1)
}

/// A row prepared for being added to numbers.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The row to add to strict numbers, followed by the row to add to weak ones.
    lanes: Vec<Lanes>,
}

impl Prepared {
    /// Prepares a row with a finite bound added to it.
    #[inline(always)]
    pub(super) fn set(&mut self, bound: i32, row: &[Lanes]) {
        let width = row.len();
        if self.lanes.len() != 2 * width {
            self.lanes.resize(2 * width, [0; LANES]);
        }
        let (strict, weak) = self.lanes.split_at_mut(width);
        for chunk in 0..width {
            let mut strict_lanes = [0; LANES];
            let mut weak_lanes = [0; LANES];
            for lane in 0..LANES {
                let entry = row[chunk][lane];
                let far = if entry == INFINITE { HUGE } else { sum(bound, entry) };
                // Weak plus weak has one half too many; strict absorbs the other's half.
                strict_lanes[lane] = far & !1;
                weak_lanes[lane] = far - 1;
            }
            strict[chunk] = strict_lanes;
            weak[chunk] = weak_lanes;
        }
    }

    /// Takes the minimum of `row` with the prepared row added to a number.
    #[inline(always)]
    pub(super) fn relax(&self, row: &mut [Lanes], number: i32) {
        let width = row.len();
        // The replacement of infinity is odd: weak.
        let number = if number == INFINITE { HUGE } else { number };
        let from = if number & 1 == 0 { 0 } else { width };
        let added = &self.lanes[from..from + width];
        for chunk in 0..width {
            // Local arrays cannot alias, so the compiler need not check.
            let (old, added) = (row[chunk], added[chunk]);
            let mut new = [0; LANES];
            for lane in 0..LANES {
                new[lane] = old[lane].min(number + added[lane]);
            }
            row[chunk] = new;
        }
    }
}

/// Relaxes every row by the prepared row and the row's entry in a column: one step of closure.
#[inline]
pub(super) fn relax_rows(rows: &mut [Lanes], width: usize, column: usize, prepared: &Prepared) {
    // The same loop, unrolled for matrices small enough to profit.
    match width {
        1 => relax_rows_of(rows, 1, column, prepared),
        2 => relax_rows_of(rows, 2, column, prepared),
        3 => relax_rows_of(rows, 3, column, prepared),
        4 => relax_rows_of(rows, 4, column, prepared),
        _ => relax_rows_of(rows, width, column, prepared),
    }
}

#[inline(always)]
fn relax_rows_of(rows: &mut [Lanes], width: usize, column: usize, prepared: &Prepared) {
    let (chunk, lane) = (column / LANES, column % LANES);
    let mut rest = rows;
    while let Some((row, after)) = rest.split_at_mut_checked(width)
        && !row.is_empty()
    {
        let number = row[chunk][lane];
        if width <= UNROLLED || number != INFINITE {
            prepared.relax(row, number);
        }
        rest = after;
    }
}

/// Whether no lane of the first is less than the same lane of the second.
#[inline(always)]
pub(super) fn none_less(first: &[Lanes], second: &[Lanes]) -> bool {
    let mut less = [0; LANES];
    for chunk in 0..first.len().min(second.len()) {
        for lane in 0..LANES {
            less[lane] |= i32::from(first[chunk][lane] < second[chunk][lane]);
        }
    }
    less == [0; LANES]
}
