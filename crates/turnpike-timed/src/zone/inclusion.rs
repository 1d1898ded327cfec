//! When one zone makes another superfluous: inclusion, and simulation by what clocks are still
//! compared with.

use std::cell::RefCell;

use super::lanes::none_less;
use super::{Bound, Dbm, NO_BOUND};

/// Arrays of lanes that are compared before the outcome is looked at.
const BLOCK: usize = 8;

thread_local! {
    /// The thresholds of a test under way.
    static THRESHOLDS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

impl Dbm {
    /// Whether every valuation of `other` is in this zone.
    pub fn includes(&self, other: &Dbm) -> bool {
        self.dimension == other.dimension
            // A few at a time, so that most differences are seen early.
            && self.entries.chunks(BLOCK).zip(other.entries.chunks(BLOCK)).all(|(a, b)| none_less(a, b))
    }

    /// Whether every valuation of `other` is simulated by one of this zone (aLU inclusion).
    ///
    /// A valuation simulates another when every clock has the same value, or one that is smaller
    /// yet above the lower bound, or one that is larger while the other's is above the upper bound:
    /// no test can tell. Bounds are by row, starting with clock row 1 at index 0, [`NO_BOUND`]
    /// where there is none.
    pub fn simulates(&self, other: &Dbm, lower: &[i32], upper: &[i32]) -> bool {
        debug_assert!(lower.len() + 1 == self.dimension && upper.len() + 1 == self.dimension);
        self.dimension == other.dimension
            && with_thresholds(other.flat()[1..].iter().copied(), upper, |thresholds| {
                let mut rows = self.rows().zip(other.rows()).zip(lower_bounds(lower));
                !rows.any(|((bigger, smaller), lower)| {
                    lower != NO_BOUND && escapes(bigger, smaller, thresholds, lower)
                })
            })
    }
}

/// Lower bounds by row, that of the constant zero first.
pub(super) fn lower_bounds(lower: &[i32]) -> impl Iterator<Item = i32> {
    std::iter::once(0).chain(lower.iter().copied())
}

/// Calls back with what the clocks' least values, row 0 of the smaller zone, must be compared with:
/// the values themselves, unless the clock is above its upper bound and cannot tell anything apart.
pub(super) fn with_thresholds<T>(
    least: impl Iterator<Item = i32>,
    upper: &[i32],
    run: impl FnOnce(&mut [i32]) -> T,
) -> T {
    THRESHOLDS.with_borrow_mut(|known| {
        known.clear();
        known.push(Bound::ZERO.0);
        known.extend(thresholds(least, upper));
        run(known)
    })
}

/// The same for each clock.
pub(super) fn thresholds(least: impl Iterator<Item = i32>, upper: &[i32]) -> impl Iterator<Item = i32> {
    least.zip(upper).map(|(least, &upper)| {
        let compared = upper != NO_BOUND && least >= Bound::weak(-upper.clamp(-Bound::LIMIT, Bound::LIMIT)).0;
        if compared { least } else { i32::MIN }
    })
}

/// Whether a row shows that a valuation of the smaller zone is not simulated: below the bigger
/// zone's bound there is none that the row's clock, above its lower bound, could be moved to.
#[inline]
pub(super) fn escapes(bigger: &[i32], smaller: &[i32], thresholds: &[i32], lower: i32) -> bool {
    let strict = Bound::strict(-lower.clamp(-Bound::LIMIT, Bound::LIMIT)).0;
    let length = bigger.len().min(smaller.len()).min(thresholds.len());
    let (bigger, smaller, thresholds) = (&bigger[..length], &smaller[..length], &thresholds[..length]);
    let mut escapes = 0;
    for x in 0..length {
        // Infinite bounds of the bigger zone are never less than those of the smaller one.
        let less = bigger[x] < smaller[x];
        escapes |= i32::from(less & ((bigger[x] & !1) + strict < thresholds[x]));
    }
    escapes != 0
}
