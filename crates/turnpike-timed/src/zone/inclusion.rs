//! When one zone makes another superfluous: inclusion, and simulation by what clocks are still compared with.

use super::dbm::INFINITE;
use super::{Bound, Dbm, NO_BOUND};

impl Dbm {
    /// Whether every valuation of `other` is in this zone.
    pub fn includes(&self, other: &Dbm) -> bool {
        self.dimension == other.dimension
            && self.rows().zip(other.rows()).all(|(bigger, smaller)| {
                bigger.iter().zip(smaller).fold(true, |all, (bigger, smaller)| all & (bigger >= smaller))
            })
    }

    /// Whether every valuation of `other` is simulated by one of this zone (aLU inclusion): one in which each clock is the same, or above its lower bound
    /// in both... as far as tests can tell. Bounds are by row, starting with clock row 1 at index 0, [`NO_BOUND`] where there is none.
    pub fn simulates(&self, other: &Dbm, lower: &[i32], upper: &[i32]) -> bool {
        debug_assert!(lower.len() + 1 == self.dimension && upper.len() + 1 == self.dimension);
        if self.dimension != other.dimension {
            return false;
        }
        let n = self.dimension;
        let least = &other.row(0)[..n];
        for (y, (bigger, smaller)) in self.rows().zip(other.rows()).enumerate() {
            let constant = if y == 0 { 0 } else { lower[y - 1] };
            if constant == NO_BOUND {
                continue;
            }
            let strict = 2 * -constant.clamp(-Bound::LIMIT, Bound::LIMIT);
            let bounds = std::iter::once(&0).chain(upper);
            for (((&bigger, &smaller), &least), &upper) in bigger.iter().zip(smaller).zip(least).zip(bounds) {
                if bigger < smaller
                    && bigger != INFINITE
                    && (bigger & !1) + strict < least
                    && upper != NO_BOUND
                    && least >= Bound::weak(-upper.clamp(-Bound::LIMIT, Bound::LIMIT)).0
                {
                    return false;
                }
            }
        }
        true
    }
}
