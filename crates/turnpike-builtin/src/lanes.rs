//! Small numbers side by side in the words of a state.

/// Fields of `BITS` bits each, as many as fit into a word; no field crosses a word's border, so
/// that a whole word can be tested at once with masks.
pub(crate) struct Lanes<const BITS: u32>;

impl<const BITS: u32> Lanes<BITS> {
    /// Fields in one word.
    pub(crate) const PER_WORD: usize = (32 / BITS) as usize;
    /// The bits of field 0.
    pub(crate) const FIELD: u32 = (1 << BITS) - 1;

    /// Words needed for `count` fields.
    pub(crate) const fn words(count: usize) -> usize {
        count.div_ceil(Self::PER_WORD)
    }

    /// The word that holds field `index`, and how far its lowest bit is shifted in there.
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
