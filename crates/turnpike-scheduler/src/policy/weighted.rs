//! A random walk that is uniform over interleavings if the estimates are correct.

use crate::kernel::{Kernel, Pick};

impl Kernel {
    pub(super) fn choose_weighted(&mut self) -> Option<Pick> {
        let mut sum = 0u64;
        self.each_first(|pick| sum += self.remaining(pick.thread));
        let mut left = self.random.below(sum);
        let mut chosen = None;
        self.each_first(|pick| {
            if chosen.is_some() {
                return;
            }
            let weight = self.remaining(pick.thread);
            if left < weight {
                chosen = Some(pick);
            } else {
                left -= weight;
            }
        });
        self.choose_alternative(chosen?)
    }

    /// Expected remaining events of a thread: at least the pending one.
    fn remaining(&self, t: u32) -> u64 {
        let expected = self.policy.events.get(t as usize).copied().unwrap_or(1);
        u64::from(expected.saturating_sub(self.steps_of(t)).max(1))
    }
}
