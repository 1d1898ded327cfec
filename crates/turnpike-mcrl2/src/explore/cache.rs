//! Caches the results of a group of summands by the parameters that they read.
//!
//! In a system of components the same local situation recurs often, and a look-up replaces its
//! evaluation. If look-ups rarely hit, the cache pauses and tries again later, after longer and
//! longer pauses.

use turnpike_model::IdTable;

/// The number of look-ups after which the hit rate is judged.
const TRIAL: u32 = 512;
/// The hit rate, in percent, from which the cache is worthwhile.
const WORTHWHILE: u32 = 30;
/// Look-ups to skip after the first failed trial. Doubles with each further one.
const FIRST_PAUSE: u32 = 1 << 13;
const LONGEST_PAUSE: u32 = 1 << 20;
/// The most entries of one cache.
const MOST_ENTRIES: usize = 1 << 16;
/// The most words of results in one cache.
const MOST_WORDS: usize = 1 << 21;

/// Maps the words of a read set to a list of records. Stored flat, without an allocation per entry.
#[derive(Debug, Default)]
pub(super) struct Cache {
    table: IdTable,
    keys: Vec<u32>,
    /// The end of each entry's records. They begin where those of the previous entry end.
    ends: Vec<u32>,
    records: Vec<u32>,
    lookups: u32,
    hits: u32,
    /// Look-ups to skip before the next trial. 0 while the cache is in use.
    lookups_to_skip: u32,
    pause: u32,
}

/// A hash with good upper bits, which [`IdTable`] inspects first.
#[inline]
fn hash(key: &[u32]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for &word in key {
        hash = (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    hash ^ hash >> 32
}

impl Cache {
    /// Whether to look up now. Counts down a pause.
    #[inline]
    pub(super) fn is_in_use(&mut self) -> bool {
        if self.lookups_to_skip == 0 {
            return true;
        }
        self.lookups_to_skip -= 1;
        false
    }

    /// The records kept for a key.
    #[inline]
    pub(super) fn find(&mut self, key: &[u32]) -> Option<&[u32]> {
        self.lookups += 1;
        let (keys, width) = (&self.keys, key.len());
        let found = self.table.find(hash(key), |id| &keys[id as usize * width..][..width] == key);
        let Some(id) = found else {
            if self.lookups >= TRIAL {
                self.judge();
            }
            return None;
        };
        self.hits += 1;
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        Some(&self.records[start as usize..self.ends[id] as usize])
    }

    /// Stores the records of a key that has no entry.
    pub(super) fn insert(&mut self, key: &[u32], records: &[u32]) {
        if self.lookups_to_skip > 0 || records.len() > MOST_WORDS / 16 {
            return;
        }
        if self.ends.len() >= MOST_ENTRIES || self.records.len() + records.len() > MOST_WORDS {
            self.clear();
        }
        let (keys, width) = (&self.keys, key.len());
        let key_of = |id: u32| &keys[id as usize * width..][..width];
        let (_, new) = self.table.find_or_insert(hash(key), |id| key_of(id) == key, |id| hash(key_of(id)));
        if new {
            self.keys.extend_from_slice(key);
            self.records.extend_from_slice(records);
            self.ends.push(self.records.len() as u32);
        }
    }

    fn judge(&mut self) {
        if u64::from(self.hits) * 100 < u64::from(self.lookups) * u64::from(WORTHWHILE) {
            self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.lookups_to_skip = self.pause;
            *self = Cache { lookups_to_skip: self.lookups_to_skip, pause: self.pause, ..Cache::default() };
        } else if self.lookups >= 1 << 20 {
            // Recent look-ups weigh more.
            self.lookups /= 2;
            self.hits /= 2;
        }
    }

    fn clear(&mut self) {
        self.table.clear();
        self.keys.clear();
        self.ends.clear();
        self.records.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_inserted_and_nothing_else() {
        let mut cache = Cache::default();
        for key in 0..2000u32 {
            assert_eq!(cache.find(&[key % 40, key % 7]).is_none(), key < 280, "{key}");
            cache.insert(&[key % 40, key % 7], &vec![key % 280; (key % 3) as usize]);
        }
        for key in 0..280u32 {
            let kept = cache.find(&[key % 40, key % 7]).expect("inserted");
            assert_eq!(kept, vec![key; (key % 3) as usize]);
        }
        assert!(cache.is_in_use());
    }

    #[test]
    fn an_empty_key_is_a_key() {
        let mut cache = Cache::default();
        assert_eq!(cache.find(&[]), None);
        cache.insert(&[], &[1, 2]);
        assert_eq!(cache.find(&[]), Some(&[1, 2][..]));
    }

    #[test]
    fn is_disabled_without_repeats_and_retried() {
        let mut cache = Cache::default();
        let mut asked = 0;
        for key in 0..100_000u32 {
            if cache.is_in_use() {
                asked += 1;
                assert_eq!(cache.find(&[key]), None);
                cache.insert(&[key], &[key]);
            }
        }
        // A trial at first, and then after 8192, 16384, 32768, … requests.
        assert_eq!(asked, 4 * TRIAL);
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = Cache::default();
        for key in 0..300_000u32 {
            for _ in 0..2 {
                if cache.find(&[key]).is_none() {
                    cache.insert(&[key], &[key; 10]);
                }
            }
        }
        assert!(cache.ends.len() <= MOST_ENTRIES && cache.records.len() <= MOST_WORDS);
        assert!(cache.is_in_use());
    }
}
