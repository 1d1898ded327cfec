//! Specified, portable hashing. Values may be stored in files and compared between machines.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The hash of a word vector: XXH3 (64 bit) of its little-endian bytes.
#[inline]
pub fn words(state: &[u32]) -> u64 {
    if cfg!(target_endian = "little") {
        xxh3_64(bytemuck::cast_slice(state))
    } else {
        let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    }
}

/// The hash of raw bytes: XXH3 (64 bit).
pub fn bytes(data: &[u8]) -> u64 {
    xxh3_64(data)
}

/// The seeded hash of a 64-bit value, which avalanches fully, unlike xor or addition of a mask.
#[inline]
pub fn mix(seed: u64, value: u64) -> u64 {
    xxh3_64_with_seed(&value.to_le_bytes(), seed)
}

/// The hash of any `Hash` value by a fixed algorithm, for models written in Rust.
///
/// `usize` and slice lengths are extended to 64 bits, so 32- and 64-bit machines agree.
pub fn of<T: std::hash::Hash + ?Sized>(value: &T) -> u64 {
    use std::hash::Hasher;
    let mut hasher = PortableHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A [`std::hash::Hasher`] over XXH3 whose integer encoding does not depend on the machine.
#[derive(Default)]
pub struct PortableHasher(xxhash_rust::xxh3::Xxh3);

macro_rules! portable {
    ($($name:ident: $kind:ty),*) => {
        $(fn $name(&mut self, value: $kind) { self.0.update(&value.to_le_bytes()); })*
    };
}

impl std::hash::Hasher for PortableHasher {
    fn finish(&self) -> u64 {
        self.0.digest()
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    portable!(write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128);
    portable!(write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128);
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_isize(&mut self, value: isize) {
        self.write_i64(value as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pinned() {
        // These values must not change without a changelog entry, because files and seeds depend on
        // them.
        assert_eq!(words(&[]), 0x2d06_8005_38d3_94c2);
        assert_eq!(words(&[1, 2, 3]), bytes(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]));
        assert_eq!(mix(7, 9), xxh3_64_with_seed(&9u64.to_le_bytes(), 7));
    }

    #[test]
    fn long_vectors_hash_like_their_bytes() {
        let long: Vec<u32> = (0..1000).collect();
        let flat: Vec<u8> = long.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(words(&long), bytes(&flat));
        assert_eq!(words(&long[..64]), bytes(&flat[..256]));
        assert_eq!(words(&long[..65]), bytes(&flat[..260]));
    }

    #[test]
    fn usize_hashes_as_u64() {
        assert_eq!(of(&5usize), of(&5u64));
        assert_ne!(of(&5usize), of(&5u32));
    }
}
