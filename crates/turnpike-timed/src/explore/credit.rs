//! Limits how often covering by simulation is tried.
//!
//! Simulation covers more states than inclusion, but where extrapolated zones are already as coarse
//! as possible there is often nothing more to cover, and every new state is compared twice in vain.
//! So simulation has to earn its tests: it may make a sixteenth as many as inclusion makes, and
//! more for every state that only simulation covers. Tests are counted rather than timed, so that
//! searches are reproducible. A state kept although another simulates it costs time and changes no
//! answer.

/// Initial credit, in tests.
const BEGINNING: i64 = 1 << 14;
/// Largest credit that can accumulate, in tests.
const MOST: i64 = 1 << 16;
/// Reward for covering a new state, in tests.
const COVERED: i64 = 1 << 10;
/// Reward for evicting a known state, which may have been explored already.
const PUT_OUT: i64 = 1 << 5;
/// Cost of testing a list, regardless of its length.
const LIST: i64 = 8;
/// Inclusion tests per simulation test.
const SHARE: i64 = 16;

/// The number of tests that simulation may still make.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// In fractions `1 / SHARE` of a test.
    left: i64,
}

impl Default for Credit {
    fn default() -> Self {
        Credit { left: BEGINNING * SHARE }
    }
}

impl Credit {
    /// Called after inclusion made some tests.
    #[inline]
    pub(super) fn earn(&mut self, tests: usize) {
        self.add(tests as i64);
    }

    /// Simulation covered a state that would have been explored.
    pub(super) fn covered(&mut self) {
        self.add(COVERED * SHARE);
    }

    /// Simulation evicted a state.
    pub(super) fn put_out(&mut self) {
        self.add(PUT_OUT * SHARE);
    }

    /// Whether a list of states may be tested; if so, the credit is charged.
    #[inline]
    pub(super) fn spend(&mut self, tests: usize) -> bool {
        let allowed = self.left > 0;
        if allowed {
            self.left -= (LIST + tests as i64) * SHARE;
        }
        allowed
    }

    fn add(&mut self, parts: i64) {
        self.left = (self.left + parts).min(MOST * SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these lists of `length` are tested if every `success`th test covers a state.
    fn tested(lists: usize, length: usize, success: usize) -> usize {
        let mut credit = Credit::default();
        let mut tested = 0;
        for _ in 0..lists {
            credit.earn(length);
            if credit.spend(length) {
                tested += 1;
                if tested % success == 0 {
                    credit.covered();
                }
            }
        }
        tested
    }

    #[test]
    fn what_is_in_vain_is_seldom_tried_and_never_given_up() {
        for length in [1, 5, 100, 10_000] {
            let lists = 1_000_000 / length + 100_000;
            let share = tested(lists, length, usize::MAX) as f64 / lists as f64;
            assert!(share < 0.1, "{share} of lists of {length}");
            let more = tested(2 * lists, length, usize::MAX);
            assert!(more > tested(lists, length, usize::MAX), "given up for lists of {length}");
        }
    }

    #[test]
    fn what_pays_is_always_tried() {
        for length in [1, 5, 100] {
            assert_eq!(tested(100_000, length, 5), 100_000, "lists of {length}");
        }
    }

    #[test]
    fn what_pays_late_is_tried_again() {
        let mut credit = Credit::default();
        let spend = |credit: &mut Credit, lists: usize, pays: bool| {
            let mut tested = 0;
            for _ in 0..lists {
                credit.earn(20);
                if credit.spend(20) {
                    tested += 1;
                    if pays {
                        credit.covered();
                    }
                }
            }
            tested
        };
        let before = spend(&mut credit, 100_000, false);
        assert!(before < 10_000, "{before}");
        let after = spend(&mut credit, 10_000, true);
        assert!(after > 9_900, "{after}");
        let again = spend(&mut credit, 100_000, false);
        assert!(again < 10_000, "{again}");
    }
}
