//! Fingerprints: 128-bit hashes of happens-before pasts.
//!
//! A thread is deterministic given what happened before it, so the hash of its past identifies its
//! state, and also every object that it is about to access: no other names are needed. The
//! fingerprint of a state is the sum over its threads, because the order of unrelated steps does
//! not matter.

/// A 128-bit hash in two halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    a: u64,
    b: u64,
}

const K: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7, 0xaef1_7502_b3a1_9c6b];

/// Both halves of the product, folded into one word.
#[inline]
fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Fingerprint {
    /// The empty hash.
    pub(crate) const ZERO: Fingerprint = Fingerprint { a: 0, b: 0 };

    /// The main thread's past before its first step.
    pub(crate) const START: Fingerprint = Fingerprint { a: K[1], b: K[2] };

    /// The hash of this followed by `other`.
    #[inline]
    pub(crate) fn mix(self, other: Fingerprint) -> Fingerprint {
        Fingerprint {
            a: fold(self.a ^ K[0], other.a ^ K[1]) ^ self.b.rotate_left(17),
            b: fold(self.b ^ K[2], other.b ^ K[3]).wrapping_add(other.a.rotate_left(29)),
        }
    }

    /// The hash of this followed by a number.
    #[inline]
    pub(crate) fn mix_word(self, word: u64) -> Fingerprint {
        self.mix(Fingerprint { a: word, b: word.rotate_left(32) ^ K[0] })
    }

    /// A value for commutative sums.
    #[inline]
    pub(crate) fn summand(self) -> u128 {
        let mixed = self.mix(Fingerprint { a: self.b, b: K[3] });
        mixed.bits()
    }

    /// As one number.
    #[inline]
    pub(crate) fn bits(self) -> u128 {
        (u128::from(self.b) << 64) | u128::from(self.a)
    }

    /// From one number.
    #[inline]
    pub(crate) fn from_bits(bits: u128) -> Fingerprint {
        Fingerprint { a: bits as u64, b: (bits >> 64) as u64 }
    }
}

/// Hash of a name that consists of another name and a number.
#[inline]
pub(crate) fn name(parent: u64, index: u64) -> u64 {
    let mixed = fold(parent ^ K[2], index ^ K[0]);
    fold(mixed ^ K[3], index.wrapping_add(K[1])) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    #[test]
    fn small_inputs_do_not_collide() {
        // Miri executes a thousand times slower.
        const COUNT: u64 = if cfg!(miri) { 15 } else { 200 };
        let mut seen = BTreeSet::new();
        for i in 0..COUNT {
            for j in 0..COUNT {
                let h = Fingerprint::START.mix_word(i).mix_word(j);
                assert!(seen.insert(h.summand()), "{i} {j}");
                assert_eq!(Fingerprint::from_bits(h.bits()), h);
            }
        }
        let mut names = BTreeSet::new();
        for i in 0..5 * COUNT / 2 {
            for j in 0..COUNT / 2 {
                assert!(names.insert(name(name(0, i), j)), "{i} {j}");
            }
        }
    }

    #[test]
    fn order_matters() {
        let (x, y) = (Fingerprint::START.mix_word(1), Fingerprint::START.mix_word(2));
        assert_ne!(x.mix(y), y.mix(x));
    }
}
