//! The hash index of the stores: from states to dense ids, four bytes per slot.
//!
//! The states live elsewhere; the table only knows their ids `0, 1, 2, …`. Unlike
//! [`turnpike_model::IdTable`], it is optimised for look-ups in batches of about a hundred. A slot
//! packs the id with the spare high bits of the hash as a tag, so most failed probes never touch
//! the values. Slots come in buckets of eight, which are compared at once and lie in one cache
//! line: nearly every entry is in the bucket where its look-up begins. Capacity grows by 2/5
//! instead of doubling: between 5.3 and 7.5 bytes per entry.

const EMPTY: u32 = u32::MAX;
const BUCKET: usize = 8;
const MIN_BUCKETS: usize = 4;

/// Slots that are looked at together, filled from the front. Empty ones are all ones.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Bucket([u32; BUCKET]);

impl Bucket {
    const FREE: Bucket = Bucket([EMPTY; BUCKET]);

    /// Bit i is set when slot i has this tag outside the bits of `mask`. An empty slot may seem to.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    fn matches(&self, mask: u32, tag: u32) -> u32 {
        // SAFETY: SSE2 is part of every x86-64 processor.
        // Worth it: left to itself, the compiler makes fifty instructions of these ten.
        #[allow(unsafe_code)]
        unsafe {
            matches_at_once(self.0, mask, tag)
        }
    }

    #[inline]
    #[cfg(not(target_arch = "x86_64"))]
    fn matches(&self, mask: u32, tag: u32) -> u32 {
        matches_one_by_one(self.0, mask, tag)
    }

    /// Number of entries.
    #[inline]
    fn len(&self) -> usize {
        first(self.matches(0, EMPTY))
    }
}

/// Asks for memory that will be read soon, without waiting for it.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it is a hint: nothing is read or written that the program could notice, whatever the address.
        // Worth it: hundreds of cache misses overlap, where reading ahead would wait for them in order.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// The first of the slots that [`Bucket::matches`] gave; [`BUCKET`] when there is none.
#[inline]
fn first(matches: u32) -> usize {
    (matches | 1 << BUCKET).trailing_zeros() as usize
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn matches_at_once(slots: [u32; BUCKET], mask: u32, tag: u32) -> u32 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set_epi32,
        _mm_set1_epi32,
    };
    let [a, b, c, d, e, f, g, h] = slots.map(u32::cast_signed);
    let (tag, tag_bits) = (_mm_set1_epi32(tag.cast_signed()), _mm_set1_epi32((!mask).cast_signed()));
    let low = _mm_cmpeq_epi32(_mm_and_si128(_mm_set_epi32(d, c, b, a), tag_bits), tag);
    let high = _mm_cmpeq_epi32(_mm_and_si128(_mm_set_epi32(h, g, f, e), tag_bits), tag);
    let all = _mm_packs_epi32(low, high);
    _mm_movemask_epi8(_mm_packs_epi16(all, all)).cast_unsigned() & 0xff
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn matches_one_by_one(slots: [u32; BUCKET], mask: u32, tag: u32) -> u32 {
    (0..BUCKET).fold(0, |bits, slot| bits | u32::from(slots[slot] & !mask == tag) << slot)
}

/// Maps content to dense ids in insertion order. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct StateTable {
    buckets: Vec<Bucket>,
    len: u32,
    /// The bits of a slot that hold the id; the others hold the tag.
    mask: u32,
}

impl Default for StateTable {
    fn default() -> Self {
        StateTable::with_buckets(MIN_BUCKETS)
    }
}

impl StateTable {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn with_buckets(count: usize) -> Self {
        let capacity = count * BUCKET;
        assert!(capacity < 1 << 31, "an id table holds at most 2^31 entries");
        // Ids are below the capacity: none is all ones, so no entry looks empty.
        let mask = (1 << (usize::BITS - capacity.leading_zeros())) - 1;
        StateTable { buckets: vec![Bucket::FREE; count], len: 0, mask }
    }

    /// Number of entries; also the id that the next new entry gets.
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Bytes held by the index.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// Forgets all entries, keeping the memory unless it was mostly unused.
    pub(crate) fn clear(&mut self) {
        if self.buckets.len() * BUCKET > 64 * (self.len() + MIN_BUCKETS * BUCKET) {
            *self = StateTable::default();
        } else if self.len > 0 {
            self.buckets.fill(Bucket::FREE);
            self.len = 0;
        }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        // Multiply-shift maps the upper half of the hash onto any capacity, not only powers of two.
        (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// Asks for the memory where a look-up of this hash will begin. Doing so for several hashes before looking them up
    /// lets the processor wait for all of them at once.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[self.home(hash)]);
    }

    /// The id that the entry with this hash has, nearly always, if there is one; otherwise any
    /// number. Asking for several hashes in a row has no branch to mispredict.
    #[inline]
    pub(crate) fn likely_id(&self, hash: u64) -> u32 {
        let bucket = &self.buckets[self.home(hash)];
        let matches = bucket.matches(self.mask, hash as u32 & !self.mask);
        bucket.0[first(matches) % BUCKET] & self.mask
    }

    /// The id of the entry with this hash for which `same(id)` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        self.probe(hash, &mut same).ok()
    }

    /// `Ok(id)` of the matching entry, or `Err` of the bucket where it would go and the slot there.
    #[inline]
    fn probe(&self, hash: u64, same: &mut impl FnMut(u32) -> bool) -> Result<u32, (usize, usize)> {
        let tag = hash as u32 & !self.mask;
        let mut at = self.home(hash);
        loop {
            let bucket = &self.buckets[at];
            let len = bucket.len();
            let mut matches = bucket.matches(self.mask, tag);
            while first(matches) < len {
                let id = bucket.0[first(matches)] & self.mask;
                if same(id) {
                    return Ok(id);
                }
                matches &= matches - 1;
            }
            if len < BUCKET {
                return Err((at, len));
            }
            at = self.after(at);
        }
    }

    /// Finds the entry, or adds it with the next id. `hash_of(id)` recomputes hashes when the table grows.
    ///
    /// Returns the id and whether it is new; the caller then appends the value under that id.
    ///
    /// # Panics
    /// When 2³¹ entries are exceeded.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        mut same: impl FnMut(u32) -> bool,
        hash_of: impl Fn(u32) -> u64,
    ) -> (u32, bool) {
        match self.probe(hash, &mut same) {
            Ok(id) => (id, false),
            Err((bucket, slot)) => {
                let id = self.len;
                self.buckets[bucket].0[slot] = hash as u32 & !self.mask | id;
                self.len += 1;
                if self.len as usize * 4 > self.buckets.len() * BUCKET * 3 {
                    self.grow(hash, &hash_of);
                }
                (id, true)
            }
        }
    }

    #[cold]
    fn grow(&mut self, last_hash: u64, hash_of: &impl Fn(u32) -> u64) {
        let (len, count) = (self.len, self.buckets.len() / 5 * 7 + 7);
        // Freed before the larger table is taken: growing never holds both.
        self.buckets = Vec::new();
        *self = StateTable::with_buckets(count);
        let mut hashes = [0u64; 32];
        for start in (0..len).step_by(hashes.len()) {
            let ids = start..len.min(start + hashes.len() as u32);
            for (hash, id) in hashes.iter_mut().zip(ids.clone()) {
                // The newest value is not stored yet, so its hash comes from the caller.
                *hash = if id + 1 == len { last_hash } else { hash_of(id) };
                self.prefetch(*hash);
            }
            for (&hash, id) in hashes.iter().zip(ids) {
                let mut at = self.home(hash);
                let mut slot = self.buckets[at].len();
                while slot == BUCKET {
                    at = self.after(at);
                    slot = self.buckets[at].len();
                }
                self.buckets[at].0[slot] = hash as u32 & !self.mask | id;
            }
        }
        self.len = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_a_hash_map() {
        // Miri executes a thousand times slower.
        const VALUES: u64 = if cfg!(miri) { 300 } else { 60_000 };
        const STEPS: u64 = if cfg!(miri) { 1_000 } else { 200_000 };
        let mut values: Vec<u64> = Vec::new();
        let mut table = StateTable::new();
        let mut oracle: HashMap<u64, u32> = HashMap::new();
        let mut x = 1u64;
        for step in 0..STEPS {
            x = turnpike_model::hash::mix(x, step);
            let value = x % VALUES;
            let hash = turnpike_model::hash::mix(0, value);
            let (id, new) = table.find_or_insert(
                hash,
                |i| values[i as usize] == value,
                |i| turnpike_model::hash::mix(0, values[i as usize]),
            );
            let next = oracle.len() as u32;
            let expected = *oracle.entry(value).or_insert(next);
            assert_eq!((id, new), (expected, expected == next && values.len() as u32 == next));
            if new {
                values.push(value);
            }
        }
        assert_eq!(table.len(), oracle.len());
        assert_eq!(
            table.find(turnpike_model::hash::mix(0, VALUES + 1), |i| values[i as usize] == VALUES + 1),
            None
        );
    }

    #[test]
    fn slots_are_compared_at_once_as_one_by_one() {
        let mut x = 1u64;
        for step in 0..if cfg!(miri) { 100 } else { 10_000u64 } {
            x = turnpike_model::hash::mix(x, step);
            let mask = (1u32 << (5 + x % 26)) - 1;
            let tag = (x >> 32) as u32 & !mask;
            let bucket =
                Bucket(std::array::from_fn(|slot| match turnpike_model::hash::mix(x, slot as u64) {
                    empty if empty % 4 == 0 => EMPTY,
                    other if other % 4 == 1 => other as u32,
                    same => tag | same as u32 & mask,
                }));
            assert_eq!(bucket.matches(mask, tag), matches_one_by_one(bucket.0, mask, tag), "{bucket:x?}");
        }
    }

    #[test]
    fn buckets_tell_how_full_they_are() {
        for len in 0..=BUCKET {
            let bucket = Bucket(std::array::from_fn(|slot| if slot < len { slot as u32 } else { EMPTY }));
            assert_eq!(bucket.len(), len);
        }
    }

    #[test]
    fn survives_hashes_that_all_collide() {
        const COUNT: u32 = if cfg!(miri) { 60 } else { 500 };
        let mut table = StateTable::new();
        for value in 0..COUNT {
            assert_eq!(table.find_or_insert(u64::MAX, |id| id == value, |_| u64::MAX), (value, true));
            assert_eq!(table.find_or_insert(u64::MAX, |id| id == value, |_| u64::MAX), (value, false));
        }
    }

    #[test]
    fn stays_within_its_bytes() {
        const COUNT: u32 = if cfg!(miri) { 1_300 } else { 100_000 };
        let mut table = StateTable::new();
        for value in 0..COUNT {
            let hash = |id: u32| turnpike_model::hash::mix(1, u64::from(id));
            table.find_or_insert(hash(value), |id| id == value, hash);
            if value > 1000 {
                let per_entry = table.bytes() as f64 / table.len() as f64;
                assert!((5.3..7.6).contains(&per_entry), "{per_entry} bytes an entry at {value}");
            }
        }
    }
}
