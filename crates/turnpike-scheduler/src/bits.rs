//! Sets of threads as bit sets, by rank (the position of the thread's name in the order of names).

/// Position of the set bit number `n`, in a word with more than `n` set bits.
#[inline]
pub(crate) fn select(word: u64, n: u32) -> u32 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    // Count the bits of each byte, then of each byte and all below it: the bit is in the first byte
    // whose count exceeds n.
    let mut ones = word - ((word >> 1) & (0x55 * LOW));
    ones = (ones & (0x33 * LOW)) + ((ones >> 2) & (0x33 * LOW));
    ones = (ones + (ones >> 4)) & (0x0f * LOW);
    let up_to = ones.wrapping_mul(LOW);
    let more = ((up_to | (0x80 * LOW)) - (u64::from(n) + 1) * LOW) & (0x80 * LOW);
    let shift = more.trailing_zeros() & !7;
    let below = (up_to << 8 >> shift) as u32 & 0xff;
    let byte = (word >> shift) as usize & 0xff;
    shift + u32::from(IN_BYTE[byte << 3 | (n - below) as usize & 7])
}

/// Positions of the set bits of each byte. A table, because choices are random and branches would
/// be mispredicted.
static IN_BYTE: [u8; 2048] = {
    let mut table = [0; 2048];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte << 3 | n] = bit;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

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

/// The set bits, in order.
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

/// The number of set bits.
#[inline]
pub(crate) fn count(words: &[u64]) -> u32 {
    let mut sum = 0;
    for word in words {
        sum += word.count_ones();
    }
    sum
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
