//! The N best distinct states of a stream, in memory for 2N.
//!
//! Priorities decide; a state met again has the same priority and is recognised, so how often or when it comes does not
//! matter. When 2N are held, a partial selection keeps the better half: O(1) amortised per state.

use std::cmp::Ordering;

use turnpike_model::{Explorer, Successors};

use super::Guide;
use super::highway::Chance;
use super::level_set::{Acquaintance, Considered, Level, Selection};
use crate::crew::{self, Start};
use crate::error::Halt;
use crate::limits::StopReason;
use crate::run::Run;
use crate::store::{StateTable, Visited, prefetch, push_words};

/// How candidates are ordered: by a guide if there is one, and by chance.
pub(crate) struct Preference {
    pub(crate) seed: u64,
    pub(crate) chance: Chance,
    /// With the index of its measure.
    pub(crate) guide: Option<(Guide, usize)>,
}

impl Preference {
    /// What a priority in the level after `depth` depends on besides the state.
    pub(crate) fn key(&self, depth: u32) -> u64 {
        (self.chance.key)(self.seed, depth)
    }

    #[inline]
    pub(crate) fn priority(
        &self,
        explorer: &mut dyn Explorer,
        key: u64,
        state: &[u32],
        content_hash: u64,
    ) -> Priority {
        let rank = match &self.guide {
            Some((guide, measure)) => guide.rank(explorer, *measure, state),
            None => 0.0,
        };
        Priority::new(rank, (self.chance.draw)(key, content_hash))
    }
}

/// The next level is the N successors of smallest priority.
pub(crate) struct Smallest {
    next: Candidates,
    preference: Preference,
    /// The depth of the level under way, and the key of its priorities.
    at: Option<(u32, u64)>,
    /// Content hashes of the successors of one state.
    hashes: Vec<u64>,
}

impl Smallest {
    pub(crate) fn new(limit: u64, width: usize, preference: Preference) -> Self {
        Smallest { next: Candidates::new(limit, width), preference, at: None, hashes: Vec::new() }
    }
}

impl Selection for Smallest {
    const CAN_BE_SHARED: bool = true;

    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        depth: u32,
        (successors, parent): (&Successors, u32),
    ) {
        let key = match self.at {
            Some((at, key)) if at == depth => key,
            _ => self.at.insert((depth, self.preference.key(depth))).1,
        };
        let explorer = &mut *run.view.explorer;
        explorer.content_hashes(successors, &mut self.hashes);
        for (position, &content_hash) in self.hashes.iter().enumerate() {
            let target = successors.state(position);
            let priority = self.preference.priority(explorer, key, target, content_hash);
            let origin = crew::key(parent, position as u32);
            self.next.offer(considered, content_hash, priority, target, origin);
        }
        if self.next.is_pressed() {
            self.next.settle(explorer, visited, considered);
        }
    }

    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        self.next.settle(&mut *run.view.explorer, visited, considered);
    }

    fn held(&self) -> usize {
        self.next.held()
    }

    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        considered: &mut Considered,
    ) -> bool {
        self.next.choose(run, level, visited, considered)
    }

    fn share_out(&mut self, run: &mut Run<'_>, start: Start) -> Result<StopReason, Halt> {
        crew::highway(run, &self.preference, self.next.limit as u64, start)
    }
}

/// What a candidate is ordered by: a rank (0 for pure chance), then the random priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Priority(u128);

impl Priority {
    #[inline]
    pub(crate) fn new(rank: f64, chance: u64) -> Self {
        // The order of these bits is the total order of the numbers, so one comparison does.
        let bits = rank.to_bits();
        let sign = (bits.cast_signed() >> 63).cast_unsigned();
        Priority(u128::from(bits ^ (sign | 1 << 63)) << 64 | u128::from(chance))
    }

    #[inline]
    fn chance(self) -> u64 {
        self.0 as u64
    }

    /// As two numbers, for other processes.
    pub(crate) fn to_longs(self) -> [u64; 2] {
        [(self.0 >> 64) as u64, self.0 as u64]
    }

    pub(crate) fn from_longs([high, low]: [u64; 2]) -> Self {
        Priority(u128::from(high) << 64 | u128::from(low))
    }
}

/// A state among the candidates, and how it was discovered first.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) priority: Priority,
    slot: u32,
    pub(crate) origin: u64,
}

/// A successor on offer.
struct Offer {
    content_hash: u64,
    priority: Priority,
    known: Acquaintance,
    origin: u64,
}

/// Successors that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 128;

/// A bounded set of candidates for the next level.
pub(crate) struct Candidates {
    limit: usize,
    width: usize,
    entries: Vec<Entry>,
    states: Vec<u32>,
    /// Where states move when some are forgotten.
    packed: Vec<u32>,
    index: StateTable,
    /// Nothing beyond this can be among the N best.
    threshold: Option<Priority>,
    /// Successors not looked up yet, and their states; of those that have no chance only the hash.
    offers: Vec<Offer>,
    offered: Vec<u32>,
    hopeless: Vec<u64>,
    /// Something had to be left behind.
    passed_over: bool,
}

impl Candidates {
    pub(crate) fn new(limit: u64, width: usize) -> Self {
        Candidates {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            width,
            entries: Vec::new(),
            states: Vec::new(),
            packed: Vec::new(),
            index: StateTable::new(),
            threshold: None,
            offers: Vec::new(),
            offered: Vec::new(),
            hopeless: Vec::new(),
            passed_over: false,
        }
    }

    /// Forgets everything, keeping the memory: ready for another level.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.states.clear();
        self.offers.clear();
        self.offered.clear();
        self.hopeless.clear();
        self.index.clear();
        self.threshold = None;
        self.passed_over = false;
    }

    /// Most entries since the last level: once there were twice as many as are kept, that many.
    pub(crate) fn held(&self) -> usize {
        if self.threshold.is_some() { self.limit.saturating_mul(2) } else { self.entries.len() }
    }

    /// Whether something had to be left behind.
    pub(crate) fn passed_over(&self) -> bool {
        self.passed_over
    }

    /// Whether a state of this priority still has a chance: the cheap test before anything is looked up.
    #[inline]
    fn admits(&mut self, priority: Priority) -> bool {
        let admitted = self.threshold.is_none_or(|threshold| priority <= threshold);
        self.passed_over |= !admitted;
        admitted
    }

    /// Offers a successor: unless it is visited or ranks too low it becomes a candidate, at the latest
    /// when [`settle`](Self::settle) is called.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        considered: &Considered,
        content_hash: u64,
        priority: Priority,
        state: &[u32],
        origin: u64,
    ) {
        considered.prefetch(content_hash);
        if !self.admits(priority) {
            self.hopeless.push(content_hash);
            return;
        }
        self.index.prefetch(spread(priority.chance()));
        self.offers.push(Offer { content_hash, priority, known: Acquaintance::Unknown, origin });
        push_words(&mut self.offered, state);
    }

    /// Whether enough was offered to be looked up together.
    pub(crate) fn is_pressed(&self) -> bool {
        self.offers.len() + self.hopeless.len() >= TOGETHER
    }

    /// Decides on all that were offered, in order.
    ///
    /// Each is looked up in up to three tables. A table looks up all of them in turn, and
    /// prefetches the memory that the next step needs.
    pub(crate) fn settle(
        &mut self,
        explorer: &mut dyn Explorer,
        visited: &Visited,
        considered: &mut Considered,
    ) {
        let (mut offers, offered) = (std::mem::take(&mut self.offers), std::mem::take(&mut self.offered));
        let width = self.width;
        let state = |index: usize| &offered[index * width..(index + 1) * width];
        for (index, offer) in offers.iter_mut().enumerate() {
            offer.known = considered.add(offer.content_hash);
            if offer.known == Acquaintance::Unknown {
                visited.prefetch(state(index));
            }
            let likely = self.index.likely_id(spread(offer.priority.chance())) as usize;
            if let Some(word) = self.states.get(likely * width) {
                prefetch(word);
            }
        }
        for content_hash in self.hopeless.drain(..) {
            considered.add(content_hash);
        }
        for (index, offer) in offers.iter().enumerate() {
            if !self.admits(offer.priority) {
                continue;
            }
            let target = state(index);
            if offer.known == Acquaintance::Unknown && visited.contains(explorer, target) {
                continue;
            }
            self.add(explorer, offer, target);
        }
        (self.offers, self.offered) = (offers, offered);
        self.offers.clear();
        self.offered.clear();
    }

    /// Adds an eligible state that [`admits`](Self::admits) let pass, or notes that it was discovered
    /// once more.
    #[inline]
    fn add(&mut self, explorer: &mut dyn Explorer, offer: &Offer, state: &[u32]) {
        let Candidates { entries, states, width, .. } = self;
        let (width, new) = (*width, offer.known == Acquaintance::Never);
        // Until they are sorted at the end, an entry's position is the slot of its state.
        let same = |id: u32| {
            let start = id as usize * width;
            !new && states[start..start + width].iter().zip(state).all(|(a, b)| a == b)
        };
        let hash_of = |id: u32| spread(entries[id as usize].priority.chance());
        let (id, added) = self.index.find_or_insert(spread(offer.priority.chance()), same, hash_of);
        if !added {
            let origin = &mut entries[id as usize].origin;
            *origin = offer.origin.min(*origin);
            return;
        }
        entries.push(Entry { priority: offer.priority, slot: id, origin: offer.origin });
        push_words(states, state);
        if self.entries.len() >= self.limit.saturating_mul(2) {
            self.shrink(explorer);
        }
    }

    /// Keeps the N best, with room for as many again.
    fn shrink(&mut self, explorer: &mut dyn Explorer) {
        self.select(explorer);
        self.threshold = self.entries.iter().map(|entry| entry.priority).max();
        self.pack();
    }

    /// Keeps the entries of the N best.
    fn select(&mut self, explorer: &mut dyn Explorer) {
        if self.entries.len() > self.limit {
            self.passed_over = true;
            let (states, width) = (&self.states, self.width);
            self.entries
                .select_nth_unstable_by(self.limit - 1, |a, b| compare(explorer, states, width, a, b));
            self.entries.truncate(self.limit);
        }
    }

    /// Moves the states of the remaining entries together and indexes them again.
    fn pack(&mut self) {
        self.index.clear();
        self.packed.clear();
        for position in 0..self.entries.len() {
            let from = self.entries[position].slot as usize * self.width;
            push_words(&mut self.packed, &self.states[from..from + self.width]);
            self.entries[position].slot = position as u32;
            let entries = &self.entries;
            // All are distinct: nothing is the same.
            self.index.find_or_insert(
                spread(entries[position].priority.chance()),
                |_| false,
                |id| spread(entries[id as usize].priority.chance()),
            );
        }
        std::mem::swap(&mut self.states, &mut self.packed);
    }

    /// Keeps the N best, in ascending order, and forgets the others.
    pub(crate) fn sort_best(&mut self, explorer: &mut dyn Explorer) {
        self.select(explorer);
        let (states, width) = (&self.states, self.width);
        self.entries.sort_unstable_by(|a, b| compare(explorer, states, width, a, b));
    }

    /// The entries that are left.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The state of an entry.
    #[inline]
    pub(crate) fn state(&self, entry: &Entry) -> &[u32] {
        let start = entry.slot as usize * self.width;
        &self.states[start..start + self.width]
    }

    /// Hands the first `count` of the sorted entries to `enter`, and notes in `considered` that they are visited.
    pub(crate) fn enter_best(
        &self,
        count: usize,
        explorer: &mut dyn Explorer,
        visited: &mut Visited,
        considered: &mut Considered,
        mut enter: impl FnMut(&mut dyn Explorer, &mut Visited, &[u32], u64),
    ) {
        let mut hashes = [0; TOGETHER];
        for entries in self.entries[..count].chunks(TOGETHER) {
            for (hash, entry) in hashes.iter_mut().zip(entries) {
                *hash = explorer.content_hash(self.state(entry));
                considered.prefetch(*hash);
                visited.prefetch(self.state(entry));
            }
            for (&hash, entry) in hashes.iter().zip(entries) {
                considered.visit(hash);
                enter(explorer, visited, self.state(entry), entry.origin);
            }
        }
    }

    /// The N best, in ascending order, become the next level, and visited; the others are forgotten. Whether there were
    /// others.
    fn choose(
        &mut self,
        run: &mut Run<'_>,
        level: &mut Level,
        visited: &mut Visited,
        considered: &mut Considered,
    ) -> bool {
        let explorer = &mut *run.view.explorer;
        self.sort_best(explorer);
        self.enter_best(
            self.entries.len(),
            explorer,
            visited,
            considered,
            |explorer, visited, state, origin| {
                level.enter(explorer, visited, state, crew::source_of(origin), origin as u32);
            },
        );
        let passed_over = self.passed_over;
        self.clear();
        passed_over
    }
}

/// The index takes its slot from the upper bits, which are what the smallest priorities have in common.
fn spread(chance: u64) -> u64 {
    chance.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32) ^ chance
}

/// By priority; equal priorities of different states by their portable bytes, never by interned ids.
#[inline]
fn compare(explorer: &mut dyn Explorer, states: &[u32], width: usize, a: &Entry, b: &Entry) -> Ordering {
    match a.priority.cmp(&b.priority) {
        Ordering::Equal => break_tie(explorer, states, width, a, b),
        order => order,
    }
}

#[cold]
fn break_tie(explorer: &mut dyn Explorer, states: &[u32], width: usize, a: &Entry, b: &Entry) -> Ordering {
    let mut bytes = |entry: &Entry| {
        let mut out = Vec::new();
        let start = entry.slot as usize * width;
        explorer.encode(&states[start..start + width], &mut out);
        out
    };
    let left = bytes(a);
    left.cmp(&bytes(b))
}
