//! Difference bound matrices.

use super::Bound;

/// A clock without a bound of that kind: minus infinity.
pub const NO_BOUND: i32 = i32::MIN;

/// How zones are made coarser so that there are finitely many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extrapolation {
    /// Not at all: exact, but the graph may be infinite.
    None,
    /// By the largest constant of each clock.
    M,
    /// The same, coarser where the zone lies above the constants.
    MPlus,
    /// By lower and upper bounds apart.
    Lu,
    /// The same, coarser where the zone lies above the constants: what TChecker does.
    LuPlus,
}

/// Where the value of a clock comes from when a matrix is rebuilt: a row of the old one (0: the constant zero) plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Row of the old matrix.
    pub row: u32,
    /// What is added, not negative unless `row` is 0 and the sum is not.
    pub offset: i32,
}

/// A closed difference bound matrix, never empty unless an operation just said so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dbm {
    dimension: usize,
    entries: Vec<Bound>,
}

impl Dbm {
    /// All clocks zero.
    pub fn zero(dimension: usize) -> Dbm {
        let _ = dimension;
        unimplemented!()
    }

    /// All valuations.
    pub fn universe(dimension: usize) -> Dbm {
        let _ = dimension;
        unimplemented!()
    }

    /// Rows, the constant zero included.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The bound on `x_i - x_j`.
    pub fn get(&self, i: usize, j: usize) -> Bound {
        self.entries[i * self.dimension + j]
    }

    /// Conjoins `x_i - x_j` with a bound; false when nothing is left (the matrix is then worthless).
    #[must_use]
    pub fn conjoin(&mut self, i: usize, j: usize, bound: Bound) -> bool {
        let _ = (i, j, bound);
        unimplemented!()
    }

    /// Lets time pass.
    pub fn up(&mut self) {
        unimplemented!()
    }

    /// All valuations from which time leads here.
    pub fn down(&mut self) {
        unimplemented!()
    }

    /// Becomes the matrix whose row `i` is the clock that `origins[i - 1]` tells of `source`: resets, copies, shifts and the change to another set of
    /// active clocks in one pass. The result is closed because `source` is.
    pub fn gather(&mut self, source: &Dbm, origins: &[Origin]) {
        let _ = (source, origins);
        unimplemented!()
    }

    /// Makes the zone coarser; bounds are by row, starting with clock row 1 at index 0, [`NO_BOUND`] where there is none.
    pub fn extrapolate(&mut self, extrapolation: Extrapolation, lower: &[i32], upper: &[i32]) {
        let _ = (extrapolation, lower, upper);
        unimplemented!()
    }

    /// Whether every valuation of `other` is in this zone.
    pub fn includes(&self, other: &Dbm) -> bool {
        let _ = other;
        unimplemented!()
    }

    /// Whether every valuation of `other` is simulated by one of this zone (aLU inclusion).
    pub fn simulates(&self, other: &Dbm, lower: &[i32], upper: &[i32]) -> bool {
        let _ = (other, lower, upper);
        unimplemented!()
    }
}
