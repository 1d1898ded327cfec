//! Packs small numbers into the words of a state.

/// Fields of `BITS` bits, as many as fit into a word. No field crosses a word boundary, so masks
/// can test all fields of a word at once.
pub(crate) struct Lanes<const BITS: u32>;

impl<const BITS: u32> Lanes<BITS> {
    /// The number of fields in a word.
    pub(crate) const PER_WORD: usize = (32 / BITS) as usize;
    /// The mask of field 0.
    pub(crate) const FIELD: u32 = (1 << BITS) - 1;

    /// The number of words for `count` fields.
    pub(crate) const fn words(count: usize) -> usize {
        count.div_ceil(Self::PER_WORD)
    }

    /// The index of the word that contains field `index`, and the position of its lowest bit in
    /// that word.
    #[inline]
    pub(crate) const fn place(index: usize) -> (usize, u32) {
        (index / Self::PER_WORD, (index % Self::PER_WORD) as u32 * BITS)
    }

    /// The value of field `index`.
    #[inline]
    pub(crate) fn get(words: &[u32], index: usize) -> u32 {
        let (word, shift) = Self::place(index);
        words[word] >> shift & Self::FIELD
    }

    /// Writes field `index`; higher bits of `value` must be zero.
    #[inline]
    pub(crate) fn set(words: &mut [u32], index: usize, value: u32) {
        debug_assert!(value <= Self::FIELD);
        let (word, shift) = Self::place(index);
        words[word] = words[word] & !(Self::FIELD << shift) | value << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        let mut words = vec![0; Lanes::<3>::words(25)];
        assert_eq!(words.len(), 3);
        for index in 0..25 {
            Lanes::<3>::set(&mut words, index, index as u32 % 8);
        }
        Lanes::<3>::set(&mut words, 11, 5);
        for index in 0..25 {
            let expected = if index == 11 { 5 } else { index as u32 % 8 };
            assert_eq!(Lanes::<3>::get(&words, index), expected);
        }
    }
}
