//! Random numbers: the same for the same seed, on every machine.

/// A small generator: a counter, whose values are scrambled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A generator; seeds that are close give unrelated sequences.
    pub(crate) const fn new(seed: u64) -> Random {
        Random { state: seed ^ 0x2545_f491_4f6c_dd1d }
    }

    /// The next 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, each equally likely up to 2^-64; 0 if `n` is 0.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly() {
        const COUNT: u32 = if cfg!(miri) { 700 } else { 70_000 };
        let mut random = Random::new(1);
        let mut seen = [0u32; 7];
        for _ in 0..COUNT {
            seen[random.below(7) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&n| n.abs_diff(COUNT / 7) < COUNT / if cfg!(miri) { 14 } else { 140 }),
            "{seen:?}"
        );
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }
}
