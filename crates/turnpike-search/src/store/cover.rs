//! States up to covering: of states with the same key, none is kept that another covers.
//!
//! States with equal keys (the leading words of a state, its discrete part) are a bucket. The states of a bucket lie one
//! after the other, so that a front-end compares a new one with all of them in one call. Buckets live in one pool: a bucket that is full moves
//! to a place twice as large, and the place it leaves is used again. So nothing is allocated for a step once the pool
//! has grown.
//!
//! A state that is left out later, because a new one covers it, keeps its record: ways to other states may lead through it.

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
    /// The words of the states in buckets, and the id of each, by slot.
    pool: Vec<u32>,
    owners: Vec<u32>,
    /// Places that buckets left, by the logarithm of their size.
    free: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    states: Arena,
    alive: usize,
}

impl CoverStore {
    pub(crate) fn new(width: usize, key_words: usize) -> Self {
        let key_words = key_words.min(width);
        CoverStore {
            key_words,
            keys: ExactStore::new(key_words),
            buckets: Vec::new(),
            pool: Vec::new(),
            owners: Vec::new(),
            free: Vec::new(),
            nodes: Vec::new(),
            states: Arena::new(width),
            alive: 0,
        }
    }

    /// Takes a state in unless one that is there covers it. Tells the id of the state or of the one that covers it, and
    /// whether the state is new.
    pub(crate) fn insert(&mut self, explorer: &mut dyn Explorer, state: &[u32], parent: u32) -> (u32, bool) {
        let (key, new) = self.keys.insert(&state[..self.key_words]);
        if new {
            self.buckets.push(Bucket { start: 0, len: 0, capacity: 0 });
        }
        let bucket = self.buckets[key as usize];
        if bucket.len > 0
            && let Some(place) = explorer.covered_by(state, self.words(bucket))
        {
            return (self.owners[bucket.start as usize + place], false);
        }
        let id = self.nodes.len() as u32;
        let depth = if parent == ROOT { 0 } else { self.nodes[parent as usize].depth + 1 };
        self.nodes.push(Node { parent, depth, bucket: key, alive: true });
        self.states.push(state);
        self.alive += 1;
        let bucket = self.with_room(key);
        let slot = (bucket.start + bucket.len) as usize;
        let width = self.states.width();
        self.pool[slot * width..(slot + 1) * width].copy_from_slice(state);
        self.owners[slot] = id;
        self.buckets[key as usize].len += 1;
        (id, true)
    }

    /// Leaves out all other states that state `id` covers.
    pub(crate) fn leave_out_covered(&mut self, explorer: &mut dyn Explorer, id: u32) {
        let (width, key) = (self.states.width(), self.nodes[id as usize].bucket);
        if self.buckets[key as usize].len < 2 || !self.is_alive(id) {
            return;
        }
        let mut slot = self.buckets[key as usize].start as usize;
        loop {
            let bucket = self.buckets[key as usize];
            let last = (bucket.start + bucket.len) as usize - 1;
            if slot > last {
                return;
            }
            let owner = self.owners[slot];
            let state = &self.pool[slot * width..(slot + 1) * width];
            if owner == id || !explorer.covers(self.states.get(id), state) {
                slot += 1;
                continue;
            }
            self.nodes[owner as usize].alive = false;
            self.alive -= 1;
            self.owners[slot] = self.owners[last];
            self.pool.copy_within(last * width..(last + 1) * width, slot * width);
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
        let (width, start) = (self.states.width(), bucket.start as usize);
        &self.pool[start * width..(start + bucket.len as usize) * width]
    }

    /// The bucket of a key, moved if it was full.
    fn with_room(&mut self, key: u32) -> Bucket {
        let bucket = self.buckets[key as usize];
        if bucket.len < bucket.capacity {
            return bucket;
        }
        let width = self.states.width();
        let capacity = (bucket.capacity * 2).max(SMALLEST);
        let start = self.place(capacity);
        let (from, len) = (bucket.start as usize, bucket.len as usize);
        self.pool.copy_within(from * width..(from + len) * width, start as usize * width);
        self.owners.copy_within(from..from + len, start as usize);
        if bucket.capacity > 0 {
            self.free_list(bucket.capacity).push(bucket.start);
        }
        let bucket = Bucket { start, capacity, ..bucket };
        self.buckets[key as usize] = bucket;
        bucket
    }

    /// A place for so many states, a power of two.
    fn place(&mut self, capacity: u32) -> u32 {
        if let Some(start) = self.free_list(capacity).pop() {
            return start;
        }
        let start = self.owners.len();
        assert!(start < (u32::MAX - capacity) as usize, "fewer than 2^32 states are kept");
        self.owners.resize(start + capacity as usize, 0);
        self.pool.resize((start + capacity as usize) * self.states.width(), 0);
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
