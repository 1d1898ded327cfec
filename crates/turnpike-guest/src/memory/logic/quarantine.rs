//! Blocks that were freed wait here before their memory is reused, so that a thread that still uses
//! them is caught.

use alloc::vec::Vec;

/// The most bytes in quarantine.
pub(crate) const MOST_BYTES: u64 = 16 << 20;
/// The most blocks in quarantine.
pub(crate) const MOST_BLOCKS: usize = 1 << 15;

/// A queue of freed blocks, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quarantine {
    /// A ring: `first` is the oldest of `count`.
    ring: Vec<(u32, u64)>,
    first: usize,
    count: usize,
    bytes: u64,
}

impl Quarantine {
    /// Nothing was freed.
    pub(crate) const fn new() -> Self {
        Quarantine { ring: Vec::new(), first: 0, count: 0, bytes: 0 }
    }

    /// A block of `size` bytes was freed.
    pub(crate) fn push(&mut self, block: u32, size: u64) {
        if self.count == self.ring.len() {
            self.ring.rotate_left(self.first);
            self.first = 0;
            self.ring.resize((self.count * 2).max(64), (0, 0));
        }
        let at = (self.first + self.count) % self.ring.len();
        self.ring[at] = (block, size);
        self.count += 1;
        self.bytes += size;
    }

    /// The oldest block, if there are too many, or too many bytes. The newest block always stays.
    pub(crate) fn release(&mut self) -> Option<u32> {
        if self.count <= 1 || (self.count <= MOST_BLOCKS && self.bytes <= MOST_BYTES) {
            return None;
        }
        let (block, size) = self.ring[self.first];
        self.first = (self.first + 1) % self.ring.len();
        self.count -= 1;
        self.bytes -= size;
        Some(block)
    }

    /// Takes a block out. Returns whether it was there.
    pub(crate) fn remove(&mut self, block: u32) -> bool {
        self.ring.rotate_left(self.first);
        self.first = 0;
        let Some(at) = self.ring[..self.count].iter().position(|&(other, _)| other == block) else {
            return false;
        };
        self.bytes -= self.ring[at].1;
        self.ring[at..self.count].rotate_left(1);
        self.count -= 1;
        true
    }

    /// Blocks that wait, the oldest first.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.count).map(|i| self.ring[(self.first + i) % self.ring.len()].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_a_queue(sizes in proptest::collection::vec(prop_oneof![0u64..100, 1_000_000u64..40_000_000], 0..300)) {
            let mut quarantine = Quarantine::new();
            let mut oracle: VecDeque<(u32, u64)> = VecDeque::new();
            for (block, size) in sizes.into_iter().enumerate() {
                quarantine.push(block as u32, size);
                oracle.push_back((block as u32, size));
                loop {
                    let full = oracle.len() > 1 && oracle.iter().map(|e| e.1).sum::<u64>() > MOST_BYTES;
                    let expected = if full { oracle.pop_front().map(|e| e.0) } else { None };
                    let released = quarantine.release();
                    prop_assert_eq!(released, expected);
                    if released.is_none() {
                        break;
                    }
                }
                prop_assert!(quarantine.blocks().eq(oracle.iter().map(|e| e.0)));
            }
        }
    }

    #[test]
    fn blocks_can_be_taken_out() {
        let mut quarantine = Quarantine::new();
        for block in 0..70 {
            quarantine.push(block, 1);
        }
        assert!(quarantine.remove(3) && quarantine.remove(69) && quarantine.remove(0));
        assert!(!quarantine.remove(3));
        quarantine.push(100, 1);
        let expected: Vec<u32> = [1, 2].into_iter().chain(4..69).chain([100]).collect();
        assert_eq!(quarantine.blocks().collect::<Vec<_>>(), expected);
        assert_eq!(quarantine.bytes, 68);
    }

    #[test]
    fn many_small_blocks_are_too_many() {
        let mut quarantine = Quarantine::new();
        for block in 0..=MOST_BLOCKS as u32 {
            assert_eq!(quarantine.release(), None);
            quarantine.push(block, 1);
        }
        assert_eq!(quarantine.release(), Some(0));
        assert_eq!(quarantine.release(), None);
    }
}
