//! Whether a published figure is the same as ours: two one-sided tests.
//!
//! A difference that matters is stated beforehand, as a margin. A figure is *equal* when both one-sided
//! tests at 5% reject a difference as large as the margin: our 90% interval lies within the margin around
//! the published figure. It is *different* when our 95% interval excludes the published figure and our
//! estimate is further away than the margin. Otherwise it is *near* when our 90% interval reaches no further
//! than the margin to either side, so that equality could have been shown, and *undecided* when there are too
//! few runs to tell.

use super::{Proportion, Summary};

/// What the tests say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Equivalence {
    /// As large a difference as the margin is rejected on both sides.
    Equal,
    /// Neither equality nor a difference is shown, though there are runs enough to show equality.
    Near,
    /// There are too few runs to tell.
    Undecided,
    /// A difference beyond the margin.
    Different,
}

/// The share of a published mean by which ours may differ.
const MEAN_MARGIN: f64 = 0.25;

/// By how much a rate may differ.
const RATE_MARGIN: f64 = 0.1;

/// Quantiles of the standard normal distribution: one-sided 5%, two-sided 5%.
const ONE_SIDED: f64 = 1.644_853_626_951_472;
const TWO_SIDED: f64 = 1.959_963_984_540_054;

/// Fewer values decide nothing: their mean is not normal.
const FEWEST: usize = 10;

impl Equivalence {
    /// Of a mean.
    pub fn of_mean(sample: &Summary, published: f64) -> Equivalence {
        let (Some(mean), Some(deviation)) = (sample.mean(), sample.deviation()) else {
            return Equivalence::Undecided;
        };
        if sample.count() < FEWEST {
            return Equivalence::Undecided;
        }
        let error = deviation / (sample.count() as f64).sqrt();
        let difference = (mean - published).abs();
        decide(difference, ONE_SIDED * error, TWO_SIDED * error, MEAN_MARGIN * published.abs())
    }

    /// Of a rate.
    pub fn of_rate(rate: Proportion, published: f64) -> Equivalence {
        let Some(ours) = rate.rate().filter(|_| rate.trials >= FEWEST as u64) else {
            return Equivalence::Undecided;
        };
        // Wilson's intervals are not symmetric: the side towards the published rate is what counts.
        let reach = |z: f64, up: bool| {
            let interval = rate.interval_at(z);
            interval.map_or(1.0, |interval| if up { interval.high - ours } else { ours - interval.low })
        };
        let widest = reach(ONE_SIDED, true).max(reach(ONE_SIDED, false));
        decide((ours - published).abs(), widest, reach(TWO_SIDED, published > ours), RATE_MARGIN)
    }

    /// Of a rate that was published as a count, which has an error of its own: both samples may have come
    /// from the same rate (Fisher's exact test), or Newcombe's 90% interval of the difference of their rates
    /// lies within the margin.
    pub fn of_count(rate: Proportion, published: Proportion) -> Equivalence {
        let (Some(ours), Some(theirs)) = (rate.rate(), published.rate()) else {
            return Equivalence::Undecided;
        };
        if rate.trials < FEWEST as u64 {
            return Equivalence::Undecided;
        }
        let reach = |up: bool| {
            let side = |sample: Proportion, at: f64, up: bool| {
                let interval = sample.interval_at(ONE_SIDED);
                interval.map_or(1.0, |interval| if up { interval.high - at } else { at - interval.low })
            };
            side(rate, ours, up).hypot(side(published, theirs, !up))
        };
        let widest = reach(true).max(reach(false));
        let difference = (ours - theirs).abs();
        if rate.same_rate_as(published) < 0.05 && difference > RATE_MARGIN {
            Equivalence::Different
        } else {
            // What the exact test does not reject is not different, however far away it is.
            decide(difference, widest, f64::INFINITY, RATE_MARGIN)
        }
    }

    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Equivalence::Equal => "equal",
            Equivalence::Near => "near",
            Equivalence::Undecided => "undecided",
            Equivalence::Different => "different",
        }
    }
}

fn decide(difference: f64, one_sided: f64, two_sided: f64, margin: f64) -> Equivalence {
    if difference + one_sided <= margin {
        Equivalence::Equal
    } else if difference > two_sided.max(margin) {
        Equivalence::Different
    } else if one_sided <= margin {
        Equivalence::Near
    } else {
        Equivalence::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_equal_within_the_margin_and_its_error() {
        // 100 values of mean 100 and deviation about 10: an error of about 1.
        let sample = Summary::new((0..100).map(|i| if i % 2 == 0 { 90.0 } else { 110.0 }));
        for (published, expected) in [
            (100.0, Equivalence::Equal),
            (120.0, Equivalence::Equal),
            // The margin is 25, the difference 24: it may be more.
            (81.0, Equivalence::Near),
            (140.0, Equivalence::Different),
            (60.0, Equivalence::Different),
        ] {
            assert_eq!(Equivalence::of_mean(&sample, published), expected, "{published}");
        }
        let few = Summary::new([100.0, 100.1, 99.9]);
        assert_eq!(Equivalence::of_mean(&few, 500.0), Equivalence::Undecided);
    }

    #[test]
    fn rates_need_many_runs_to_be_equal() {
        let rate = |successes, trials| Proportion { successes, trials };
        assert_eq!(Equivalence::of_rate(rate(280, 400), 0.7), Equivalence::Equal);
        assert_eq!(Equivalence::of_rate(rate(14, 20), 0.7), Equivalence::Undecided);
        assert_eq!(Equivalence::of_rate(rate(280, 400), 0.27), Equivalence::Different);
        assert_eq!(Equivalence::of_rate(rate(400, 400), 1.0), Equivalence::Equal);
        assert_eq!(Equivalence::of_rate(rate(3, 5), 0.0), Equivalence::Undecided);
    }

    #[test]
    fn counts_have_an_error_of_their_own() {
        let count = |successes, trials, published| {
            let ours = Proportion { successes, trials };
            Equivalence::of_count(ours, Proportion { successes: published, trials: 27 })
        };
        assert_eq!(count(400, 400, 27), Equivalence::Equal);
        // 26 of 27 may well come from a rate of 1, but 27 trials do not show that it is within 10 points.
        assert_eq!(count(400, 400, 26), Equivalence::Undecided);
        assert_eq!(count(160, 400, 12), Equivalence::Undecided);
        assert_eq!(count(160, 400, 27), Equivalence::Different);
        assert_eq!(count(5, 5, 0), Equivalence::Undecided);
    }
}
