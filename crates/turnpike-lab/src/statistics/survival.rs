//! How long a search stays without success, when some runs were stopped by their budget: the Kaplan–Meier estimate.

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// What it cost until success, or until it was stopped.
    pub cost: f64,
    /// Whether it succeeded.
    pub success: bool,
}

/// The estimated share of runs without success, as a function of cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survival {
    /// From this cost on, this share is left; ascending.
    pub steps: Vec<(f64, f64)>,
    /// Runs that were stopped before they succeeded: costs, ascending.
    pub censored: Vec<f64>,
}

impl Survival {
    /// Of these runs.
    pub fn new(runs: &[Observation]) -> Self {
        let mut runs = runs.to_vec();
        // At equal cost a success counts before a stop: the stopped run was still at risk.
        runs.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.success.cmp(&a.success)));
        let mut survival = Survival::default();
        let mut left = 1.0;
        let mut at_risk = runs.len();
        let mut index = 0;
        while index < runs.len() {
            let cost = runs[index].cost;
            let same = runs[index..].iter().take_while(|run| run.cost == cost).count();
            let successes = runs[index..index + same].iter().filter(|run| run.success).count();
            if successes > 0 {
                left *= 1.0 - successes as f64 / at_risk as f64;
                survival.steps.push((cost, left));
            }
            survival.censored.extend(std::iter::repeat_n(cost, same - successes));
            at_risk -= same;
            index += same;
        }
        survival
    }

    /// The share without success after `cost`.
    pub fn at(&self, cost: f64) -> f64 {
        let steps = self.steps.partition_point(|&(at, _)| at <= cost);
        steps.checked_sub(1).map_or(1.0, |last| self.steps[last].1)
    }

    /// The cost by which half of all runs succeeded, if they did.
    pub fn median(&self) -> Option<f64> {
        self.steps.iter().find(|&&(_, left)| left <= 0.5).map(|&(cost, _)| cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(cost: f64, success: bool) -> Observation {
        Observation { cost, success }
    }

    #[test]
    fn stopped_runs_leave_the_ones_at_risk() {
        // 5 at risk: success at 1 -> 4/5. Stopped at 2. 3 at risk: success at 3 -> 4/5 * 2/3. Stopped at 3 (still at risk
        // then). 1 at risk: success at 4 -> 0.
        let survival = Survival::new(&[
            run(3.0, true),
            run(1.0, true),
            run(2.0, false),
            run(3.0, false),
            run(4.0, true),
        ]);
        assert_eq!(survival.censored, [2.0, 3.0]);
        let expected = [(1.0, 0.8), (3.0, 0.8 * 2.0 / 3.0), (4.0, 0.0)];
        assert_eq!(survival.steps.len(), expected.len());
        for ((cost, left), (at, share)) in survival.steps.iter().zip(expected) {
            assert!(*cost == at && (left - share).abs() < 1e-12, "{survival:?}");
        }
        assert_eq!(survival.at(0.5), 1.0);
        assert_eq!(survival.median(), Some(4.0));
    }

    #[test]
    fn without_stopped_runs_it_is_the_empirical_share() {
        let survival = Survival::new(&[run(1.0, true), run(2.0, true), run(2.0, true), run(5.0, true)]);
        for (cost, left) in [(1.0, 0.75), (2.0, 0.25), (5.0, 0.0)] {
            assert!((survival.at(cost) - left).abs() < 1e-12);
        }
        assert_eq!(Survival::new(&[run(9.0, false)]).median(), None);
    }
}
