//! States that a worker has sent to other processes, as far as it remembers them.
//!
//! A worker expands its states in the order of their ranks. Whoever owns a state that was sent before
//! knows it by a lesser discovery, of this level or an earlier one: sending it again would say nothing
//! new. Most transitions lead to states that were met before, so this saves most of the traffic.

use crate::store::{copy_words, prefetch};

/// One state in so many that the worker owns is remembered, at most.
const SHARE: usize = 8;
const FEWEST: usize = 1 << 12;
const MOST: usize = 1 << 20;

/// A table with one place for each hash: a state puts out the one that was there.
#[derive(Default)]
pub(super) struct Sent {
    width: usize,
    /// Places, less one: a power of two.
    mask: usize,
    /// For each place the upper half of the hash of its state, 0 when there is none, and the words
    /// of the state. They lie side by side: a look-up waits for memory once.
    places: Vec<u32>,
}

impl Sent {
    pub(super) fn new(width: usize) -> Self {
        Sent { width, ..Sent::default() }
    }

    /// Makes the table as large as a worker with so many states can afford.
    pub(super) fn fit(&mut self, owned: usize) {
        let places = 1 << (owned / SHARE).clamp(FEWEST, MOST).ilog2();
        if self.places.is_empty() || places > self.mask + 1 {
            self.mask = places - 1;
            // Freed before the larger table is taken.
            self.places = Vec::new();
            self.places = vec![0; places * (self.width + 1)];
        }
    }

    /// Asks for the memory where the look-up of a hash will begin.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(place) = self.places.get((hash as usize & self.mask) * (self.width + 1)) {
            prefetch(place);
        }
    }

    /// Remembers a state; whether it was remembered already.
    #[inline]
    pub(super) fn is_known(&mut self, hash: u64, state: &[u32]) -> bool {
        let (start, tag) = ((hash as usize & self.mask) * (self.width + 1), (hash >> 32) as u32 | 1);
        let Some([there, words @ ..]) = self.places.get_mut(start..start + self.width + 1) else {
            return false;
        };
        if *there == tag && words.iter().zip(state).all(|(a, b)| a == b) {
            return true;
        }
        *there = tag;
        copy_words(words, state);
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
