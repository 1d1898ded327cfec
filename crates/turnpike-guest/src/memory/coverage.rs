//! What code compiled with `-fsanitize-coverage=trace-pc` calls in every basic block: new ones
//! count for fitness.

use core::sync::atomic::{AtomicU64, Ordering};

use super::call::export;
use crate::control;

/// One bit for each block, by a hash of its address: two blocks in one bit count as one.
const WORDS: usize = 1 << 12;
static SEEN: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

export! {
    fn __sanitizer_cov_trace_pc(; site) {
        if control::active() {
            let hash = site.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let (word, bit) = (hash as usize / 64 % WORDS, 1 << (hash % 64));
            if SEEN[word].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
                control::kernel(|kernel| kernel.branch());
            }
        }
    }
}
