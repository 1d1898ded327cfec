//! Sets of threads as bits, by rank (the position of the thread's name in the order of names).

/// Position of the set bit number `n` of a word that has more than `n` of them.
#[inline]
pub(crate) fn select(word: u64, n: u32) -> u32 {
    // Halve the range: one population count decides on which side the bit is.
    let (mut word, mut n, mut at) = (word, n, 0);
    for width in [32, 16, 8, 4, 2, 1] {
        let low = word & ((1 << width) - 1);
        let ones = low.count_ones();
        if n < ones {
            word = low;
        } else {
            n -= ones;
            word >>= width;
            at += width;
        }
    }
    at
}

/// Sets a bit.
#[inline]
pub(crate) fn set(words: &mut [u64], bit: u32) {
    if let Some(word) = words.get_mut(bit as usize / 64) {
        *word |= 1 << (bit % 64);
    }
}

/// Clears a bit.
#[inline]
pub(crate) fn clear(words: &mut [u64], bit: u32) {
    if let Some(word) = words.get_mut(bit as usize / 64) {
        *word &= !(1 << (bit % 64));
    }
}

/// Whether a bit is set.
#[inline]
pub(crate) fn test(words: &[u64], bit: u32) -> bool {
    words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

/// The bits that are set, in order.
pub(crate) fn ones(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().zip(0u32..).flat_map(|(&word, i)| {
        let mut rest = word;
        core::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            Some(i * 64 + bit)
        })
    })
}

/// How many bits are set.
#[inline]
pub(crate) fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn selects_what_counting_finds() {
        let mut word = 0x0123_4567_89ab_cdefu64;
        for _ in 0..200 {
            let expected: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            let found: Vec<u32> = (0..word.count_ones()).map(|n| select(word, n)).collect();
            assert_eq!(found, expected);
            assert_eq!(ones(&[word]).collect::<Vec<_>>(), expected);
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(7)
                & word.rotate_left(31).wrapping_add(0x1357);
        }
        assert_eq!(select(u64::MAX, 63), 63);
    }

    #[test]
    fn bits_beyond_the_end_are_not_set() {
        let mut words = [0u64; 2];
        set(&mut words, 65);
        set(&mut words, 1000);
        assert!(test(&words, 65) && !test(&words, 64) && !test(&words, 1000));
        assert_eq!(count(&words), 1);
        clear(&mut words, 65);
        assert_eq!(words, [0, 0]);
    }
}
