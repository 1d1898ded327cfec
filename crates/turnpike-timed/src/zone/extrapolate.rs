//! Extrapolation by the constants that clocks are still compared with, which makes the set of zones
//! finite.

use super::dbm::{INFINITE, Scratch};
use super::lanes::{LANES, Lanes, UNROLLED};
use super::{Bound, Dbm, NO_BOUND};

/// The extrapolation of zones, which makes the zone graph finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extrapolation {
    /// None: exact, but the graph may be infinite.
    None,
    /// By the largest constant of each clock.
    M,
    /// As `M`, and coarser where the zone lies above the constants.
    MPlus,
    /// By separate lower and upper bounds.
    Lu,
    /// As `Lu`, and coarser where the zone lies above the constants; TChecker's default.
    LuPlus,
}

/// The largest packed entry whose number is at most the constant.
fn at_most(constant: i32) -> i32 {
    match constant {
        NO_BOUND => i32::MIN,
        _ => Bound::weak(constant.clamp(-Bound::LIMIT, Bound::LIMIT)).0,
    }
}

/// The smallest packed entry that only says that a clock is above the constant.
fn above(constant: i32) -> i32 {
    match constant {
        NO_BOUND => INFINITE,
        _ => Bound::strict(-constant.clamp(-Bound::LIMIT, Bound::LIMIT)).0,
    }
}

impl Dbm {
    /// Extrapolates the zone. Bounds are by row, starting with row 1 at index 0, [`NO_BOUND`] if
    /// missing.
    pub fn extrapolate(&mut self, extrapolation: Extrapolation, lower: &[i32], upper: &[i32]) {
        debug_assert!(lower.len() + 1 == self.dimension && upper.len() + 1 == self.dimension);
        // By the larger of both bounds, or by separate bounds.
        match extrapolation {
            Extrapolation::None => {}
            Extrapolation::M => self.raise::<false>(true, lower, upper),
            Extrapolation::MPlus => self.raise::<true>(true, lower, upper),
            Extrapolation::Lu => self.raise::<false>(false, lower, upper),
            Extrapolation::LuPlus => self.raise::<true>(false, lower, upper),
        }
    }

    /// Raises entries, and closes the result.
    fn raise<const PLUS: bool>(&mut self, both: bool, lower: &[i32], upper: &[i32]) {
        let first = match self.width {
            1 => self.raise_rows::<PLUS>(1, both, lower, upper),
            2 => self.raise_rows::<PLUS>(2, both, lower, upper),
            3 => self.raise_rows::<PLUS>(3, both, lower, upper),
            4 => self.raise_rows::<PLUS>(4, both, lower, upper),
            width => self.raise_rows::<PLUS>(width, both, lower, upper),
        };
        // Row 0 of a matrix with infinite columns is already closed: where it was raised, so was
        // the whole column.
        let first = first && !PLUS;
        if first || !self.scratch.changed.is_empty() {
            self.close_raised(first);
        }
    }

    /// Raises entries, and collects the rows to close; returns whether row 0 is among them.
    ///
    /// Entries above the lower bound of the first clock become infinite. Entries below minus the
    /// upper bound of the second clock are raised to that. With `PLUS`, a row becomes infinite if
    /// its clock exceeds its lower bound throughout the zone, and a column if its clock exceeds its
    /// upper bound.
    #[inline(always)]
    fn raise_rows<const PLUS: bool>(
        &mut self,
        width: usize,
        both: bool,
        lower: &[i32],
        upper: &[i32],
    ) -> bool {
        let Dbm { dimension, entries, scratch, .. } = self;
        let clocks = *dimension - 1;
        let (lower, upper) = (&lower[..clocks], &upper[..clocks]);
        let (first, rest) = entries.split_at_mut(width);
        let first = first.as_flattened_mut();
        let Scratch { columns, changed, pivots, .. } = scratch;
        if columns.len() != width {
            columns.resize(width, [0; LANES]);
        }
        // By column, what entries must not exceed (`PLUS`), or what they are raised to; does not
        // apply to column 0.
        let limits = columns.as_flattened_mut();
        limits[0] = if PLUS { i32::MAX } else { i32::MIN };
        for x in 0..clocks {
            let floor = above(if both { lower[x].max(upper[x]) } else { upper[x] });
            limits[x + 1] = match PLUS {
                true if first[x + 1] < floor => i32::MIN,
                true => i32::MAX,
                false => floor,
            };
        }
        changed.clear();
        pivots.clear();
        for x in 0..clocks {
            let row = &mut rest[x * width..][..width];
            let lower = if both { lower[x].max(upper[x]) } else { lower[x] };
            let erased = lower == NO_BOUND || (PLUS && first[x + 1] < above(lower));
            let ceiling = if erased { i32::MIN } else { at_most(lower) };
            let differs = raise_row::<PLUS>(row, columns, ceiling, x + 1);
            // No path leaves an erased row, so closing neither changes it nor uses it.
            if !erased {
                let limit = columns.as_flattened()[x + 1];
                if if PLUS { limit != i32::MIN } else { limit != INFINITE } {
                    pivots.push(x + 1);
                }
                if differs {
                    changed.push(x + 1);
                }
            }
        }
        // Last, because the other rows used row 0 as it was.
        let mut differs = 0;
        for x in 0..clocks {
            let floor = above(if both { lower[x].max(upper[x]) } else { upper[x] });
            let raised = floor.min(Bound::ZERO.0).max(first[x + 1]);
            differs |= first[x + 1] ^ raised;
            first[x + 1] = raised;
        }
        differs != 0
    }

    /// Closes a matrix after some entries were raised.
    ///
    /// Entries that were not raised are already tight, so only rows with a raised entry change. Row
    /// 0 is the last pivot: until then erased columns stay infinite except in row 0, which gains
    /// nothing from paths through their clocks.
    fn close_raised(&mut self, first: bool) {
        if self.needs_wide_sums() {
            let consistent = self.close_wide();
            debug_assert!(consistent, "a larger zone is not empty");
            return;
        }
        match self.width {
            1 => self.close_raised_rows(1, first),
            2 => self.close_raised_rows(2, first),
            3 => self.close_raised_rows(3, first),
            4 => self.close_raised_rows(4, first),
            width => self.close_raised_rows(width, first),
        }
        self.grown(self.largest.saturating_mul(self.dimension as i32));
    }

    #[inline(always)]
    fn close_raised_rows(&mut self, width: usize, first: bool) {
        let Dbm { entries, scratch, .. } = self;
        let Scratch { prepared, changed, pivots, .. } = scratch;
        for &k in &*pivots {
            let (chunk, lane) = (k / LANES, k % LANES);
            prepared.set(Bound::ZERO.0, &entries[k * width..][..width]);
            if first {
                let row = &mut entries[..width];
                prepared.relax(row, row[chunk][lane]);
            }
            for &i in &*changed {
                let row = &mut entries[i * width..][..width];
                let number = row[chunk][lane];
                if width <= UNROLLED || number != INFINITE {
                    prepared.relax(row, number);
                }
            }
        }
        prepared.set(Bound::ZERO.0, &entries[..width]);
        for &i in &*changed {
            let row = &mut entries[i * width..][..width];
            prepared.relax(row, row[0][0]);
        }
    }
}

/// Raises the entries of a row except its diagonal; returns whether any changed.
#[inline(always)]
fn raise_row<const PLUS: bool>(row: &mut [Lanes], columns: &[Lanes], ceiling: i32, diagonal: usize) -> bool {
    let mut differs = [0; LANES];
    for chunk in 0..row.len() {
        let (old, limits) = (row[chunk], columns[chunk]);
        let mut new = [0; LANES];
        for lane in 0..LANES {
            let (most, least) = if PLUS {
                (ceiling.min(limits[lane]), old[lane])
            } else {
                (ceiling, limits[lane].max(old[lane]))
            };
            let raised = if old[lane] > most { INFINITE } else { least };
            // A comparison instead of a later correction: loading a vector soon after writing one
            // of its lanes stalls.
            let on = (chunk * LANES + lane) as i32 == diagonal as i32;
            new[lane] = if on { old[lane] } else { raised };
            differs[lane] |= old[lane] ^ new[lane];
        }
        row[chunk] = new;
    }
    differs != [0; LANES]
}
