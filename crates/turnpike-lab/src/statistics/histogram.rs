//! How values are spread over equal bins.

/// Equal bins from the smallest to the largest value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Ascending, without gaps.
    pub bins: Vec<Bin>,
}

/// Values from `low` (included) to `high` (excluded, but for the last bin).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many values.
    pub count: u64,
}

impl Histogram {
    /// Bins of this width, beginning at a multiple of it.
    ///
    /// # Panics
    /// When the width is not positive, or there would be more than a million bins.
    pub fn new(values: &[f64], width: f64) -> Self {
        assert!(width > 0.0, "bins need a positive width");
        let Some(least) = values.iter().copied().min_by(f64::total_cmp) else { return Histogram::default() };
        let start = (least / width).floor();
        let place = |value: f64| (value / width).floor() - start;
        let last = values.iter().copied().map(place).fold(0.0, f64::max);
        assert!(last < 1e6, "a histogram of {last} bins");
        let mut bins: Vec<Bin> = (0..=last as usize)
            .map(|index| Bin {
                low: (start + index as f64) * width,
                high: (start + index as f64 + 1.0) * width,
                count: 0,
            })
            .collect();
        for &value in values {
            bins[place(value) as usize].count += 1;
        }
        Histogram { bins }
    }

    /// A width that gives about `count` bins: 1, 2 or 5 times a power of ten, and never below 1.
    pub fn width_for(values: &[f64], count: usize) -> f64 {
        let (low, high) =
            values.iter().fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
        let wanted = ((high - low) / count.max(1) as f64).max(1.0);
        let power = 10f64.powf(wanted.log10().floor());
        [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|step| step * power)
            .find(|&width| width >= wanted)
            .unwrap_or(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_at_multiples() {
        let histogram = Histogram::new(&[12.0, 10.0, 19.9, 31.0], 10.0);
        let counts: Vec<_> = histogram.bins.iter().map(|bin| (bin.low, bin.count)).collect();
        assert_eq!(counts, [(10.0, 3), (20.0, 0), (30.0, 1)]);
        assert_eq!(Histogram::new(&[], 1.0).bins, []);
        assert_eq!(Histogram::new(&[-1.0, 0.0], 2.0).bins.len(), 2);
    }

    #[test]
    fn widths_are_round() {
        assert_eq!(Histogram::width_for(&[0.0, 97.0], 20), 5.0);
        assert_eq!(Histogram::width_for(&[3.0, 5.0], 20), 1.0);
        assert_eq!(Histogram::width_for(&[0.0, 1300.0], 10), 200.0);
    }
}
