//! Stores that may mistake a new state for an old one, and so never prove absence.

use super::table::prefetch;

const MIN_CAPACITY: usize = 64;
/// Smaller tables double: up to 32 MB, time is scarcer than memory.
const DOUBLING: usize = 1 << 22;

/// 63-bit fingerprints (hash compaction): an open-addressed table of the prints themselves, one memory access a look-up.
/// The last bit of a slot is a mark that the owner may set.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    /// 0 is an empty slot; a print that would look like one is stored as another.
    slots: Vec<u64>,
    len: usize,
}

const MARK: u64 = 1;

/// The form in which a print is stored, unmarked.
#[inline]
pub(crate) fn stored(print: u64) -> u64 {
    (print & !MARK).max(2)
}

impl Default for Fingerprints {
    fn default() -> Self {
        Fingerprints { slots: vec![0; MIN_CAPACITY], len: 0 }
    }
}

impl Fingerprints {
    #[inline]
    fn home(&self, print: u64) -> usize {
        ((u128::from(print) * self.slots.len() as u128) >> 64) as usize
    }

    /// `Ok` where the (stored form of the) print is, or `Err` where it would go.
    #[inline]
    fn probe(&self, print: u64) -> Result<usize, usize> {
        let mut slot = self.home(print);
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                found if found & !MARK == print => return Ok(slot),
                _ => slot = if slot + 1 == self.slots.len() { 0 } else { slot + 1 },
            }
        }
    }

    /// Asks for the memory where a look-up will begin.
    #[inline]
    pub(crate) fn prefetch(&self, print: u64) {
        prefetch(&self.slots[self.home(print)]);
    }

    /// Adds a fingerprint; `None` when it is new, otherwise whether it is marked.
    #[inline]
    pub(crate) fn meet(&mut self, print: u64) -> Option<bool> {
        let print = stored(print);
        match self.probe(print) {
            Ok(slot) => Some(self.slots[slot] & MARK != 0),
            Err(slot) => {
                self.slots[slot] = print;
                self.len += 1;
                if self.len * 4 > self.slots.len() * 3 {
                    self.grow();
                }
                None
            }
        }
    }

    /// Adds a fingerprint; whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, print: u64) -> bool {
        self.meet(print).is_none()
    }

    /// Marks a fingerprint that was added.
    pub(crate) fn mark(&mut self, print: u64) {
        if let Ok(slot) = self.probe(stored(print)) {
            self.slots[slot] |= MARK;
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.reserve(1);
    }

    /// Makes room for so many more. Without it, adding many in the order of [`iter`](Self::iter) takes quadratic time:
    /// those that come first would crowd at the front of a table that is too small for all.
    pub(crate) fn reserve(&mut self, more: usize) {
        let mut capacity = self.slots.len();
        while (self.len + more) * 4 > capacity * 3 {
            capacity = if capacity < DOUBLING { capacity * 2 } else { capacity / 5 * 7 + 7 };
        }
        if capacity == self.slots.len() {
            return;
        }
        // A slot's number grows with the print in it: the old table is nearly sorted, and is copied front to back.
        let old = std::mem::replace(&mut self.slots, vec![0; capacity]);
        for entry in old.into_iter().filter(|&entry| entry != 0) {
            if let Err(slot) = self.probe(entry & !MARK) {
                self.slots[slot] = entry;
            }
        }
    }

    /// All fingerprints as they are stored, each with whether it is marked.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.slots.iter().filter(|&&slot| slot != 0).map(|&slot| (slot & !MARK, slot & MARK != 0))
    }

    /// Removes a fingerprint, if it is there.
    pub(crate) fn remove(&mut self, print: u64) {
        let Ok(mut hole) = self.probe(stored(print)) else { return };
        let count = self.slots.len();
        let distance = |from: usize, to: usize| if to >= from { to - from } else { to + count - from };
        let mut slot = hole;
        loop {
            slot = if slot + 1 == count { 0 } else { slot + 1 };
            let entry = self.slots[slot];
            if entry == 0 {
                break;
            }
            // What would not be found behind an empty slot moves there.
            if distance(self.home(entry & !MARK), slot) >= distance(hole, slot) {
                self.slots[hole] = entry;
                hole = slot;
            }
        }
        self.slots[hole] = 0;
        self.len -= 1;
    }

    pub(crate) fn contains(&self, print: u64) -> bool {
        self.probe(stored(print)).is_ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * 8
    }

    /// Expected number of pairs of different states that share a fingerprint, among `n`.
    pub(crate) fn expected_collisions(n: u64) -> f64 {
        let n = n as f64;
        n * (n - 1.0) / 2.0 / 2f64.powi(63)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn removed_prints_are_gone_and_the_others_stay(
            // Few homes, some of them at the end of the table, so that entries move on and wrap around.
            added in prop::collection::vec((0..4u64, 1..40u64, any::<bool>()), 0..90),
            removed in prop::collection::vec((0..4u64, 1..40u64), 0..60),
        ) {
            let print = |home: u64, rest: u64| home.wrapping_sub(2) << 58 | rest << 1;
            let (mut prints, mut expected) = (Fingerprints::default(), BTreeMap::new());
            for (home, rest, marked) in added {
                let print = print(home, rest);
                prop_assert_eq!(prints.meet(print), expected.get(&print).copied());
                if marked {
                    prints.mark(print);
                }
                *expected.entry(print).or_insert(false) |= marked;
            }
            for (home, rest) in removed {
                prints.remove(print(home, rest));
                expected.remove(&print(home, rest));
            }
            prop_assert_eq!(prints.len(), expected.len());
            prop_assert!(expected.keys().all(|&print| prints.contains(print)));
            prop_assert_eq!(prints.iter().collect::<BTreeMap<_, _>>(), expected);
        }
    }

    #[test]
    fn a_table_with_room_does_not_grow() {
        let mut prints = Fingerprints::default();
        (1..10).for_each(|print| assert!(prints.insert(print << 59)));
        prints.reserve(1000);
        let room = prints.bytes();
        (1..=1000).for_each(|print| assert!(prints.insert(print << 49 | 1 << 48)));
        assert_eq!(prints.bytes(), room);
        assert_eq!(prints.len(), 1009);
    }
}
