//! A generator of numbers that depends only on its seed.

/// Draws numbers, which are determined by the seed.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// Creates the generator for a specification of a series.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut draw = Draw(seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        draw.next();
        draw
    }

    // SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `bound`, or 0 if there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True with this probability.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A random element.
    pub(crate) fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// A random element, with the given weights.
    pub(crate) fn weighted<T: Copy>(&mut self, all: &[(usize, T)]) -> T {
        let mut left = self.below(all.iter().map(|one| one.0).sum());
        for &(weight, one) in all {
            match left.checked_sub(weight) {
                Some(rest) => left = rest,
                None => return one,
            }
        }
        unreachable!("the weights add up")
    }
}
