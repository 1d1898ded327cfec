//! Pearson's test of observed counts against exact probabilities.

use std::collections::BTreeMap;

/// The point that a standard normal variable exceeds with probability 10⁻⁵.
const NORMAL_QUANTILE: f64 = 4.264_891;
/// Cells that expect fewer observations are put together.
const LEAST_EXPECTED: f64 = 8.0;

/// How well counts fit probabilities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) statistic: f64,
    pub(super) freedom: usize,
    /// Observations that cannot happen.
    pub(super) impossible: u64,
}

impl Fit {
    /// Compares counts with the probabilities of all possible outcomes.
    ///
    /// # Panics
    /// When the probabilities do not sum to 1, or there is only one outcome.
    pub(super) fn new<K: Ord>(observed: &BTreeMap<K, u64>, expected: &BTreeMap<K, f64>) -> Self {
        let total: f64 = expected.values().sum();
        assert!((total - 1.0).abs() < 1e-9, "the probabilities sum to {total}");
        let impossible =
            observed.iter().filter(|(key, _)| !expected.contains_key(key)).map(|(_, count)| count).sum();
        let runs = observed.values().sum::<u64>() as f64;
        let mut cells: Vec<(f64, f64)> = Vec::new();
        let mut rare = (0.0, 0.0);
        for (key, probability) in expected {
            let cell = (probability * runs, *observed.get(key).unwrap_or(&0) as f64);
            if cell.0 < LEAST_EXPECTED {
                rare = (rare.0 + cell.0, rare.1 + cell.1);
            } else {
                cells.push(cell);
            }
        }
        if rare.0 >= LEAST_EXPECTED {
            cells.push(rare);
        } else if let Some(smallest) = cells.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
            *smallest = (smallest.0 + rare.0, smallest.1 + rare.1);
        }
        let statistic = cells.iter().map(|(expected, count)| (count - expected).powi(2) / expected).sum();
        assert!(cells.len() > 1, "there is nothing to compare");
        Fit { statistic, freedom: cells.len() - 1, impossible }
    }

    /// What the statistic exceeds with probability 10⁻⁵ when the probabilities are the true ones.
    pub(super) fn bound(&self) -> f64 {
        quantile(self.freedom, NORMAL_QUANTILE)
    }

    #[track_caller]
    pub(super) fn assert_good(&self, what: &str) {
        let bound = self.bound();
        assert_eq!(self.impossible, 0, "{what}: observations that cannot happen");
        assert!(
            self.statistic < bound,
            "{what}: chi-square {:.1} with {} degrees of freedom, bound {bound:.1}",
            self.statistic,
            self.freedom
        );
    }

    /// Fails unless the misfit is beyond doubt: three times the bound.
    #[track_caller]
    pub(super) fn assert_bad(&self, what: &str) {
        let bound = self.bound();
        assert!(
            self.statistic > 3.0 * bound,
            "{what} passes: chi-square {:.1} with {} degrees of freedom, bound {bound:.1}",
            self.statistic,
            self.freedom
        );
    }
}

/// The chi-square quantile for a normal quantile, by the cube root of Wilson and Hilferty. In the far tail it errs
/// upwards: by 7 % for one degree of freedom, 1 % for ten, less beyond.
fn quantile(freedom: usize, normal: f64) -> f64 {
    let freedom = freedom as f64;
    let variance = 2.0 / (9.0 * freedom);
    freedom * (1.0 - variance + normal * variance.sqrt()).powi(3)
}

#[test]
fn quantiles_agree_with_tables() {
    const ONE_IN_20: f64 = 1.644_854;
    const ONE_IN_1000: f64 = 3.090_232;
    const ONE_IN_10000: f64 = 3.719_016;
    for (freedom, normal, table) in [
        (3, ONE_IN_20, 7.815),
        (10, ONE_IN_20, 18.307),
        (100, ONE_IN_20, 124.342),
        (5, ONE_IN_1000, 20.515),
        (30, ONE_IN_1000, 59.703),
        (100, ONE_IN_1000, 149.449),
        (10, ONE_IN_10000, 35.564),
        (50, ONE_IN_10000, 95.969),
    ] {
        let error = quantile(freedom, normal) / table - 1.0;
        assert!(error.abs() < 0.015, "{freedom} degrees of freedom: off by {:.2} %", 100.0 * error);
    }
}

#[test]
fn a_fair_die_fits_and_a_loaded_one_does_not() {
    let fair: BTreeMap<u32, f64> = (1..=6).map(|face| (face, 1.0 / 6.0)).collect();
    let counts = |faces: [u64; 6]| (1..).zip(faces).collect::<BTreeMap<u32, u64>>();
    let good = Fit::new(&counts([98, 105, 101, 92, 107, 97]), &fair);
    assert_eq!(good.freedom, 5);
    good.assert_good("a fair die");
    Fit::new(&counts([60, 60, 60, 60, 60, 300]), &fair).assert_bad("a loaded die");
}

#[test]
#[should_panic(expected = "a coin: observations that cannot happen")]
fn the_impossible_is_noticed() {
    let coin = BTreeMap::from([(1, 0.5), (2, 0.5)]);
    Fit::new(&BTreeMap::from([(1, 50), (2, 49), (7, 1)]), &coin).assert_good("a coin");
}
