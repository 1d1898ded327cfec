//! When one zone makes another redundant: inclusion, and simulation with respect to the bounds that
//! clocks are still compared with.

use std::cell::RefCell;

use super::lanes::none_less;
use super::{Bound, Dbm, NO_BOUND};

/// Lane arrays compared before the result is tested.
const BLOCK: usize = 8;

thread_local! {
    /// The thresholds of the current test.
    static THRESHOLDS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

impl Dbm {
    /// Whether every valuation of `other` is in this zone.
    pub fn includes(&self, other: &Dbm) -> bool {
        self.dimension == other.dimension
            // A few at a time, so that most differences are found early.
            && self.entries.chunks(BLOCK).zip(other.entries.chunks(BLOCK)).all(|(a, b)| none_less(a, b))
    }

    /// Whether every valuation of `other` is simulated by one of this zone (aLU inclusion).
    ///
    /// A valuation simulates another if every clock has the same value, or one that is smaller yet
    /// above the lower bound, or one that is larger while the other's is above the upper bound: no
    /// test can distinguish them. Bounds are by row, starting with row 1 at index 0, [`NO_BOUND`]
    /// if missing.
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

/// Lower bounds by row, starting with the constant zero.
pub(super) fn lower_bounds(lower: &[i32]) -> impl Iterator<Item = i32> {
    std::iter::once(0).chain(lower.iter().copied())
}

/// Calls back with the thresholds for the clocks' least values (row 0 of the smaller zone): the
/// values themselves, unless the clock exceeds its upper bound, where no test depends on it.
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

/// The threshold of each clock.
pub(super) fn thresholds(least: impl Iterator<Item = i32>, upper: &[i32]) -> impl Iterator<Item = i32> {
    least.zip(upper).map(|(least, &upper)| {
        let compared = upper != NO_BOUND && least >= Bound::weak(-upper.clamp(-Bound::LIMIT, Bound::LIMIT)).0;
        if compared { least } else { i32::MIN }
    })
}

/// Whether a row proves that some valuation of the smaller zone is not simulated: the bigger zone's
/// bound leaves no value, above its lower bound, to which the row's clock could move.
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
