//! Difference bound matrices, and the operations that keep them closed without any search for shorter paths.
//!
//! # Numbers that grow
//! Without extrapolation the bounds of a zone grow with every loop of the model. A matrix therefore knows a number that none of its finite
//! entries exceeds (`largest`): operations raise it by what they may add at most, and only when it passes [`FINITE`] are the entries themselves looked at.
//! Should one really be out of range it is replaced by a weaker bound, and [`Dbm::overflowed`] holds from then on: the zone is too large
//! (never too small) and may not be closed; whoever explores must report that instead of going on.

use super::Bound;

/// A clock without a bound of that kind: minus infinity.
pub const NO_BOUND: i32 = i32::MIN;

/// Packed finite entries stay within plus and minus this, so that sums of three of them are less than infinity.
pub(super) const FINITE: i32 = 2 * Bound::LIMIT;

/// Infinity among the entries.
pub(super) const INFINITE: i32 = Bound::INFINITY.0;

/// Rows are padded to a multiple of this with infinity, for the sake of vector instructions.
pub(super) const LANES: usize = 4;

/// Where the value of a clock comes from when a matrix is rebuilt: a row of the old one (0: the constant zero) plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Row of the old matrix.
    pub row: u32,
    /// What is added. If negative, the zone must ensure that no value becomes so.
    pub offset: i32,
}

/// A closed difference bound matrix, never empty unless an operation just said so.
///
/// Buffers are reused: once they are large enough no operation on two matrices allocates.
#[derive(Debug)]
pub struct Dbm {
    pub(super) dimension: usize,
    /// Entries from one row to the next.
    pub(super) stride: usize,
    /// Packed bounds, row by row; those beyond `dimension` in a row are infinite.
    pub(super) entries: Vec<i32>,
    /// No finite entry is larger in size.
    pub(super) largest: i32,
    pub(super) overflowed: bool,
    /// Room for the rows that an operation adds to all others.
    pub(super) scratch: Scratch,
}

/// A row made ready for being added to others; see the module on closure.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) weak: Vec<i32>,
    pub(super) strict: Vec<i32>,
    pub(super) row: Vec<i32>,
}

/// The zone without clocks.
impl Default for Dbm {
    fn default() -> Self {
        Dbm::zero(1)
    }
}

/// The same valuations over the same number of clocks.
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
        self.stride = source.stride;
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
            stride: 0,
            entries: Vec::new(),
            largest: 1,
            overflowed: false,
            scratch: Scratch::default(),
        };
        zone.reshape(dimension);
        let dimension = zone.dimension;
        for row in zone.rows_mut() {
            row[..dimension].fill(Bound::ZERO.0);
        }
        zone
    }

    /// All valuations.
    pub fn universe(dimension: usize) -> Dbm {
        let mut zone = Dbm::zero(dimension);
        let dimension = zone.dimension;
        for (i, row) in zone.rows_mut().enumerate().skip(1) {
            row[..dimension].fill(INFINITE);
            row[i] = Bound::ZERO.0;
        }
        zone
    }

    /// Becomes a matrix of this dimension whose entries the caller is about to fill; the padding is right already.
    pub(super) fn reshape(&mut self, dimension: usize) {
        let dimension = dimension.max(1);
        if self.dimension != dimension {
            self.dimension = dimension;
            self.stride = dimension.next_multiple_of(LANES);
            self.entries.clear();
            self.entries.resize(dimension * self.stride, INFINITE);
        }
        self.largest = Bound::ZERO.0;
        self.overflowed = false;
    }

    /// Rows, the constant zero included.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The bound on `x_i - x_j`.
    pub fn get(&self, i: usize, j: usize) -> Bound {
        debug_assert!(j < self.dimension);
        Bound(self.entries[i * self.stride + j])
    }

    /// Whether a number became too large for exact bounds: the zone now has more valuations than it should.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub(super) fn row(&self, i: usize) -> &[i32] {
        &self.entries[i * self.stride..][..self.stride]
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [i32] {
        &mut self.entries[i * self.stride..][..self.stride]
    }

    /// All rows, padding included.
    pub(super) fn rows(&self) -> std::slice::ChunksExact<'_, i32> {
        self.entries.chunks_exact(self.stride.max(1))
    }

    pub(super) fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, i32> {
        self.entries.chunks_exact_mut(self.stride.max(1))
    }

    /// Lets time pass.
    pub fn up(&mut self) {
        for row in self.rows_mut().skip(1) {
            row[0] = INFINITE;
        }
    }

    /// All valuations from which time leads here.
    pub fn down(&mut self) {
        let (first, rest) = self.entries.split_at_mut(self.stride);
        first[1..self.dimension].fill(Bound::ZERO.0);
        for row in rest.chunks_exact(self.stride) {
            for (least, &entry) in first[1..].iter_mut().zip(&row[1..]) {
                *least = entry.min(*least);
            }
        }
    }

    /// Forgets what is known of a clock.
    pub fn free(&mut self, clock: usize) {
        let dimension = self.dimension;
        for row in self.rows_mut() {
            row[clock] = row[0];
        }
        let row = self.row_mut(clock);
        row[..dimension].fill(INFINITE);
        row[clock] = Bound::ZERO.0;
    }

    /// Whether time can pass forever within the zone.
    pub fn can_diverge(&self) -> bool {
        self.rows().skip(1).all(|row| row[0] == INFINITE)
    }

    /// Whether every clock is bounded from above.
    pub fn is_bounded(&self) -> bool {
        self.rows().skip(1).all(|row| row[0] != INFINITE)
    }

    /// Becomes the matrix whose row `i` is the clock that `origins[i - 1]` tells of `source`: resets, copies, shifts and the change to another set of
    /// active clocks in one pass. The result is closed because `source` is.
    pub fn gather(&mut self, source: &Dbm, origins: &[Origin]) {
        self.reshape(origins.len() + 1);
        self.overflowed = source.overflowed;
        self.largest = source.largest;
        let mut farthest = 0;
        let shift = |origin: &Origin| 2 * origin.offset.clamp(-Bound::LIMIT, Bound::LIMIT);
        for origin in origins {
            self.overflowed |= origin.offset.unsigned_abs() > Bound::LIMIT.unsigned_abs();
            farthest = farthest.max(shift(origin).abs());
        }
        let zero = Origin { row: 0, offset: 0 };
        let all = || std::iter::once(&zero).chain(origins);
        for ((i, row), origin) in self.entries.chunks_exact_mut(self.stride).enumerate().zip(all()) {
            let from = source.row(origin.row as usize);
            if farthest == 0 {
                for (entry, column) in row.iter_mut().zip(all()) {
                    *entry = from[column.row as usize];
                }
            } else {
                for (entry, column) in row.iter_mut().zip(all()) {
                    let old = from[column.row as usize];
                    *entry = if old == INFINITE { old } else { old + (shift(origin) - shift(column)) };
                }
            }
            row[i] = Bound::ZERO.0;
        }
        self.grown(self.largest + 2 * farthest);
    }

    /// Notes that finite entries are now at most `largest` in size, and looks whether that is still in range.
    #[inline]
    pub(super) fn grown(&mut self, largest: i32) {
        self.largest = largest;
        if largest > FINITE {
            self.settle();
        }
    }

    /// Finds the true size of the largest entry, and weakens those out of range.
    #[cold]
    pub(super) fn settle(&mut self) {
        let size = |entry: i32| if entry == INFINITE { 0 } else { entry.abs() };
        self.largest = self.entries.iter().fold(1, |most, &entry| most.max(size(entry)));
        if self.largest <= FINITE {
            return;
        }
        self.overflowed = true;
        self.largest = FINITE;
        for entry in &mut self.entries {
            *entry = if *entry > FINITE { INFINITE } else { (*entry).max(-FINITE) };
        }
    }
}
