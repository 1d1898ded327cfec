//! States that a worker has sent to other processes, as far as it remembers them.
//!
//! A worker expands its states in the order of their ranks. Whoever owns a state that was sent before
//! knows it by a lesser discovery, of this level or an earlier one: sending it again would say nothing
//! new. Most transitions lead to states that were met before, so this saves most of the traffic.

/// One state in so many that the worker owns is remembered, at least.
const SHARE: usize = 8;
const FEWEST: usize = 1 << 12;
const MOST: usize = 1 << 20;

/// A table with one place for each hash: a state puts out the one that was there.
#[derive(Default)]
pub(super) struct Sent {
    width: usize,
    /// The upper half of the hash of the state in a place; 0 when there is none.
    tags: Vec<u32>,
    words: Vec<u32>,
}

impl Sent {
    pub(super) fn new(width: usize) -> Self {
        Sent { width, ..Sent::default() }
    }

    /// Makes the table as large as a worker with so many states can afford.
    pub(super) fn fit(&mut self, owned: usize) {
        let places = (owned / SHARE).next_power_of_two().clamp(FEWEST, MOST);
        if places > self.tags.len() {
            self.tags = vec![0; places];
            self.words = vec![0; places * self.width];
        }
    }

    /// Remembers a state; whether it was remembered already.
    #[inline]
    pub(super) fn is_known(&mut self, hash: u64, state: &[u32]) -> bool {
        let Some(mask) = self.tags.len().checked_sub(1) else { return false };
        let (place, tag) = (hash as usize & mask, (hash >> 32) as u32 | 1);
        let words = &mut self.words[place * self.width..(place + 1) * self.width];
        if self.tags[place] == tag && words == state {
            return true;
        }
        self.tags[place] = tag;
        words.copy_from_slice(state);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_that_were_sent_are_known() {
        let mut sent = Sent::new(2);
        assert!(!sent.is_known(7, &[1, 2]), "without a table nothing is remembered");
        sent.fit(0);
        assert!(!sent.is_known(7, &[1, 2]));
        assert!(sent.is_known(7, &[1, 2]));
        // Another state with the same hash, and another hash with the same place.
        assert!(!sent.is_known(7, &[1, 3]));
        assert!(!sent.is_known(7 + (1 << 40), &[1, 2]));
        assert!(!sent.is_known(7, &[1, 2]), "it was put out");
        sent.fit(100 * FEWEST);
        assert!(!sent.is_known(7, &[1, 2]), "a larger table begins empty");
        sent.fit(0);
        assert!(sent.is_known(7, &[1, 2]), "tables do not shrink");
    }
}
