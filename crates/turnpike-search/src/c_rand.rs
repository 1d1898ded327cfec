//! `rand()` as the C library of Linux has it, for experiments that repeat what an old tool did.
//!
//! Each number is the sum of the third and the 31st before it, without the lowest bit. So the number's parity is that of
//! their sum three times out of four, and draws from two or four choices depend on each other: a long row
//! of the same choice is much rarer, or much more likely, than chance would have it.

/// Numbers that the next ones depend on.
const MEMORY: usize = 31;
/// How far back the other summand is.
const LAG: usize = 3;
/// Numbers that are thrown away at the beginning.
const WARM_UP: usize = 310;

/// The generator.
#[derive(Clone, Debug)]
pub(crate) struct CRand {
    numbers: [u32; MEMORY],
    /// The oldest number, which the next one replaces.
    oldest: usize,
}

impl CRand {
    /// As after `srand(seed)`.
    pub(crate) fn new(seed: u32) -> Self {
        const MODULUS: i64 = 0x7fff_ffff;
        let mut numbers = [0; MEMORY];
        // Zero would stay zero.
        let mut number = i64::from(seed.max(1) as i32);
        for slot in &mut numbers {
            *slot = number as u32;
            number = (16_807 * number).rem_euclid(MODULUS);
        }
        let mut generator = CRand { numbers, oldest: LAG };
        for _ in 0..WARM_UP {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> u32 {
        let other = (self.oldest + MEMORY - LAG) % MEMORY;
        let number = self.numbers[self.oldest].wrapping_add(self.numbers[other]);
        self.numbers[self.oldest] = number;
        self.oldest = (self.oldest + 1) % MEMORY;
        number >> 1
    }

    /// `rand() % bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        u64::from(self.next()) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_c_library() {
        let first = |seed| {
            let mut generator = CRand::new(seed);
            [(); 3].map(|()| generator.next())
        };
        assert_eq!(first(1), [1_804_289_383, 846_930_886, 1_681_692_777]);
        assert_eq!(first(0), first(1));
        assert_eq!(first(42), [71_876_166, 708_592_740, 1_483_128_881]);
        assert_eq!(first(3_000_000_000), [2_058_147_116, 854_483_408, 922_419_988]);
    }
}
