//! A generator of numbers that depends on nothing but its seed.

/// Draws numbers; the same ones for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// For one of many specifications of one seed.
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

    /// A number below `bound`, or 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from one to another, both possible.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// One of several, each as often as its number says.
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
