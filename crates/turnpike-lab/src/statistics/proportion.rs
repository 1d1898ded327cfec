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
    fn nothing_tried_says_nothing() {
        let nothing = Proportion::of([]);
        assert_eq!((nothing.rate(), nothing.interval()), (None, None));
        assert_eq!(Proportion::of([true, false, true]).rate(), Some(2.0 / 3.0));
    }
}
