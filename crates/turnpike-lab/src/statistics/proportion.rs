//! How often something happened, and how sure that is.

/// The 97.5% quantile of the standard normal distribution: intervals cover 95%.
const Z: f64 = 1.959_963_984_540_054;

/// Successes among trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// How often it happened.
    pub successes: u64,
    /// How often it could have.
    pub trials: u64,
}

/// From low to high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies inside.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Proportion {
    /// Counts what is true.
    pub fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        outcomes.into_iter().fold(Proportion::default(), |sum, outcome| Proportion {
            successes: sum.successes + u64::from(outcome),
            trials: sum.trials + 1,
        })
    }

    /// The share of successes; `None` without trials.
    pub fn rate(self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    /// How likely two samples with as many successes together are to differ at least as much, if both come
    /// from the same rate: Fisher's exact test, two-sided.
    pub fn same_rate_as(self, other: Proportion) -> f64 {
        let (trials, successes) = (self.trials + other.trials, self.successes + other.successes);
        let ways = |k: u64| {
            log_binomial(self.trials, k) + log_binomial(other.trials, successes - k)
                - log_binomial(trials, successes)
        };
        let possible = successes.saturating_sub(other.trials)..=self.trials.min(successes);
        // A little slack, so that the other tail's equal term counts in spite of rounding.
        let seen = ways(self.successes) + 1e-7;
        possible.map(ways).filter(|&one| one <= seen).map(f64::exp).sum::<f64>().min(1.0)
    }

    /// Wilson's 95% interval, which is sensible for few trials and for rates near 0 and 1 too.
    pub fn interval(self) -> Option<Interval> {
        self.interval_at(Z)
    }

    /// Wilson's interval that reaches the normal quantile `z` on either side.
    pub fn interval_at(self, z: f64) -> Option<Interval> {
        let rate = self.rate()?;
        let n = self.trials as f64;
        let centre = rate + z * z / (2.0 * n);
        let spread = z * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z * z / n;
        Some(Interval {
            low: ((centre - spread) / scale).max(0.0),
            high: ((centre + spread) / scale).min(1.0),
        })
    }
}

/// The logarithm of the number of ways to choose `k` of `n`.
fn log_binomial(n: u64, k: u64) -> f64 {
    (1..=k.min(n - k)).map(|i| ((n - i + 1) as f64 / i as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilson_s() {
        // By hand for 8 of 10: centre 0.8 + 0.192073 = 0.992073, spread 1.959964 sqrt(0.016 + 0.009604) = 0.313617,
        // scale 1.384146.
        let interval = Proportion { successes: 8, trials: 10 }.interval().expect("there are trials");
        assert!((interval.low - 0.490_162).abs() < 1e-5, "{interval:?}");
        assert!((interval.high - 0.943_318).abs() < 1e-5, "{interval:?}");
        // 0 of n: high = z²/(n + z²).
        let none = Proportion { successes: 0, trials: 100 }.interval().expect("there are trials");
        assert!(none.low.abs() < 1e-12 && (none.high - 3.841_459 / 103.841_459).abs() < 1e-7, "{none:?}");
        let all = Proportion { successes: 100, trials: 100 }.interval().expect("there are trials");
        assert!((all.low - 100.0 / 103.841_459).abs() < 1e-7 && (all.high - 1.0).abs() < 1e-12, "{all:?}");
    }

    #[test]
    fn samples_of_one_rate_are_recognised() {
        // By hand: margins 4 and 4 of 8; 1/70 for each extreme, 16/70 next to it.
        let four = |successes| Proportion { successes, trials: 4 };
        assert!((four(4).same_rate_as(four(0)) - 2.0 / 70.0).abs() < 1e-9);
        assert!((four(3).same_rate_as(four(1)) - 34.0 / 70.0).abs() < 1e-9);
        assert!((four(2).same_rate_as(four(2)) - 1.0).abs() < 1e-9);
        let all = Proportion { successes: 400, trials: 400 };
        assert!((all.same_rate_as(Proportion { successes: 27, trials: 27 }) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_tried_says_nothing() {
        let nothing = Proportion::of([]);
        assert_eq!((nothing.rate(), nothing.interval()), (None, None));
        assert_eq!(Proportion::of([true, false, true]).rate(), Some(2.0 / 3.0));
    }
}
