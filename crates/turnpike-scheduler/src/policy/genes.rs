//! Genetic search: the choices of an execution are the bits of a chromosome.
//!
//! A state with n > 1 choices takes the next ceil(log2 n) bits, most significant first; the first
//! bit is the most significant one of the first word. A value that is not a position is replaced by
//! a random one, which is written back, so that from then on the chromosome determines the
//! execution.

use crate::kernel::{Kernel, Pick};

impl Kernel {
    pub(super) fn choose_by_genes(&mut self, count: u32) -> Option<Pick> {
        let width = u32::BITS - (count - 1).leading_zeros();
        let data = &mut self.policy;
        let start = data.genes_read as usize;
        let end = start + width as usize;
        while data.genes.len() * 64 < end {
            data.genes.push(self.random.next());
        }
        let mut value = 0u64;
        for i in start..end {
            value = value << 1 | (data.genes[i / 64] >> (63 - i % 64) & 1);
        }
        if value >= u64::from(count) {
            value = self.random.below(u64::from(count));
            for i in start..end {
                let (bit, place) = (value >> (end - 1 - i) & 1, 63 - i % 64);
                let word = &mut data.genes[i / 64];
                *word = *word & !(1 << place) | bit << place;
            }
        }
        data.genes_read = data.genes_read.saturating_add(width);
        self.at_position(value as u32)
    }
}
