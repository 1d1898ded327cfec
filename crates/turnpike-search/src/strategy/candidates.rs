//! The N best distinct states of a stream, in memory for 2N.
//!
//! Priorities decide; a state met again has the same priority and is recognised, so how often or when it comes does not
//! matter. When 2N are held, a partial selection keeps the better half: O(1) amortised per state.

use std::cmp::Ordering;
use std::ops::Range;

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
    const COUNTS_LATE: bool = true;

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
        let draw = Draw { preference: &self.preference, key };
        let explorer = &mut *run.view.explorer;
        explorer.content_hashes(successors, &mut self.hashes);
        self.next.offer_all(explorer, draw, &self.hashes, successors, parent);
        if self.next.is_pressed() {
            self.next.settle(explorer, draw, visited, considered);
        }
    }

    fn settle(&mut self, run: &mut Run<'_>, visited: &Visited, considered: &mut Considered) {
        if let Some((_, key)) = self.at {
            let draw = Draw { preference: &self.preference, key };
            self.next.settle(&mut *run.view.explorer, draw, visited, considered);
        }
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

    /// As two numbers, for other processes.
    pub(crate) fn to_longs(self) -> [u64; 2] {
        [(self.0 >> 64) as u64, self.0 as u64]
    }

    pub(crate) fn from_longs([high, low]: [u64; 2]) -> Self {
        Priority(u128::from(high) << 64 | u128::from(low))
    }
}

/// How candidates of one level are ordered.
#[derive(Clone, Copy)]
pub(crate) struct Draw<'p> {
    pub(crate) preference: &'p Preference,
    /// What [`Preference::key`] says for the level.
    pub(crate) key: u64,
}

impl Draw<'_> {
    #[inline]
    fn priority(self, explorer: &mut dyn Explorer, state: &[u32], content_hash: u64) -> Priority {
        self.preference.priority(explorer, self.key, state, content_hash)
    }
}

/// A place in the order of the candidates.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) priority: Priority,
    id: u32,
}

/// Successors that are looked up together, so that their cache misses overlap.
const TOGETHER: usize = 128;

/// Entries that are compared with each other when all are sorted, about.
const ENTRIES_OF_A_CLASS: usize = 8;

/// A bounded set of candidates for the next level.
///
/// A state that is a candidate already is recognised by one look-up, in the index, whose hash is the content hash: so
/// most successors end. Only of the others is it asked whether they were met before, and visited; and a priority is
/// computed only for what becomes a candidate, until there are so many that some have no chance any more.
pub(crate) struct Candidates {
    limit: usize,
    width: usize,
    /// By the number of a candidate: its state, its content hash, how it was discovered first, and its priority.
    states: Vec<u32>,
    hashes: Vec<u64>,
    origins: Vec<u64>,
    priorities: Vec<Priority>,
    index: StateTable,
    /// The best, once they were selected.
    best: Vec<Entry>,
    /// Where they were, while they are sorted.
    moved: Vec<Entry>,
    /// Nothing beyond this can be among the N best.
    threshold: Option<Priority>,
    offers: Offers,
    /// The content hashes of successors that have no chance.
    hopeless: Vec<u64>,
    /// Something had to be left behind.
    passed_over: bool,
}

/// Successors that were not looked up yet.
#[derive(Default)]
struct Offers {
    states: Vec<u32>,
    hashes: Vec<u64>,
    origins: Vec<u64>,
    /// Of all, or of none as long as there is no threshold.
    priorities: Vec<Priority>,
}

impl Offers {
    fn clear(&mut self) {
        self.states.clear();
        self.hashes.clear();
        self.origins.clear();
        self.priorities.clear();
    }
}

impl Candidates {
    pub(crate) fn new(limit: u64, width: usize) -> Self {
        Candidates {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            width,
            states: Vec::new(),
            hashes: Vec::new(),
            origins: Vec::new(),
            priorities: Vec::new(),
            index: StateTable::new(),
            best: Vec::new(),
            moved: Vec::new(),
            threshold: None,
            offers: Offers::default(),
            hopeless: Vec::new(),
            passed_over: false,
        }
    }

    /// Forgets everything, keeping the memory: ready for another level.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.hashes.clear();
        self.origins.clear();
        self.priorities.clear();
        self.best.clear();
        self.offers.clear();
        self.hopeless.clear();
        self.index.clear();
        self.threshold = None;
        self.passed_over = false;
    }

    /// Most candidates since the last level: once there were twice as many as are kept, that many.
    pub(crate) fn held(&self) -> usize {
        if self.threshold.is_some() { self.limit.saturating_mul(2) } else { self.hashes.len() }
    }

    /// Whether something had to be left behind.
    pub(crate) fn passed_over(&self) -> bool {
        self.passed_over
    }

    /// Offers a successor: unless it is visited or ranks too low it becomes a candidate, at the latest
    /// when [`settle`](Self::settle) is called.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        explorer: &mut dyn Explorer,
        draw: Draw<'_>,
        content_hash: u64,
        state: &[u32],
        origin: u64,
    ) {
        if let Some(threshold) = self.threshold {
            let priority = draw.priority(explorer, state, content_hash);
            if priority > threshold {
                self.hopeless.push(content_hash);
                return;
            }
            self.offers.priorities.push(priority);
        }
        self.index.prefetch(content_hash);
        self.offers.hashes.push(content_hash);
        self.offers.origins.push(origin);
        push_words(&mut self.offers.states, state);
    }

    /// Offers all successors of a state.
    #[inline]
    fn offer_all(
        &mut self,
        explorer: &mut dyn Explorer,
        draw: Draw<'_>,
        hashes: &[u64],
        successors: &Successors,
        parent: u32,
    ) {
        if self.threshold.is_some() {
            for (position, &hash) in hashes.iter().enumerate() {
                let origin = crew::key(parent, position as u32);
                self.offer(explorer, draw, hash, successors.state(position), origin);
            }
            return;
        }
        hashes.iter().for_each(|&hash| self.index.prefetch(hash));
        self.offers.hashes.extend_from_slice(hashes);
        self.offers.origins.extend((0..hashes.len() as u32).map(|position| crew::key(parent, position)));
        self.offers.states.extend_from_slice(successors.words());
    }

    /// Whether enough was offered to be looked up together.
    pub(crate) fn is_pressed(&self) -> bool {
        self.offers.hashes.len() + self.hopeless.len() >= TOGETHER
    }

    /// Decides on all that were offered, in order.
    pub(crate) fn settle(
        &mut self,
        explorer: &mut dyn Explorer,
        draw: Draw<'_>,
        visited: &Visited,
        considered: &mut Considered,
    ) {
        let mut offers = std::mem::take(&mut self.offers);
        for start in (0..offers.hashes.len()).step_by(TOGETHER) {
            let end = offers.hashes.len().min(start + TOGETHER);
            self.settle_some(explorer, draw, (visited, considered), (&offers, start..end));
        }
        offers.clear();
        self.offers = offers;
        for hashes in self.hopeless.chunks(TOGETHER) {
            hashes.iter().for_each(|&content_hash| considered.prefetch(content_hash));
            for &content_hash in hashes {
                considered.add(content_hash);
            }
        }
        self.hopeless.clear();
    }

    /// Decides on up to [`TOGETHER`] of the offers. A table looks up all of them in turn, so that cache misses overlap.
    fn settle_some(
        &mut self,
        explorer: &mut dyn Explorer,
        draw: Draw<'_>,
        (visited, considered): (&Visited, &mut Considered),
        (offers, range): (&Offers, Range<usize>),
    ) {
        let (mut missing, mut count) = ([0; TOGETHER], 0);
        // Compiled apart for the usual widths: their comparisons need no loops.
        match self.width {
            1 => self.recognise::<1>(offers, range, &mut missing, &mut count),
            2 => self.recognise::<2>(offers, range, &mut missing, &mut count),
            3 => self.recognise::<3>(offers, range, &mut missing, &mut count),
            4 => self.recognise::<4>(offers, range, &mut missing, &mut count),
            _ => self.recognise::<0>(offers, range, &mut missing, &mut count),
        }
        let missing = &missing[..count];
        let state = |index: usize| &offers.states[index * self.width..(index + 1) * self.width];
        let late = considered.is_late();
        let mut known = [Acquaintance::Unknown; TOGETHER];
        missing.iter().for_each(|&index| considered.prefetch(offers.hashes[index]));
        for (known, &index) in known.iter_mut().zip(missing) {
            *known = considered.add(offers.hashes[index]);
            if *known == Acquaintance::Unknown {
                visited.prefetch(state(index));
            }
        }
        for (&known, &index) in known.iter().zip(missing) {
            let width = self.width;
            let state = &offers.states[index * width..(index + 1) * width];
            if known == Acquaintance::Unknown && visited.contains(explorer, state) {
                continue;
            }
            let hash = offers.hashes[index];
            if late && !considered.is_late() {
                // Counting began after it was looked up.
                considered.add(hash);
            }
            let priority = match offers.priorities.get(index) {
                Some(&priority) => priority,
                None => draw.priority(explorer, state, hash),
            };
            if self.threshold.is_none_or(|threshold| priority <= threshold) {
                let origin = offers.origins[index];
                if self.add((state, hash, origin), priority, known) {
                    self.shrink(explorer, visited, considered);
                }
            }
        }
    }

    /// Notes for each of the offers that is a candidate already that it was discovered once more, and lists the
    /// others, with a few that only look as if they were new.
    #[inline]
    fn recognise<const WIDTH: usize>(
        &mut self,
        offers: &Offers,
        range: Range<usize>,
        missing: &mut [usize; TOGETHER],
        count: &mut usize,
    ) {
        let width = if WIDTH == 0 { self.width } else { WIDTH };
        let Some(last) = self.hashes.len().checked_sub(1) else {
            *count = range.len();
            missing.iter_mut().zip(range).for_each(|(missing, index)| *missing = index);
            return;
        };
        let mut ids = [0; TOGETHER];
        for (id, &hash) in ids.iter_mut().zip(&offers.hashes[range.clone()]) {
            *id = (self.index.likely_id(hash) as usize).min(last);
            if width > 0 {
                prefetch(&self.states[*id * width]);
            }
            prefetch(&self.origins[*id]);
        }
        for (&id, index) in ids.iter().zip(range) {
            let here = &self.states[id * width..(id + 1) * width];
            let there = &offers.states[index * width..(index + 1) * width];
            let same = here.iter().zip(there).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0;
            missing[*count] = index;
            *count += usize::from(!same);
            // No branch: none could be foretold.
            let origin = if same { offers.origins[index] } else { u64::MAX };
            self.origins[id] = origin.min(self.origins[id]);
        }
    }

    /// Adds an eligible state, or notes that it was discovered once more. Whether there are twice as many as are kept.
    #[inline]
    fn add(
        &mut self,
        (state, hash, origin): (&[u32], u64, u64),
        priority: Priority,
        known: Acquaintance,
    ) -> bool {
        let Candidates { states, hashes, width, .. } = self;
        let (width, new) = (*width, known == Acquaintance::Never);
        let same = |id: u32| {
            let start = id as usize * width;
            !new && states[start..start + width].iter().zip(state).all(|(a, b)| a == b)
        };
        let (id, added) = self.index.find_or_insert(hash, same, |id| hashes[id as usize]);
        if !added {
            let least = &mut self.origins[id as usize];
            *least = origin.min(*least);
            return false;
        }
        push_words(states, state);
        hashes.push(hash);
        self.origins.push(origin);
        self.priorities.push(priority);
        self.hashes.len() >= self.limit.saturating_mul(2)
    }

    /// Keeps the N best, with room for as many again.
    fn shrink(&mut self, explorer: &mut dyn Explorer, visited: &Visited, considered: &mut Considered) {
        self.select(explorer, visited, considered);
        self.threshold = self.best.iter().map(|entry| entry.priority).max();
        self.pack();
    }

    /// Finds the N best.
    fn select(&mut self, explorer: &mut dyn Explorer, visited: &Visited, considered: &mut Considered) {
        self.best.clear();
        self.best.extend((0..).zip(&self.priorities).map(|(id, &priority)| Entry { priority, id }));
        if self.best.len() > self.limit {
            self.passed_over = true;
            considered.begin(explorer, visited, &self.hashes);
            let (states, width) = (&self.states, self.width);
            self.best.select_nth_unstable_by(self.limit - 1, |a, b| compare(explorer, states, width, a, b));
            self.best.truncate(self.limit);
        }
    }

    /// Moves what is left together, in the order of the numbers, and indexes it again.
    fn pack(&mut self) {
        let mut stays = vec![false; self.hashes.len()];
        self.best.iter().for_each(|entry| stays[entry.id as usize] = true);
        let width = self.width;
        let mut next = 0;
        for (id, _) in stays.iter().enumerate().filter(|(_, stays)| **stays) {
            self.states.copy_within(id * width..(id + 1) * width, next * width);
            self.hashes[next] = self.hashes[id];
            self.origins[next] = self.origins[id];
            self.priorities[next] = self.priorities[id];
            next += 1;
        }
        self.states.truncate(next * width);
        self.hashes.truncate(next);
        self.origins.truncate(next);
        self.priorities.truncate(next);
        self.index.clear();
        for hashes in self.hashes.chunks(TOGETHER) {
            hashes.iter().for_each(|&hash| self.index.prefetch(hash));
            for &hash in hashes {
                // All are distinct: nothing is the same.
                self.index.find_or_insert(hash, |_| false, |id| self.hashes[id as usize]);
            }
        }
    }

    /// Finds the N best, in ascending order.
    pub(crate) fn sort_best(
        &mut self,
        explorer: &mut dyn Explorer,
        visited: &Visited,
        considered: &mut Considered,
    ) {
        self.select(explorer, visited, considered);
        let (states, width) = (&self.states, self.width);
        for class in by_chance(&mut self.best, &mut self.moved) {
            class.sort_unstable_by(|a, b| compare(explorer, states, width, a, b));
        }
    }

    /// What [`sort_best`](Self::sort_best) found.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.best
    }

    /// The state of an entry.
    #[inline]
    pub(crate) fn state(&self, entry: &Entry) -> &[u32] {
        let start = entry.id as usize * self.width;
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
        for entries in self.best[..count].chunks(TOGETHER) {
            for entry in entries {
                prefetch(&self.hashes[entry.id as usize]);
                prefetch(&self.origins[entry.id as usize]);
                prefetch(self.state(entry));
            }
            for entry in entries {
                considered.prefetch(self.hashes[entry.id as usize]);
                visited.prefetch(self.state(entry));
            }
            for entry in entries {
                considered.visit(self.hashes[entry.id as usize]);
                enter(explorer, visited, self.state(entry), self.origins[entry.id as usize]);
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
        self.sort_best(explorer, visited, considered);
        self.enter_best(
            self.best.len(),
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

/// Puts entries of equal rank into classes of a few, of which none has a lesser chance than one of the class before it:
/// chances are uniform. Otherwise there is one class. `moved` is where they go.
fn by_chance<'e>(
    entries: &'e mut Vec<Entry>,
    moved: &mut Vec<Entry>,
) -> impl Iterator<Item = &'e mut [Entry]> {
    let mut ends = vec![entries.len()];
    let priorities = || entries.iter().map(|entry| entry.priority);
    if let (Some(least), Some(most)) = (priorities().min(), priorities().max())
        && let classes = entries.len() / ENTRIES_OF_A_CLASS
        && let Ok(range) = u64::try_from(most.0 - least.0)
        && range > classes as u64
        && classes > 1
    {
        let scale = ((classes as u128) << 64) / (u128::from(range) + 1);
        let class = |entry: &Entry| (((entry.priority.0 - least.0) * scale) >> 64) as usize;
        ends = vec![0; classes + 1];
        entries.iter().for_each(|entry| ends[class(entry) + 1] += 1);
        (1..ends.len()).for_each(|class| ends[class] += ends[class - 1]);
        moved.clear();
        moved.extend_from_slice(entries);
        for entry in &*moved {
            let end = &mut ends[class(entry)];
            entries[*end] = *entry;
            *end += 1;
        }
        ends.pop();
    }
    let mut left = entries.as_mut_slice();
    let mut start = 0;
    ends.into_iter().map(move |end| {
        let (class, others) = std::mem::take(&mut left).split_at_mut(end - start);
        (left, start) = (others, end);
        class
    })
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
        let start = entry.id as usize * width;
        explorer.encode(&states[start..start + width], &mut out);
        out
    };
    let left = bytes(a);
    left.cmp(&bytes(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_in_classes_are_sorted_as_at_once(
            chances in prop::collection::vec(prop_oneof![any::<u64>(), 0..100u64], 0..200),
            ranks in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0)], 200),
            guided: bool,
        ) {
            let rank = |index: usize| if guided { ranks[index] } else { 0.0 };
            let entry = |(id, &chance): (usize, &u64)| {
                Entry { priority: Priority::new(rank(id), chance), id: id as u32 }
            };
            let mut entries: Vec<Entry> = chances.iter().enumerate().map(entry).collect();
            let mut expected: Vec<_> = entries.iter().map(|entry| (entry.priority, entry.id)).collect();
            expected.sort_unstable();
            let mut sizes = 0;
            for class in by_chance(&mut entries, &mut Vec::new()) {
                class.sort_unstable_by_key(|entry| (entry.priority, entry.id));
                sizes += class.len();
            }
            prop_assert_eq!(sizes, expected.len());
            let sorted: Vec<_> = entries.iter().map(|entry| (entry.priority, entry.id)).collect();
            prop_assert_eq!(sorted, expected);
        }
    }
}
