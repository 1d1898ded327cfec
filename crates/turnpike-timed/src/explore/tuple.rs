//! What the locations of all processes determine: active clocks, their bounds, invariants, urgency.
//! Computed once per tuple of locations and cached.

use std::borrow::Borrow;
use std::ops::Deref;

use rustc_hash::{FxHashMap, FxHashSet};

use super::memo::NO_PROGRAM;
use super::parts::{Draft, Facts, Members};
use super::plan::Plan;
use crate::compile::analysis::Bounds;
use crate::compile::layout::Layout;
use crate::compile::tables::Tables;
use crate::network::{LocationId, ProcessId};
use crate::zone::{NO_BOUND, RowBounds};

/// Numbers of parts of the facts; [`NO_PROGRAM`] if not yet assigned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The part of a source that programs use.
    pub(super) inside: u32,
    /// The part of a target that programs use.
    pub(super) shape: u32,
    /// The lower and upper bounds.
    bounds: u32,
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers { inside: NO_PROGRAM, shape: NO_PROGRAM, bounds: NO_PROGRAM }
    }
}

/// What is known about one tuple of locations.
#[derive(Debug)]
pub(super) struct Tuple {
    facts: Facts,
    pub(super) members: Members,
    /// How many locations are urgent or committed.
    stopping: u32,
    /// Some location is committed.
    pub(super) committed: bool,
    /// Some location is urgent or committed.
    pub(super) urgent: bool,
    pub(super) numbers: Numbers,
    /// Its transitions, computed when the first state with it is expanded.
    plan: Option<Box<Plan>>,
}

/// Marks the absence of a tuple.
pub(super) const NO_TUPLE: u32 = u32::MAX;

impl Deref for Tuple {
    type Target = Facts;

    #[inline]
    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl Tuple {
    /// The row of a clock, `None` if it is inactive. Row 0 is the constant zero.
    #[inline]
    pub(super) fn row(&self, clock: u32) -> Option<u32> {
        row(self.members.active(), clock)
    }

    /// Rows of a matrix for this tuple.
    pub(super) fn dimension(&self) -> usize {
        self.members.active().len() + 1
    }
}

/// The row of a clock, given the active ones.
#[inline]
fn row(active: &[u32], clock: u32) -> Option<u32> {
    match clock {
        0 => Some(0),
        _ => active.binary_search(&(clock - 1)).ok().map(|at| at as u32 + 1),
    }
}

/// Tuples in each of [`Chunks`], as a logarithm.
const CHUNK_BITS: u32 = 8;

/// Tuples by number, in chunks: growing a single list would copy it and need three times its memory
/// meanwhile.
#[derive(Debug, Default)]
struct Chunks(Vec<Vec<Tuple>>);

impl Chunks {
    #[inline]
    fn get(&self, id: u32) -> &Tuple {
        &self.0[(id >> CHUNK_BITS) as usize][(id & ((1 << CHUNK_BITS) - 1)) as usize]
    }

    #[inline]
    fn get_mut(&mut self, id: u32) -> &mut Tuple {
        &mut self.0[(id >> CHUNK_BITS) as usize][(id & ((1 << CHUNK_BITS) - 1)) as usize]
    }

    /// Adds a tuple and returns its number.
    fn push(&mut self, tuple: Tuple) -> u32 {
        let full = |chunk: &Vec<Tuple>| chunk.len() == 1 << CHUNK_BITS;
        if self.0.last().is_none_or(full) {
            // Walks through small networks visit few tuples.
            let room = if self.0.is_empty() { 4 } else { 1 << CHUNK_BITS };
            self.0.push(Vec::with_capacity(room));
        }
        let last = self.0.len() - 1;
        self.0[last].push(tuple);
        (last << CHUNK_BITS) as u32 + self.0[last].len() as u32 - 1
    }
}

/// The tuples that an explorer has visited.
#[derive(Debug, Default)]
pub(super) struct Tuples {
    /// Tuples with the same facts share a number, and have no plans.
    shared: bool,
    /// Shared tuples by their content.
    alike: FxHashMap<(Members, Facts, u32), u32>,
    /// The shared tuple that results when a process moves from one slot to another.
    moved: FxHashMap<(u32, u64), u32>,
    ids: FxHashMap<Box<[u32]>, u32>,
    /// The same for keys of one or two words: most networks are small, and comparing numbers is
    /// faster than comparing slices.
    small: FxHashMap<u64, u32>,
    all: Chunks,
    /// The facts of all tuples, with their numbers.
    facts: FxHashMap<Facts, Numbers>,
    members: FxHashSet<Members>,
    key: Vec<u32>,
    /// The tuple that was computed last, and the words of one of its parts.
    draft: Draft,
    words: Vec<u32>,
    /// By clock, the maximum so far while a tuple is computed.
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// Clocks whose bounds may change.
    affected: Vec<u32>,
    /// Approximate size of all tuples in words.
    size: usize,
    /// The numbered lower and upper bounds.
    numbers: FxHashMap<Box<[i32]>, u32>,
    /// How often the cache was cleared.
    pub(super) forgotten: u32,
}

/// Approximate words per tuple, not counting shared parts.
const TUPLE_WORDS: usize = 24;
/// Approximate words per shared part besides its content.
const PART_WORDS: usize = 12;
/// Approximate words per entry of `moved`.
const MOVED_WORDS: usize = 8;

/// Size in words at which the cache is cleared.
const MOST_NUMBERS: usize = 1 << 22;

impl Tuples {
    pub(super) fn new(shared: bool) -> Tuples {
        Tuples { shared, ..Tuples::default() }
    }

    /// Accounts for memory that callers attach to tuple numbers.
    pub(super) fn grow(&mut self, words: usize) {
        self.size += words;
    }

    /// Clears the cache if it is too large: earlier numbers become invalid.
    pub(super) fn tidy(&mut self) {
        if self.size > MOST_NUMBERS {
            self.clear();
        }
    }

    /// Clears the cache.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.small.clear();
        self.alike.clear();
        self.moved.clear();
        self.all = Chunks::default();
        self.facts.clear();
        self.members.clear();
        self.size = 0;
        self.numbers.clear();
        self.forgotten += 1;
    }

    /// The bounds of a tuple's clocks, with a number that identifies them.
    pub(super) fn bounds(&mut self, id: u32) -> RowBounds<'_> {
        let Tuple { facts, numbers: Numbers { bounds, .. }, .. } = self.all.get_mut(id);
        if *bounds == NO_PROGRAM {
            let next = self.numbers.len() as u32;
            *bounds = *self.numbers.entry(facts.bounds().into()).or_insert(next);
        }
        let number = u64::from(self.forgotten) << u32::BITS | u64::from(*bounds);
        RowBounds { lower: facts.lower(), upper: facts.upper(), number }
    }

    /// Takes the plan of a tuple out, if it has one.
    #[inline]
    pub(super) fn take_plan(&mut self, id: u32) -> Option<Box<Plan>> {
        self.all.get_mut(id).plan.take()
    }

    /// Puts a plan back, or stores a new one.
    #[inline]
    pub(super) fn put_plan(&mut self, id: u32, plan: Box<Plan>, new: bool) {
        if new {
            self.size += plan.size();
        }
        self.all.get_mut(id).plan = Some(plan);
    }

    /// Sets numbers of a tuple and of all tuples with the same facts that are added later.
    pub(super) fn set_numbers(&mut self, id: u32, set: impl Fn(&mut Numbers)) {
        let tuple = self.all.get_mut(id);
        set(&mut tuple.numbers);
        if let Some(known) = self.facts.get_mut(&tuple.facts) {
            set(known);
        }
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> &Tuple {
        self.all.get(id)
    }

    /// The number of the tuple of a state.
    #[inline]
    pub(super) fn of(&mut self, words: &[u32], layout: &Layout, tables: &Tables, bounds: &Bounds) -> u32 {
        self.of_or(words, layout, |tuples| tuples.make(words, layout, tables, bounds))
    }

    #[inline]
    fn of_or(&mut self, words: &[u32], layout: &Layout, compute: impl FnOnce(&mut Tuples)) -> u32 {
        layout.tuple_key(words, &mut self.key);
        let small = match *self.key.as_slice() {
            [one] => Some(u64::from(one)),
            [one, two] => Some(u64::from(one) | u64::from(two) << 32),
            _ => None,
        };
        let known = match small {
            Some(key) => self.small.get(&key),
            None => self.ids.get(self.key.as_slice()),
        };
        if let Some(&id) = known {
            return id;
        }
        compute(self);
        let id = self.keep();
        self.size += self.key.len();
        match small {
            Some(key) => self.small.insert(key, id),
            None => self.ids.insert(self.key.as_slice().into(), id),
        };
        id
    }

    /// Adds the computed tuple and returns its number. Parts in common with others are stored once.
    fn keep(&mut self) -> u32 {
        let Tuples { draft, words, .. } = self;
        let content = draft.facts(words);
        let (facts, numbers) = match self.facts.get_key_value(content) {
            Some((known, &numbers)) => (known.clone(), numbers),
            None => {
                let facts = Facts::from(content);
                self.facts.insert(facts.clone(), Numbers::default());
                self.size += content.len() + PART_WORDS;
                (facts, Numbers::default())
            }
        };
        let content = draft.members(words);
        let members = match self.members.get(content) {
            Some(known) => known.clone(),
            None => {
                let members = Members::from(content);
                self.members.insert(members.clone());
                self.size += content.len() + PART_WORDS;
                members
            }
        };
        let stopping = draft.stopping;
        let content = self.shared.then(|| (members.clone(), facts.clone(), stopping));
        if let Some(&id) = content.as_ref().and_then(|content| self.alike.get(content)) {
            return id;
        }
        self.size += TUPLE_WORDS;
        let committed = !members.committed().is_empty();
        let urgent = stopping > 0;
        let id = self.all.push(Tuple { facts, members, stopping, committed, urgent, numbers, plan: None });
        if let Some(content) = content {
            self.alike.insert(content, id);
        }
        id
    }

    /// The number of the tuple that a shared one becomes when processes move from one slot to
    /// another. The cost depends on the moves only, since no other process influences the bounds of
    /// their clocks.
    pub(super) fn follow(
        &mut self,
        source: u32,
        moved: impl Iterator<Item = (u32, u32)>,
        tables: &Tables,
        bounds: &Bounds,
    ) -> u32 {
        debug_assert!(self.shared, "tuples of locations have no content of their own");
        moved.fold(source, |id, (left, entered)| {
            let [left, entered] = [left, entered].map(|slot| tables.kind(&tables.slots[slot as usize]));
            if left == entered {
                return id;
            }
            let key = (id, u64::from(left) << 32 | u64::from(entered));
            if let Some(&known) = self.moved.get(&key) {
                return known;
            }
            let location = tables.slots[entered as usize].location;
            self.change(id, std::iter::once((left, entered)), |_| location, tables, bounds);
            let next = self.keep();
            self.moved.insert(key, next);
            self.size += MOVED_WORDS;
            next
        })
    }

    /// Whether a tuple agrees with the locations of a state.
    pub(super) fn agrees(
        &mut self,
        id: u32,
        words: &[u32],
        layout: &Layout,
        tables: &Tables,
        bounds: &Bounds,
    ) -> bool {
        self.make(words, layout, tables, bounds);
        let Tuples { draft, words, all, .. } = self;
        let tuple = all.get(id);
        let same = |part: &[u32], computed: &[u32]| part == computed;
        tuple.stopping == draft.stopping
            && same(tuple.members.borrow(), draft.members(words))
            && same(tuple.facts.borrow(), draft.facts(words))
    }

    /// The number of the tuple after a transition that moves some processes. The contribution of
    /// the other processes is reused.
    #[expect(clippy::too_many_arguments, reason = "two states, who moves, and the tables of a model")]
    pub(super) fn after_move(
        &mut self,
        source: u32,
        before: &[u32],
        words: &[u32],
        moved: impl Iterator<Item = u32>,
        layout: &Layout,
        tables: &Tables,
        bounds: &Bounds,
    ) -> u32 {
        let slots = |process: u32| {
            let slot = |words| tables.slot_number(process as usize, layout.location(words, process as usize));
            (slot(before), slot(words))
        };
        let location = |process: u32| layout.location(words, process as usize);
        self.of_or(words, layout, |tuples| {
            tuples.change(source, moved.map(slots), location, tables, bounds);
            #[cfg(debug_assertions)]
            {
                let changed = tuples.draft.clone();
                tuples.make(words, layout, tables, bounds);
                assert_eq!(changed, tuples.draft, "what changes of a tuple");
            }
        })
    }

    /// Computes the tuple that results when some processes move from one slot to another; `location`
    /// gives the locations after the move.
    fn change(
        &mut self,
        source: u32,
        moved: impl Iterator<Item = (u32, u32)>,
        location: impl Fn(u32) -> u32,
        tables: &Tables,
        bounds: &Bounds,
    ) {
        let Tuples { all, draft, affected, .. } = self;
        let old = all.get(source);
        draft.begin(&old.members, old.stopping);
        affected.clear();
        for slots in moved {
            let [left, entered] = [slots.0, slots.1].map(|slot| {
                let slot = &tables.slots[slot as usize];
                let local = bounds.at(ProcessId(slot.process), LocationId(slot.location));
                affected.extend(local.iter().map(|bound| bound.clock.0));
                slot
            });
            draft.stopping = draft.stopping - left.stops_time() + entered.stops_time();
            put(&mut draft.within, tables.kind(left), false);
            put(&mut draft.within, tables.kind(entered), !entered.invariant.fixed.is_empty());
            put(&mut draft.computed, entered.process, entered.computed);
            put(&mut draft.committed, entered.process, entered.committed);
        }
        affected.sort_unstable();
        affected.dedup();
        let mut affected = affected.iter().copied().peekable();
        let (active, lower, upper) = (old.members.active(), old.lower(), old.upper());
        let mut kept = 0;
        loop {
            let next = active.get(kept).copied();
            let Some(&clock) = affected.peek().filter(|&&clock| next.is_none_or(|next| clock <= next)) else {
                let Some(next) = next else { break };
                draft.add_clock(next, lower[kept], upper[kept]);
                kept += 1;
                continue;
            };
            affected.next();
            kept += usize::from(next == Some(clock));
            let (lower, upper, active) = bounds.of_clock(clock, &location);
            if active {
                draft.add_clock(clock, lower, upper);
            }
        }
        add_invariant(draft, tables);
    }

    /// Computes the tuple of a state.
    fn make(&mut self, words: &[u32], layout: &Layout, tables: &Tables, bounds: &Bounds) {
        let Tuples { draft, lower, upper, .. } = self;
        draft.clear();
        let processes = tables.first_slot.len();
        let locations = || (0..processes).map(|process| (process, layout.location(words, process)));
        let local = locations()
            .flat_map(|(process, location)| bounds.at(ProcessId(process as u32), LocationId(location)));
        for bound in local.chain(bounds.everywhere()) {
            let clock = bound.clock.0 as usize;
            if lower.len() <= clock {
                lower.resize(clock + 1, NO_BOUND);
                upper.resize(clock + 1, NO_BOUND);
            }
            draft.active.push(clock as u32);
            lower[clock] = lower[clock].max(bound.lower);
            upper[clock] = upper[clock].max(bound.upper);
        }
        draft.active.sort_unstable();
        draft.active.dedup();
        for &clock in &draft.active {
            draft.lower.push(std::mem::replace(&mut lower[clock as usize], NO_BOUND));
            draft.upper.push(std::mem::replace(&mut upper[clock as usize], NO_BOUND));
        }
        for (process, location) in locations() {
            let slot = tables.slot(process, location);
            draft.stopping += slot.stops_time();
            if slot.computed {
                draft.computed.push(process as u32);
            }
            if slot.committed {
                draft.committed.push(process as u32);
            }
            if !slot.invariant.fixed.is_empty() {
                draft.within.push(tables.kind(slot));
            }
        }
        add_invariant(draft, tables);
    }
}

/// Derives the invariant by rows.
fn add_invariant(draft: &mut Draft, tables: &Tables) {
    for &slot in &draft.within {
        for atom in &tables.slots[slot as usize].invariant.fixed {
            if let (Some(left), Some(right)) = (row(&draft.active, atom.left), row(&draft.active, atom.right))
            {
                draft.invariant.push((left, right, atom.bound));
            }
        }
    }
}

/// Inserts a number into a sorted list, or removes it.
fn put(list: &mut Vec<u32>, number: u32, wanted: bool) {
    match (list.binary_search(&number), wanted) {
        (Err(place), true) => list.insert(place, number),
        (Ok(place), false) => {
            list.remove(place);
        }
        _ => {}
    }
}
