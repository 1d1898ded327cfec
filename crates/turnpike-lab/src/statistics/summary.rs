//! Mean, quantiles and extremes of a sample.

/// A sample, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    sorted: Vec<f64>,
}

impl Summary {
    /// Of these values.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Summary { sorted }
    }

    /// How many values.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// The sum divided by the number.
    pub fn mean(&self) -> Option<f64> {
        (!self.sorted.is_empty()).then(|| self.sorted.iter().sum::<f64>() / self.sorted.len() as f64)
    }

    /// The value below which the share `q` of the sample lies, interpolated linearly between neighbours.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let last = self.sorted.len().checked_sub(1)?;
        let position = q.clamp(0.0, 1.0) * last as f64;
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        let share = position - below as f64;
        Some(self.sorted[below] + share * (self.sorted[above] - self.sorted[below]))
    }

    /// The middle value.
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The smallest value.
    pub fn min(&self) -> Option<f64> {
        self.sorted.first().copied()
    }

    /// The largest value.
    pub fn max(&self) -> Option<f64> {
        self.sorted.last().copied()
    }

    /// The sample's standard deviation; `None` below two values.
    pub fn deviation(&self) -> Option<f64> {
        if self.sorted.len() < 2 {
            return None;
        }
        let mean = self.mean()?;
        let squares: f64 = self.sorted.iter().map(|value| (value - mean) * (value - mean)).sum();
        Some((squares / (self.sorted.len() - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let summary = Summary::new([7.0, 1.0, 3.0, 5.0]);
        assert_eq!(summary.mean(), Some(4.0));
        assert_eq!(summary.median(), Some(4.0));
        assert_eq!(summary.quantile(0.25), Some(2.5));
        assert_eq!(summary.quantile(0.9), Some(6.4));
        assert_eq!((summary.min(), summary.max()), (Some(1.0), Some(7.0)));
        // Squares of -3, -1, 1, 3 sum to 20; divided by 3.
        assert_eq!(summary.deviation(), Some((20.0f64 / 3.0).sqrt()));
    }

    #[test]
    fn small_samples() {
        assert_eq!(Summary::new([]).median(), None);
        assert_eq!(Summary::new([2.0]).quantile(0.9), Some(2.0));
        assert_eq!(Summary::new([2.0]).deviation(), None);
    }
}
