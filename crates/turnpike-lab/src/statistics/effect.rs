//! How much better one strategy is than another: the Vargha–Delaney effect size.

use super::Summary;

/// How large an effect is usually called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magnitude {
    /// Within 0.06 of a coin.
    Negligible,
    /// Up to 0.14.
    Small,
    /// Up to 0.21.
    Medium,
    /// Beyond.
    Large,
}

impl Magnitude {
    /// Of a probability of superiority.
    pub fn of(superiority: f64) -> Self {
        match (superiority - 0.5).abs() {
            distance if distance < 0.06 => Magnitude::Negligible,
            distance if distance < 0.14 => Magnitude::Small,
            distance if distance < 0.21 => Magnitude::Medium,
            _ => Magnitude::Large,
        }
    }

    /// For a legend.
    pub fn word(self) -> &'static str {
        match self {
            Magnitude::Negligible => "negligible effect",
            Magnitude::Small => "small effect",
            Magnitude::Medium => "medium effect",
            Magnitude::Large => "large effect",
        }
    }
}

/// The probability that a value of `left` is below one of `right`, ties counted half: 0.5 = no difference. Failed runs belong
/// in as infinity. `None` when a side is empty.
pub fn superiority(left: &Summary, right: &Summary) -> Option<f64> {
    if left.count() == 0 || right.count() == 0 {
        return None;
    }
    let mut wins = 0.0;
    for &value in left.values() {
        let below = right.values().partition_point(|&other| other < value);
        let up_to = right.values().partition_point(|&other| other <= value);
        wins += (right.count() - up_to) as f64 + (up_to - below) as f64 / 2.0;
    }
    Some(wins / (left.count() as f64 * right.count() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pairs() {
        // Pairs (1,2) (1,2) (1,4) win, (2,2) (2,2) tie, (2,4) wins: (4 + 1) / 6.
        let (left, right) = (Summary::new([1.0, 2.0]), Summary::new([2.0, 2.0, 4.0]));
        assert_eq!(superiority(&left, &right), Some(5.0 / 6.0));
        assert_eq!(superiority(&right, &left), Some(1.0 / 6.0));
        let failed = Summary::new([f64::INFINITY; 3]);
        assert_eq!(superiority(&failed, &failed), Some(0.5));
        assert_eq!(superiority(&left, &failed), Some(1.0));
        assert_eq!(superiority(&left, &Summary::new([])), None);
    }

    #[test]
    fn usual_names() {
        assert_eq!(Magnitude::of(0.53), Magnitude::Negligible);
        assert_eq!(Magnitude::of(0.40), Magnitude::Small);
        assert_eq!(Magnitude::of(0.68), Magnitude::Medium);
        assert_eq!(Magnitude::of(0.9), Magnitude::Large);
    }
}
