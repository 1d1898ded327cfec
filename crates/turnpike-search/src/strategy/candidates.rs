//! The N best distinct states of a stream, in memory for 2N.
//!
//! Priorities decide; a state met again has the same priority and is recognised, so how often or when it comes does not
//! matter. When 2N are held, a partial selection keeps the better half: O(1) amortised per state.

use std::cmp::Ordering;

use turnpike_model::{Explorer, Successors};

use super::level_set::{Acquaintance, Considered, Level, Selection};
use crate::run::Run;
use crate::store::{StateTable, Visited, prefetch};

/// The next level is the N successors of smallest priority, which is asked of (run, depth, state, content hash).
pub(crate) struct Smallest<P> {
    next: Candidates,
    priority: P,
}

impl<P: FnMut(&mut Run<'_>, u32, &[u32], u64) -> Priority> Smallest<P> {
    pub(crate) fn new(limit: u64, width: usize, priority: P) -> Self {
        Smallest { next: Candidates::new(limit, width), priority }
    }
}

impl<P: FnMut(&mut Run<'_>, u32, &[u32], u64) -> Priority> Selection for Smallest<P> {
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        depth: u32,
        from: (&Successors, u32),
    ) {
        let priority = &mut self.priority;
        self.next
            .offer(run, visited, considered, from, |run, target, hash| priority(run, depth, target, hash));
    }

    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        self.next.settle(run, visited, considered);
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
}

/// What a candidate is ordered by: a rank (0 for pure chance), then the random priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Priority {
    pub(crate) rank: f64,
    pub(crate) chance: u64,
}

impl Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.chance.cmp(&other.chance))
    }
}

#[derive(Clone, Copy)]
struct Entry {
    priority: Priority,
    slot: u32,
    parent: u32,
    choice: u32,
}

/// A successor on offer, and what is known of it so far.
struct Offer {
    content_hash: u64,
    priority: Priority,
    known: Acquaintance,
    parent: u32,
    choice: u32,
}

/// Successors that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 128;

/// A bounded set of candidates for the next level.
struct Candidates {
    limit: usize,
    width: usize,
    entries: Vec<Entry>,
    states: Vec<u32>,
    index: StateTable,
    /// Nothing beyond this can be among the N best.
    threshold: Option<Priority>,
    /// Successors not looked up yet, and their states.
    offers: Vec<Offer>,
    offered: Vec<u32>,
    /// Something had to be left behind.
    passed_over: bool,
}

impl Candidates {
    fn new(limit: u64, width: usize) -> Self {
        Candidates {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            width,
            entries: Vec::new(),
            states: Vec::new(),
            index: StateTable::new(),
            threshold: None,
            offers: Vec::new(),
            offered: Vec::new(),
            passed_over: false,
        }
    }

    /// Forgets everything, keeping the memory: ready for another level.
    fn clear(&mut self) {
        self.entries.clear();
        self.states.clear();
        self.offers.clear();
        self.offered.clear();
        self.index.clear();
        self.threshold = None;
        self.passed_over = false;
    }

    /// Most entries since the last level: once there were twice as many as are kept, that many.
    fn held(&self) -> usize {
        if self.threshold.is_some() { self.limit.saturating_mul(2) } else { self.entries.len() }
    }

    /// Whether a state of this priority still has a chance: the cheap test before anything is looked up.
    #[inline]
    fn admits(&mut self, priority: Priority) -> bool {
        let admitted = self.threshold.is_none_or(|threshold| priority.cmp(&threshold).is_le());
        self.passed_over |= !admitted;
        admitted
    }

    /// Offers all successors of a state: those that are not visited and rank high enough become candidates, at the
    /// latest when [`settle`](Self::settle) is called.
    fn offer(
        &mut self,
        run: &mut Run<'_>,
        visited: &Visited,
        considered: &mut Considered,
        (successors, parent): (&Successors, u32),
        mut priority: impl FnMut(&mut Run<'_>, &[u32], u64) -> Priority,
    ) {
        for (choice, (_, target)) in (0..).zip(successors.iter()) {
            let content_hash = run.view.explorer.content_hash(target);
            considered.prefetch(content_hash);
            let priority = priority(run, target, content_hash);
            self.index.prefetch(spread(priority.chance));
            self.offers.push(Offer { content_hash, priority, known: Acquaintance::Unknown, parent, choice });
        }
        self.offered.extend_from_slice(successors.words());
        if self.offers.len() >= TOGETHER {
            self.settle(run, visited, considered);
        }
    }

    /// Decides on all that were offered, in order.
    ///
    /// Up to three tables are asked about each. Each is asked for all of them in turn, and asked ahead for the memory
    /// that the next step needs.
    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        let (mut offers, offered) = (std::mem::take(&mut self.offers), std::mem::take(&mut self.offered));
        let width = self.width;
        let state = |index: usize| &offered[index * width..(index + 1) * width];
        for (index, offer) in offers.iter_mut().enumerate() {
            offer.known = considered.add(offer.content_hash);
            if offer.known == Acquaintance::Unknown {
                visited.prefetch(state(index));
            }
            let likely = self.index.likely_id(spread(offer.priority.chance)) as usize;
            if let Some(word) = self.states.get(likely * width) {
                prefetch(word);
            }
        }
        for (index, offer) in offers.iter().enumerate() {
            let target = state(index);
            let eligible = self.admits(offer.priority)
                && match offer.known {
                    Acquaintance::Never => true,
                    Acquaintance::Unvisited => !self.contains(offer.priority, target),
                    Acquaintance::Unknown => {
                        !visited.contains(&mut *run.view.explorer, target)
                            && !self.contains(offer.priority, target)
                    }
                };
            if eligible {
                self.add(&mut *run.view.explorer, offer.priority, target, offer.parent, offer.choice);
            }
        }
        (self.offers, self.offered) = (offers, offered);
        self.offers.clear();
        self.offered.clear();
    }

    /// Whether the state is among the candidates already.
    #[inline]
    fn contains(&self, priority: Priority, state: &[u32]) -> bool {
        // Until they are sorted at the end, an entry's position is the slot of its state.
        let same = |id: u32| {
            let start = id as usize * self.width;
            self.states[start..start + self.width].iter().zip(state).all(|(a, b)| a == b)
        };
        self.index.find(spread(priority.chance), same).is_some()
    }

    /// Adds an eligible state that [`admits`](Self::admits) let pass and that is no candidate yet.
    fn add(
        &mut self,
        explorer: &mut dyn Explorer,
        priority: Priority,
        state: &[u32],
        parent: u32,
        choice: u32,
    ) {
        debug_assert!(!self.contains(priority, state));
        let entries = &self.entries;
        self.index.find_or_insert(
            spread(priority.chance),
            |_| false,
            |id| spread(entries[id as usize].priority.chance),
        );
        self.entries.push(Entry { priority, slot: self.entries.len() as u32, parent, choice });
        self.states.extend_from_slice(state);
        if self.entries.len() >= self.limit.saturating_mul(2) {
            self.shrink(explorer);
        }
    }

    /// Keeps the N best, with room for as many again.
    fn shrink(&mut self, explorer: &mut dyn Explorer) {
        self.select(explorer);
        self.threshold = self.entries.iter().map(|entry| entry.priority).max_by(Priority::cmp);
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
        self.entries.sort_unstable_by_key(|entry| entry.slot);
        self.index.clear();
        for position in 0..self.entries.len() {
            let from = self.entries[position].slot as usize * self.width;
            self.states.copy_within(from..from + self.width, position * self.width);
            self.entries[position].slot = position as u32;
            let entries = &self.entries;
            // All are distinct: nothing is the same.
            self.index.find_or_insert(
                spread(entries[position].priority.chance),
                |_| false,
                |id| spread(entries[id as usize].priority.chance),
            );
        }
        self.states.truncate(self.entries.len() * self.width);
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
        self.select(&mut *run.view.explorer);
        let (states, width) = (&self.states, self.width);
        self.entries.sort_unstable_by(|a, b| compare(&mut *run.view.explorer, states, width, a, b));
        let state = |entry: &Entry| {
            let start = entry.slot as usize * width;
            &states[start..start + width]
        };
        let mut hashes = [0; TOGETHER];
        for entries in self.entries.chunks(TOGETHER) {
            for (hash, entry) in hashes.iter_mut().zip(entries) {
                *hash = run.view.explorer.content_hash(state(entry));
                considered.prefetch(*hash);
                visited.prefetch(state(entry));
            }
            for (&hash, entry) in hashes.iter().zip(entries) {
                considered.visit(hash);
                level.enter(run, visited, state(entry), entry.parent, entry.choice);
            }
        }
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
fn compare(explorer: &mut dyn Explorer, states: &[u32], width: usize, a: &Entry, b: &Entry) -> Ordering {
    a.priority.cmp(&b.priority).then_with(|| {
        let mut bytes = |entry: &Entry| {
            let mut out = Vec::new();
            let start = entry.slot as usize * width;
            explorer.encode(&states[start..start + width], &mut out);
            out
        };
        let left = bytes(a);
        left.cmp(&bytes(b))
    })
}
