//! Stores that may take a new state for an old one: they never prove absence.

use turnpike_model::IdTable;

/// 64-bit fingerprints (hash compaction).
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    table: IdTable,
    prints: Vec<u64>,
}

impl Fingerprints {
    /// Adds a fingerprint; whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, print: u64) -> bool {
        let prints = &self.prints;
        let (_, new) =
            self.table.find_or_insert(print, |id| prints[id as usize] == print, |id| prints[id as usize]);
        if new {
            self.prints.push(print);
        }
        new
    }

    pub(crate) fn contains(&self, print: u64) -> bool {
        self.table.find(print, |id| self.prints[id as usize] == print).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.prints.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + self.prints.capacity() * 8
    }

    /// Expected number of pairs of different states that share a fingerprint, among `n`.
    pub(crate) fn expected_collisions(n: u64) -> f64 {
        let n = n as f64;
        n * (n - 1.0) / 2.0 / 2f64.powi(64)
    }
}

/// A Bloom filter with three probes (bitstate hashing).
#[derive(Debug)]
pub(crate) struct Bitstate {
    bits: Vec<u64>,
    len: usize,
    ones: u64,
}

const PROBES: u64 = 3;

impl Bitstate {
    /// A filter of `bytes` bytes, at least 8.
    pub(crate) fn new(bytes: u64) -> Self {
        Bitstate { bits: vec![0; (bytes / 8).max(1) as usize], len: 0, ones: 0 }
    }

    fn positions(&self, print: u64) -> impl Iterator<Item = u64> + use<> {
        // Double hashing: the step is odd, so the probes differ.
        let (size, step) = (self.bits.len() as u64 * 64, (print >> 32) | 1);
        (0..PROBES).map(move |probe| {
            let word = print.wrapping_add(probe.wrapping_mul(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            ((u128::from(word) * u128::from(size)) >> 64) as u64
        })
    }

    /// Adds a fingerprint; whether it is surely new.
    pub(crate) fn insert(&mut self, print: u64) -> bool {
        let mut new = false;
        for position in self.positions(print) {
            let (word, bit) = ((position / 64) as usize, 1u64 << (position % 64));
            if self.bits[word] & bit == 0 {
                self.bits[word] |= bit;
                self.ones += 1;
                new = true;
            }
        }
        self.len += usize::from(new);
        new
    }

    pub(crate) fn contains(&self, print: u64) -> bool {
        self.positions(print)
            .all(|position| self.bits[(position / 64) as usize] & (1 << (position % 64)) != 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bits.len() * 8
    }

    /// The chance that the next new state is taken for an old one.
    pub(crate) fn miss_probability(&self) -> f64 {
        (self.ones as f64 / (self.bits.len() as f64 * 64.0)).powi(PROBES as i32)
    }
}
