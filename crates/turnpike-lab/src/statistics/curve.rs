//! Cumulative success: which share of all runs had succeeded by a number of states, or with a witness of a length.

/// A step function that starts at 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Where it rises, ascending in x.
    pub points: Vec<Point>,
    /// All runs, failures included.
    pub runs: u64,
}

/// From `x` on the curve has at least the height `share`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// States, or length.
    pub x: f64,
    /// Share of all runs.
    pub share: f64,
}

impl Curve {
    /// The cost of each success, among `runs` runs in all.
    pub fn new(costs: impl IntoIterator<Item = f64>, runs: u64) -> Self {
        let mut costs: Vec<f64> = costs.into_iter().collect();
        costs.sort_by(f64::total_cmp);
        let mut points: Vec<Point> = Vec::new();
        for (index, &x) in costs.iter().enumerate() {
            let share = (index + 1) as f64 / runs.max(1) as f64;
            match points.last_mut() {
                Some(last) if last.x == x => last.share = share,
                _ => points.push(Point { x, share }),
            }
        }
        Curve { points, runs }
    }

    /// The share of runs that succeeded with at most `x`.
    pub fn at(&self, x: f64) -> f64 {
        let rises = self.points.partition_point(|point| point.x <= x);
        rises.checked_sub(1).map_or(0.0, |last| self.points[last].share)
    }

    /// The smallest cost by which the share `share` had succeeded.
    pub fn cost_of(&self, share: f64) -> Option<f64> {
        self.points.iter().find(|point| point.share >= share).map(|point| point.x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_at_each_success() {
        let curve = Curve::new([30.0, 10.0, 10.0], 4);
        assert_eq!(curve.points, [Point { x: 10.0, share: 0.5 }, Point { x: 30.0, share: 0.75 }]);
        assert_eq!([curve.at(9.0), curve.at(10.0), curve.at(29.0), curve.at(100.0)], [0.0, 0.5, 0.5, 0.75]);
        assert_eq!((curve.cost_of(0.6), curve.cost_of(0.8)), (Some(30.0), None));
    }
}
