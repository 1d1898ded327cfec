//! Rows of packed bounds as arrays of four, which compilers turn into vector instructions, and the
//! kernel of all closing.
//!
//! The kernel adds a number to a whole row and takes the minimum with another row, once for each
//! row of a matrix ([`relax_rows`]). The row that is added is first made ready ([`Prepared::set`])
//! so that the kernel needs neither a test for infinity nor one for strictness: infinity is
//! replaced by [`HUGE`], from which no bound leads back below infinity, and there are two copies,
//! one for weak numbers and one for strict ones.

use super::dbm::INFINITE;

/// Neighbours in a row.
pub(super) type Lanes = [i32; LANES];

/// Rows are padded to a multiple of this with infinity.
pub(super) const LANES: usize = 4;

/// Rows of up to this many arrays have loops of their own, and no test whether there is anything to
/// do: a branch costs more.
pub(super) const UNROLLED: usize = 4;

/// Stands for infinity in sums: twice this does not overflow, and with three finite bounds taken
/// off it is still more than infinity. Counts as weak.
const HUGE: i32 = (1 << 30) - 1;

/// The sum of two finite packed bounds: strict when one of them is.
#[inline(always)]
pub(super) fn sum(a: i32, b: i32) -> i32 {
    a + b - ((a | b) & 1)
}

/// A row made ready for being added to numbers.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// Row by row: what is added to strict numbers, then what is added to weak ones.
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
                // Weak and weak is weak, with one half to spare; strict swallows the other's half.
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
        // The constant in the place of infinity is odd: weak.
        let number = if number == INFINITE { HUGE } else { number };
        let from = if number & 1 == 0 { 0 } else { width };
        let added = &self.lanes[from..from + width];
        for chunk in 0..width {
            // Through local arrays: they cannot overlap, which the compiler need not find out then.
            let (old, added) = (row[chunk], added[chunk]);
            let mut new = [0; LANES];
            for lane in 0..LANES {
                new[lane] = old[lane].min(number + added[lane]);
            }
            row[chunk] = new;
        }
    }
}

/// Relaxes every row by the prepared row and its own entry in a column: one step of closing.
#[inline]
pub(super) fn relax_rows(rows: &mut [Lanes], width: usize, column: usize, prepared: &Prepared) {
    // The same loop, unrolled for the matrices that are small enough for that to pay.
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

/// Whether no lane of the first is less than that of the second.
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
