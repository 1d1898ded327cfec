//! Visited states up to covering: of the states with the same key, the store keeps none that
//! another covers.
//!
//! States with equal keys (the leading words of a state, its discrete part) form a bucket. The
//! words after the key are contiguous, so a front-end can compare a new state with a whole bucket
//! in one call. All buckets live in one pool: a full bucket moves to a slot twice as large, and the
//! pool reuses the slot it leaves. So a step does not allocate once the pool has grown.
//!
//! A covered state stays covered, because only a state that covers more removes the covering state.
//! If the part after the key is a single word, the store therefore recognises recently met states
//! at once.
//!
//! When a new state covers an old one, the old one keeps its record, because paths to other states
//! may lead through it.

use turnpike_model::Explorer;

use super::ROOT;
use super::arena::Arena;
use super::exact::ExactStore;
use crate::witness::Path;

/// Slots of the smallest place for a bucket.
const SMALLEST: u32 = 1;

/// Where the states of one key lie in the pool, in slots.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    start: u32,
    len: u32,
    capacity: u32,
}

/// What is known of a state that was taken in.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    depth: u32,
    bucket: u32,
    /// Whether no other state covers it, as far as known.
    alive: bool,
}

/// The states taken in, with dense ids in order of insertion.
#[derive(Debug)]
pub(crate) struct CoverStore {
    key_words: usize,
    keys: ExactStore,
    buckets: Vec<Bucket>,
    /// Words behind a key.
    rest: usize,
    /// These words of the states in buckets, and the id of each state, by slot.
    pool: Vec<u32>,
    owners: Vec<u32>,
    /// Places that buckets left, by the logarithm of their size.
    free: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    states: Arena,
    alive: usize,
    /// States that were met, by a hash of key and word: the last one for each place.
    met: Vec<(u32, u32)>,
}

/// Places for states that were met: at first, and at most.
const LEAST_MET: usize = 1 << 10;
const MOST_MET: usize = 1 << 18;
/// The number of no key.
const NO_KEY: u32 = u32::MAX;

impl CoverStore {
    /// A store for states of this width. Without the facet, a state covers only itself.
    pub(crate) fn new(width: usize, explorer: &mut dyn Explorer) -> Self {
        let key_words = explorer.covering().map_or(width, |covering| covering.key_words().min(width));
        CoverStore {
            key_words,
            keys: ExactStore::new(key_words),
            rest: width - key_words,
            buckets: Vec::new(),
            pool: Vec::new(),
            owners: Vec::new(),
            free: Vec::new(),
            nodes: Vec::new(),
            states: Arena::new(width),
            alive: 0,
            met: if width == key_words + 1 { vec![(NO_KEY, 0); LEAST_MET] } else { Vec::new() },
        }
    }

    /// Takes a state in unless one that is there covers it. Returns the id of the state or of the
    /// one that covers it, and whether the state is new.
    pub(crate) fn insert(&mut self, explorer: &mut dyn Explorer, state: &[u32], parent: u32) -> (u32, bool) {
        let key = self.key(state);
        self.insert_at(explorer, key, state, parent)
    }

    /// The same for callers that do not need the covering state.
    #[inline]
    pub(crate) fn add(&mut self, explorer: &mut dyn Explorer, state: &[u32], parent: u32) {
        let key = self.key(state);
        if !self.met.is_empty() {
            let word = state[self.key_words];
            let place = self.place_of(key, word);
            if std::mem::replace(&mut self.met[place], (key, word)) == (key, word) {
                return;
            }
            if self.nodes.len() > self.met.len() / 2 && self.met.len() < MOST_MET {
                self.meet_more();
            }
        }
        self.insert_at(explorer, key, state, parent);
    }

    #[inline]
    fn place_of(&self, key: u32, word: u32) -> usize {
        let pair = u64::from(key) << 32 | u64::from(word);
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - self.met.len().ilog2())) as usize
    }

    #[cold]
    fn meet_more(&mut self) {
        let larger = vec![(NO_KEY, 0); 2 * self.met.len()];
        for (key, word) in std::mem::replace(&mut self.met, larger) {
            let place = self.place_of(key, word);
            self.met[place] = (key, word);
        }
    }

    /// The number of a state's key.
    #[inline]
    fn key(&mut self, state: &[u32]) -> u32 {
        let (key, new) = self.keys.insert(&state[..self.key_words]);
        if new {
            self.buckets.push(Bucket { start: 0, len: 0, capacity: 0 });
        }
        key
    }

    fn insert_at(
        &mut self,
        explorer: &mut dyn Explorer,
        key: u32,
        state: &[u32],
        parent: u32,
    ) -> (u32, bool) {
        let bucket = self.buckets[key as usize];
        if bucket.len > 0 {
            // Without words behind the key, states with the same key are the same.
            let place = match self.rest {
                0 => Some(0),
                _ => {
                    explorer.covering().and_then(|covering| covering.find_covering(state, self.words(bucket)))
                }
            };
            if let Some(place) = place {
                return (self.owners[bucket.start as usize + place], false);
            }
        }
        let id = self.nodes.len() as u32;
        let depth = if parent == ROOT { 0 } else { self.nodes[parent as usize].depth + 1 };
        self.nodes.push(Node { parent, depth, bucket: key, alive: true });
        self.states.push(state);
        self.alive += 1;
        let bucket = self.with_room(key);
        let slot = (bucket.start + bucket.len) as usize;
        self.pool[slot * self.rest..(slot + 1) * self.rest].copy_from_slice(&state[self.key_words..]);
        self.owners[slot] = id;
        self.buckets[key as usize].len += 1;
        (id, true)
    }

    /// Leaves out all other states that state `id` covers.
    pub(crate) fn leave_out_covered(&mut self, explorer: &mut dyn Explorer, id: u32) {
        let (rest, key) = (self.rest, self.nodes[id as usize].bucket);
        if self.buckets[key as usize].len < 2 || !self.is_alive(id) {
            return;
        }
        let Some(covering) = explorer.covering() else { return };
        let mut slot = self.buckets[key as usize].start as usize;
        loop {
            let bucket = self.buckets[key as usize];
            let end = (bucket.start + bucket.len) as usize;
            let others = &self.pool[slot * rest..end * rest];
            let Some(place) = covering.find_covered(self.states.get(id), others) else {
                return;
            };
            slot += place;
            let owner = self.owners[slot];
            if owner == id {
                slot += 1;
                continue;
            }
            self.nodes[owner as usize].alive = false;
            self.alive -= 1;
            let last = end - 1;
            self.owners[slot] = self.owners[last];
            self.pool.copy_within(last * rest..(last + 1) * rest, slot * rest);
            self.buckets[key as usize].len -= 1;
        }
    }

    /// Whether no other state covers this one, as far as known.
    pub(crate) fn is_alive(&self, id: u32) -> bool {
        self.nodes[id as usize].alive
    }

    /// Transitions on the way by which it was reached.
    pub(crate) fn depth(&self, id: u32) -> u32 {
        self.nodes[id as usize].depth
    }

    pub(crate) fn get(&self, id: u32) -> &[u32] {
        self.states.get(id)
    }

    /// States taken in, whether left out later or not.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// States that no other covers.
    pub(crate) fn alive(&self) -> usize {
        self.alive
    }

    /// The path from the initial state to `id`.
    pub(crate) fn path(&self, id: u32) -> Path {
        let mut ids = vec![id];
        let mut at = id;
        while self.nodes[at as usize].parent != ROOT {
            at = self.nodes[at as usize].parent;
            ids.push(at);
        }
        Path::States(ids.into_iter().rev().flat_map(|id| self.get(id).iter().copied()).collect())
    }

    fn words(&self, bucket: Bucket) -> &[u32] {
        let (rest, start) = (self.rest, bucket.start as usize);
        &self.pool[start * rest..(start + bucket.len as usize) * rest]
    }

    /// The bucket of a key, moved if it was full.
    fn with_room(&mut self, key: u32) -> Bucket {
        let bucket = self.buckets[key as usize];
        if bucket.len < bucket.capacity {
            return bucket;
        }
        let rest = self.rest;
        let capacity = (bucket.capacity * 2).max(SMALLEST);
        let start = self.place(capacity);
        let (from, len) = (bucket.start as usize, bucket.len as usize);
        self.pool.copy_within(from * rest..(from + len) * rest, start as usize * rest);
        self.owners.copy_within(from..from + len, start as usize);
        if bucket.capacity > 0 {
            self.free_list(bucket.capacity).push(bucket.start);
        }
        let bucket = Bucket { start, capacity, ..bucket };
        self.buckets[key as usize] = bucket;
        bucket
    }

    /// A place for this many states, a power of two.
    fn place(&mut self, capacity: u32) -> u32 {
        if let Some(start) = self.free_list(capacity).pop() {
            return start;
        }
        let start = self.owners.len();
        assert!(start < (u32::MAX - capacity) as usize, "fewer than 2^32 states are kept");
        self.owners.resize(start + capacity as usize, 0);
        self.pool.resize((start + capacity as usize) * self.rest, 0);
        start as u32
    }

    fn free_list(&mut self, capacity: u32) -> &mut Vec<u32> {
        let class = capacity.ilog2() as usize;
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        &mut self.free[class]
    }
}
