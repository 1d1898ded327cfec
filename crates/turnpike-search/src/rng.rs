//! Seeded randomness with pinned values: a named generator, our own bounded draw, and sub-seeds
//! derived by hashing.

use rand::Rng as _;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use turnpike_model::hash;

/// What a sub-seed is for. The numbers are part of the seed's meaning: never renumber them.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Purpose {
    /// Run number k of many.
    Run = 1,
    /// The choices of a strategy.
    Strategy = 2,
    /// Re-search while shortening a witness.
    Shorten = 3,
    /// A round of a portfolio or a restart.
    Round = 4,
    /// The order of a level (highway's hash).
    Level = 5,
    /// Execution number k of a program.
    Execution = 6,
    /// Continuations that are sampled to explain a failure.
    Explain = 7,
    /// Walk number k over the states of a model.
    Walk = 8,
}

/// Derives an independent seed from a seed, a purpose and a number.
pub(crate) fn derive(seed: u64, purpose: Purpose, number: u64) -> u64 {
    hash::mix(hash::mix(seed, purpose as u64), number)
}

/// The seed of run `run` out of many. Run 0 has the given seed itself, and a derived seed given alone repeats its run.
pub fn run_seed(seed: u64, run: u64) -> u64 {
    if run == 0 { seed } else { derive(seed, Purpose::Run, run) }
}

/// A seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct Rng(Xoshiro256PlusPlus);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `bound`, by Lemire's multiplication with rejection: exactly uniform.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        let mut product = u128::from(self.next()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A uniform index into something of length `len`.
    #[inline]
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True with probability `numerator / denominator`, exactly.
    pub(crate) fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// A uniform number in [0, 1) with 53 bits.
    #[cfg(test)]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A uniform permutation (Fisher–Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pinned() {
        // Golden values: every recorded seed depends on them.
        let mut rng = Rng::new(7);
        let drawn: Vec<u64> = (0..8).map(|_| rng.below(100)).collect();
        assert_eq!(drawn, GOLDEN_DRAWS);
        assert_eq!(run_seed(7, 0), 7);
        assert_eq!(derive(7, Purpose::Run, 1), run_seed(7, 1));
        assert_ne!(run_seed(7, 1), run_seed(7, 2));
    }
    const GOLDEN_DRAWS: [u64; 8] = [5, 17, 71, 42, 96, 46, 72, 32];

    #[test]
    fn bounded_draws_are_uniform() {
        // Chi-square with 9 degrees of freedom; 27.9 is exceeded by chance once in a thousand seeds.
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[rng.index(10)] += 1;
        }
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 27.9, "chi-square {chi}");
    }
}
