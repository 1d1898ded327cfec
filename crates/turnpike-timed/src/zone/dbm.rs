//! Difference bound matrices, and the operations that keep them closed without computing shortest
//! paths.
//!
//! # Growing numbers
//!
//! Without extrapolation the bounds of a zone grow with every iteration of a loop in the model.
//! Each matrix therefore has an upper limit on its finite entries (`largest`), which operations
//! raise by the most they can add. Entries are inspected only when the limit passes [`FINITE`]. An
//! entry that really is out of range is replaced by a weaker bound, and [`Dbm::overflowed`] holds
//! from then on: the zone is too large, never too small, and may not be closed. Callers must report
//! this instead of continuing.

use super::Bound;
use super::lanes::{LANES, Lanes, Prepared};

/// The value of a missing clock bound: minus infinity.
pub const NO_BOUND: i32 = i32::MIN;

/// Packed finite entries have at most this absolute value, so that sums of three stay below
/// infinity.
pub(super) const FINITE: i32 = 2 * Bound::LIMIT;

/// Infinity as an entry.
pub(super) const INFINITE: i32 = Bound::INFINITY.0;

/// The source of a clock's value when a matrix is rebuilt: a row of the old matrix (0: the constant
/// zero) plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Row of the old matrix.
    pub row: u32,
    /// The offset. If it is negative, the zone must ensure that the value does not become negative.
    pub offset: i32,
}

/// A closed difference bound matrix, non-empty unless the last operation reported otherwise.
///
/// Buffers are reused: once they are large enough no operation on two matrices allocates.
#[derive(Debug)]
pub struct Dbm {
    pub(super) dimension: usize,
    /// Number of lane arrays per row.
    pub(super) width: usize,
    /// Packed bounds, row by row; those beyond `dimension` in a row are infinite.
    pub(super) entries: Vec<Lanes>,
    /// No finite entry has a larger absolute value.
    pub(super) largest: i32,
    pub(super) overflowed: bool,
    pub(super) scratch: Scratch,
}

/// Temporary buffers of operations.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The row that is added to all others.
    pub(super) prepared: Prepared,
    /// One number per column.
    pub(super) columns: Vec<Lanes>,
    /// Rows that closing may change, and the pivot rows.
    pub(super) changed: Vec<usize>,
    pub(super) pivots: Vec<usize>,
    /// Entries in a flat list.
    pub(super) flat: Vec<i32>,
    /// Columns whose position changes, with their sources.
    moved: Vec<(usize, usize)>,
}

/// The zone without clocks.
impl Default for Dbm {
    fn default() -> Self {
        Dbm::zero(1)
    }
}

/// Equality of the sets of valuations, for the same number of clocks.
impl PartialEq for Dbm {
    fn eq(&self, other: &Dbm) -> bool {
        self.dimension == other.dimension && self.entries == other.entries
    }
}

impl Eq for Dbm {}

impl Clone for Dbm {
    fn clone(&self) -> Dbm {
        let mut copy = Dbm::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Dbm) {
        self.dimension = source.dimension;
        self.width = source.width;
        self.entries.clone_from(&source.entries);
        self.largest = source.largest;
        self.overflowed = source.overflowed;
    }
}

impl Dbm {
    /// All clocks zero.
    pub fn zero(dimension: usize) -> Dbm {
        let mut zone = Dbm {
            dimension: 0,
            width: 0,
            entries: Vec::new(),
            largest: 1,
            overflowed: false,
            scratch: Scratch::default(),
        };
        zone.reshape(dimension);
        zone.rows_mut().for_each(|row| row.fill(Bound::ZERO.0));
        zone
    }

    /// All valuations.
    pub fn universe(dimension: usize) -> Dbm {
        let mut zone = Dbm::zero(dimension);
        for (i, row) in zone.rows_mut().enumerate().skip(1) {
            row.fill(INFINITE);
            row[i] = Bound::ZERO.0;
        }
        zone
    }

    /// The zone with these bounds, row by row, four bytes each; `None` if they do not form a square
    /// matrix. They must come from a zone, so that they are closed.
    pub fn from_bounds(bytes: &[u8]) -> Option<Dbm> {
        let (bounds, rest) = bytes.as_chunks();
        let dimension = bounds.len().isqrt();
        if dimension == 0 || dimension * dimension != bounds.len() || !rest.is_empty() {
            return None;
        }
        let mut zone = Dbm::zero(dimension);
        for (row, bounds) in zone.rows_mut().zip(bounds.chunks_exact(dimension)) {
            for (entry, &bound) in row.iter_mut().zip(bounds) {
                *entry = i32::from_le_bytes(bound);
            }
        }
        zone.settle();
        Some(zone)
    }

    /// Resizes the matrix; the caller must fill all entries except the padding.
    pub(super) fn reshape(&mut self, dimension: usize) {
        let dimension = dimension.max(1);
        if self.dimension != dimension {
            self.dimension = dimension;
            self.width = dimension.div_ceil(LANES);
            self.entries.clear();
            self.entries.resize(dimension * self.width, [INFINITE; LANES]);
        }
        self.largest = Bound::ZERO.0;
        self.overflowed = false;
    }

    /// Number of rows, including the constant zero.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The bound on `x_i - x_j`.
    pub fn get(&self, i: usize, j: usize) -> Bound {
        debug_assert!(j < self.dimension);
        Bound(self.flat()[i * self.stride() + j])
    }

    /// Whether a bound overflowed: the zone then contains more valuations than it should.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Distance of consecutive rows, in entries.
    #[inline]
    pub(super) fn stride(&self) -> usize {
        self.width * LANES
    }

    /// All entries, including padding.
    #[inline]
    pub(super) fn flat(&self) -> &[i32] {
        self.entries.as_flattened()
    }

    /// Rows without their padding.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[i32]> {
        self.flat().chunks_exact(self.stride()).map(|row| &row[..self.dimension])
    }

    /// Rows without their padding.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [i32]> {
        let (stride, dimension) = (self.stride(), self.dimension);
        self.entries.as_flattened_mut().chunks_exact_mut(stride).map(move |row| &mut row[..dimension])
    }

    /// Lets time pass.
    pub fn up(&mut self) {
        let stride = self.stride();
        let entries = self.entries.as_flattened_mut();
        for i in 1..self.dimension {
            entries[i * stride] = INFINITE;
        }
    }

    /// All valuations from which a delay leads into the zone.
    pub fn down(&mut self) {
        let (stride, dimension) = (self.stride(), self.dimension);
        let (first, rest) = self.entries.as_flattened_mut().split_at_mut(stride);
        first[1..dimension].fill(Bound::ZERO.0);
        for row in rest.chunks_exact(stride) {
            for (least, &entry) in first[1..].iter_mut().zip(&row[1..]) {
                *least = entry.min(*least);
            }
        }
    }

    /// Removes all constraints on a clock.
    pub fn free(&mut self, clock: usize) {
        for (i, row) in self.rows_mut().enumerate() {
            row[clock] = row[0];
            if i == clock {
                row.fill(INFINITE);
                row[clock] = Bound::ZERO.0;
            }
        }
    }

    /// Whether time can pass forever within the zone.
    pub fn can_diverge(&self) -> bool {
        self.rows().skip(1).all(|row| row[0] == INFINITE)
    }

    /// Replaces the matrix by one whose row `i` is the clock that `origins[i - 1]` denotes in
    /// `source`: resets, copies, shifts and changes of the active clocks in one pass. The result is
    /// closed because `source` is.
    pub fn gather(&mut self, source: &Dbm, origins: &[Origin]) {
        self.reshape(origins.len() + 1);
        self.overflowed = source.overflowed;
        let (stride, from_stride) = (self.stride(), source.stride());
        let Dbm { dimension, width, entries, scratch, .. } = self;
        let moved = &mut scratch.moved;
        moved.clear();
        let mut farthest = 0;
        for (j, origin) in origins.iter().enumerate() {
            let from = origin.row as usize;
            if from != j + 1 {
                moved.push((j + 1, from));
            }
            farthest = farthest.max(origin.offset.unsigned_abs());
        }
        let from_row = |i: usize| if i == 0 { 0 } else { origins[i - 1].row as usize };
        if source.dimension == *dimension && 2 * moved.len() <= *dimension {
            // Most columns keep their position.
            for i in 0..*dimension {
                let from = &source.entries[from_row(i) * *width..][..*width];
                let row = &mut entries[i * *width..][..*width];
                row.copy_from_slice(from);
                let (from, row) = (from.as_flattened(), row.as_flattened_mut());
                for &(column, origin) in &*moved {
                    row[column] = from[origin];
                }
                row[i] = Bound::ZERO.0;
            }
        } else {
            let (from, entries) = (source.flat(), entries.as_flattened_mut());
            for i in 0..*dimension {
                let from = &from[from_row(i) * from_stride..][..from_stride];
                let row = &mut entries[i * stride..][..*dimension];
                row[0] = from[0];
                for (entry, origin) in row[1..].iter_mut().zip(origins) {
                    *entry = from[origin.row as usize];
                }
                row[i] = Bound::ZERO.0;
            }
        }
        self.largest = source.largest;
        if farthest != 0 {
            self.shift(origins);
        }
    }

    /// Adds the offsets to the clocks.
    fn shift(&mut self, origins: &[Origin]) {
        let limit = Bound::LIMIT;
        let overflowed = origins.iter().any(|origin| origin.offset.unsigned_abs() > limit.unsigned_abs());
        self.overflowed |= overflowed;
        let shift = |i: usize| if i == 0 { 0 } else { 2 * origins[i - 1].offset.clamp(-limit, limit) };
        let mut farthest = 0;
        for (i, row) in self.rows_mut().enumerate() {
            farthest = farthest.max(shift(i).abs());
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = if *entry == INFINITE { INFINITE } else { *entry + (shift(i) - shift(j)) };
            }
        }
        self.grown(self.largest + 2 * farthest);
    }

    /// Sets the limit on finite entries, and inspects them if it is out of range.
    #[inline]
    pub(super) fn grown(&mut self, largest: i32) {
        self.largest = largest;
        if largest > FINITE {
            self.settle();
        }
    }

    /// Computes the largest entry, and weakens entries that are out of range.
    #[cold]
    pub(super) fn settle(&mut self) {
        let entries = self.entries.as_flattened_mut();
        let size = |entry: i32| if entry == INFINITE { 0 } else { entry.abs() };
        self.largest = entries.iter().fold(1, |most, &entry| most.max(size(entry)));
        if self.largest <= FINITE {
            return;
        }
        self.overflowed = true;
        self.largest = FINITE;
        for entry in entries {
            *entry = if *entry > FINITE { INFINITE } else { (*entry).max(-FINITE) };
        }
    }
}
