//! How often covering by simulation is tried.
//!
//! Simulation leaves out more than inclusion, but where zones were made as coarse as they may be
//! there is often nothing more to leave out, and every state that is new was compared twice for
//! nothing. So simulation has to earn its tests: it is given a sixteenth of what inclusion makes,
//! and more for every state that it covers and inclusion does not. Tests are counted, time is not
//! measured, so that a search does the same each time. A state that is kept though another one
//! simulates it costs time and changes no answer.

/// Tests that may be made before anything was earned.
const BEGINNING: i64 = 1 << 14;
/// Tests that may be saved up at most.
const MOST: i64 = 1 << 16;
/// What a state that need not be explored is worth, in tests.
const COVERED: i64 = 1 << 10;
/// What a state that is put out is worth, which may have been explored before.
const PUT_OUT: i64 = 1 << 5;
/// What is spent on a list whatever its length.
const LIST: i64 = 8;
/// Simulation is given one test for so many of inclusion.
const SHARE: i64 = 16;

/// The tests that simulation may still make.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    /// In parts of a test, as many as [`SHARE`].
    left: i64,
}

impl Default for Credit {
    fn default() -> Self {
        Credit { left: BEGINNING * SHARE }
    }
}

impl Credit {
    /// Inclusion made so many tests.
    #[inline]
    pub(super) fn earn(&mut self, tests: usize) {
        self.add(tests as i64);
    }

    /// Simulation covered a state that would have been explored.
    pub(super) fn covered(&mut self) {
        self.add(COVERED * SHARE);
    }

    /// Simulation put a state out.
    pub(super) fn put_out(&mut self) {
        self.add(PUT_OUT * SHARE);
    }

    /// Whether a list of so many states may be tested, which is paid for then.
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

    /// Of so many lists of `length`, how many are tested when every `success`th test covers a
    /// state.
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
