//! The canonical order of a level, from how its states were discovered.
//!
//! A discovery is a key: the rank of the source among the states of its level, then the position of
//! the transition. A state's least discovery is where a sequential breadth-first search would have
//! met it first, so the order of the least discoveries is the order of that search. No two states
//! share one.
//!
//! Sources are cut into as many ranges of ranks as there are workers. Each worker hands its keys to
//! the ranges; whoever has a range sorts it by counting, and tells where every key stands.

/// The key of a discovery.
#[inline]
pub(crate) fn key(source: u32, position: u32) -> u64 {
    u64::from(source) << 32 | u64::from(position)
}

/// The rank of the source of a discovery.
#[inline]
pub(crate) fn source_of(key: u64) -> u32 {
    (key >> 32) as u32
}

/// A key, and its index among the keys of its worker.
pub(crate) type Entry = (u64, u32);

/// Where keys of one worker stand in a range: their index, and their place from the start of the range.
pub(crate) type Standing = Vec<(u32, u32)>;

/// How the sources of a level are cut into ranges.
#[derive(Clone, Copy)]
pub(crate) struct Ranges {
    /// Sources in a range.
    each: u32,
    count: usize,
}

impl Ranges {
    pub(crate) fn new(sources: u32, count: usize) -> Self {
        Ranges { each: sources.div_ceil(count as u32).max(1), count }
    }

    /// The keys of one worker, by range.
    pub(crate) fn split(self, keys: &[u64]) -> Vec<Vec<Entry>> {
        let room = keys.len() / self.count + 16;
        let mut split: Vec<_> = (0..self.count).map(|_| Vec::with_capacity(room)).collect();
        for (index, &key) in (0..).zip(keys) {
            split[(source_of(key) / self.each) as usize].push((key, index));
        }
        split
    }

    /// Puts the keys that all workers have in one range in order. For each worker: where its keys
    /// stand, in order.
    pub(crate) fn sort(self, range: usize, lists: &[&[Entry]]) -> Vec<Standing> {
        let lists = || lists.iter().copied();
        let first = self.each * range as u32;
        let place = |key: u64| (source_of(key) - first) as usize;
        // Where the keys of each source begin, then, while they are filled in, where its next one goes.
        let mut next = vec![0u32; self.each as usize + 1];
        for &(key, _) in lists().flatten() {
            next[place(key) + 1] += 1;
        }
        for source in 1..next.len() {
            next[source] += next[source - 1];
        }
        let mut sorted = vec![(0u32, 0u32, 0u32); lists().map(<[Entry]>::len).sum()];
        for (worker, list) in (0..).zip(lists()) {
            for &(key, index) in list {
                let slot = &mut next[place(key)];
                sorted[*slot as usize] = (key as u32, worker, index);
                *slot += 1;
            }
        }
        let mut start = 0;
        for &end in &next[..self.each as usize] {
            let end = end as usize;
            if end - start > 1 {
                sorted[start..end].sort_unstable();
            }
            start = end;
        }
        let mut standings: Vec<Standing> = lists().map(|list| Vec::with_capacity(list.len())).collect();
        for (place, (_, worker, index)) in (0..).zip(sorted) {
            standings[worker as usize].push((index, place));
        }
        standings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_sorting_all_keys(
            sources in 1..40u32,
            workers in 1..6usize,
            found in prop::collection::btree_map((0..40u32, 0..5u32), 0..6usize, 0..100),
        ) {
            let mut keys = vec![Vec::new(); workers];
            let mut all = Vec::new();
            for (&(source, position), &worker) in &found {
                let key = key(source % sources, source / sources * 8 + position);
                keys[worker % workers].push(key);
                all.push(key);
            }
            all.sort_unstable();
            // Keys arrive in any order.
            keys.iter_mut().for_each(|keys| keys.sort_by_key(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let ranges = Ranges::new(sources, workers);
            let split: Vec<_> = keys.iter().map(|keys| ranges.split(keys)).collect();
            let mut base = 0;
            for range in 0..workers {
                let lists: Vec<&[Entry]> = split.iter().map(|lists: &Vec<Vec<Entry>>| lists[range].as_slice()).collect();
                let standings = ranges.sort(range, &lists);
                for (keys, standing) in keys.iter().zip(&standings) {
                    prop_assert!(standing.is_sorted_by_key(|&(_, place)| place));
                    for &(index, place) in standing {
                        prop_assert_eq!(all[base + place as usize], keys[index as usize]);
                    }
                }
                base += standings.iter().map(Vec::len).sum::<usize>();
            }
            prop_assert_eq!(base, all.len());
        }
    }
}
