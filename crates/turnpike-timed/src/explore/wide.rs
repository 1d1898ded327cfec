//! Successors in networks with many processes: a step costs as much as what moves, not as what
//! exists.
//!
//! Tuples of locations of such networks hardly ever recur, so plans for them ([`super::plan`])
//! would be wasted. What zones depend on does recur: the active clocks, their bounds, invariants
//! and urgency. Tuples that agree in these are therefore shared, and the tuple that results when a
//! process moves is cached. From one state to the next only the processes that moved are examined,
//! and of the others only those with initiating edges.
//!
//! Only where the bounds of a clock depend on one process: see [`super::configuration::is_wide`].

use rustc_hash::FxHashMap;
use turnpike_model::Successors;

use super::plan::{Effect, is_steady};
use super::quick::Way;
use super::walker::Walker;
use crate::evaluate::Outcome;

/// If more processes moved from one state to the next, the tuple is looked up by locations.
const MOST_MOVES: usize = 8;

/// Approximate words per cached effect.
const EFFECT_WORDS: usize = 20;

/// Marks the absence of an edge or a channel.
const NONE: u32 = u32::MAX;

/// The state that was visited last, and cached transitions.
#[derive(Debug, Default)]
pub(super) struct Wide {
    /// The words of its locations.
    words: Vec<u32>,
    /// Its tuple, and the clear count of the tuples at that time.
    tuple: u32,
    forgotten: u32,
    /// A bit set of its processes with initiating edges.
    starters: Vec<u64>,
    moved: Vec<u32>,
    /// Whether the rows are those of the source.
    mapped: bool,
    /// Effects of transitions of one or two edges, by tuple and channel, then edges.
    effects: FxHashMap<(u64, u64), Effect>,
    /// The same for more edges.
    long: FxHashMap<Box<[u32]>, Effect>,
    key: Vec<u32>,
}

impl Wide {
    /// The cached effect of a transition.
    #[inline]
    fn effect(&mut self, tuple: u32, channel: Option<u32>, steps: &[u32]) -> Option<Effect> {
        match short_key(tuple, channel, steps) {
            Some(key) => self.effects.get(&key).copied(),
            None => {
                self.key.clear();
                self.key.extend([tuple, channel.unwrap_or(NONE)]);
                self.key.extend_from_slice(steps);
                self.long.get(self.key.as_slice()).copied()
            }
        }
    }

    /// Caches an effect; for long keys, `key` is still set from the lookup.
    fn keep(&mut self, tuple: u32, channel: Option<u32>, steps: &[u32], effect: Effect) {
        match short_key(tuple, channel, steps) {
            Some(key) => {
                self.effects.insert(key, effect);
            }
            None => {
                self.long.insert(self.key.as_slice().into(), effect);
            }
        }
    }
}

#[inline]
fn short_key(tuple: u32, channel: Option<u32>, steps: &[u32]) -> Option<(u64, u64)> {
    let edges = match *steps {
        [one] => (one, NONE),
        [one, other] => (one, other),
        _ => return None,
    };
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    Some((pair(tuple, channel.unwrap_or(NONE)), pair(edges.0, edges.1)))
}

impl Walker<'_> {
    /// The number of the tuple of a state, derived from that of the previous state.
    pub(super) fn shared_tuple_of(&mut self, discrete: &[u32]) -> u32 {
        let model = self.model;
        let (layout, tables, bounds) = (&model.layout, &model.tables, &model.bounds);
        let Walker { wide, tuples, .. } = self;
        let slot = |words: &[u32], process: u32| {
            tables.slot_number(process as usize, layout.location(words, process as usize))
        };
        let locations = &discrete[..layout.location_words];
        if wide.words.is_empty() || wide.forgotten != tuples.forgotten {
            wide.effects.clear();
            wide.long.clear();
            wide.forgotten = tuples.forgotten;
            let processes = tables.first_slot.len();
            wide.starters.clear();
            wide.starters.resize(processes.div_ceil(u64::BITS as usize), 0);
            wide.moved.clear();
            wide.moved.extend(0..processes as u32);
            wide.tuple = tuples.of(discrete, layout, tables, bounds);
        } else {
            layout.moved_processes(&wide.words, locations, &mut wide.moved);
            wide.tuple = if wide.moved.len() > MOST_MOVES {
                tuples.of(discrete, layout, tables, bounds)
            } else {
                let slots = |&process: &u32| (slot(&wide.words, process), slot(locations, process));
                tuples.follow(wide.tuple, wide.moved.iter().map(slots), tables, bounds)
            };
        }
        for &process in &wide.moved {
            let starts = !tables.slots[slot(locations, process) as usize].starts.is_empty();
            let (word, bit) = (process / u64::BITS, process % u64::BITS);
            let bits = &mut wide.starters[word as usize];
            *bits = *bits & !(1 << bit) | u64::from(starts) << bit;
        }
        wide.words.clear();
        wide.words.extend_from_slice(locations);
        debug_assert!(tuples.agrees(wide.tuple, discrete, layout, tables, bounds), "what moves of a tuple");
        wide.tuple
    }

    /// All transitions of a state.
    pub(super) fn wide_steps(&mut self, state: &[u32], out: &mut Successors) -> Outcome<()> {
        self.load_quick(state)?;
        self.wide.mapped = false;
        self.quick.way = Way::Wide;
        let done = self.by_channels(out);
        self.quick.way = Way::Plain;
        done
    }

    /// The transitions of the state whose tuple was looked up last, process by process and by
    /// initiating edge.
    pub(super) fn all_starts(&mut self, out: &mut Successors) -> Outcome<()> {
        let tables = &self.model.tables;
        let members = &self.tuples.get(self.source).members;
        let receives = |&process: &u32| {
            let slot = tables.slot(process as usize, self.machine.locations[process as usize]);
            !slot.receives.is_empty()
        };
        // Without a committed initiator, a process in a committed location must receive.
        if !members.committed().is_empty() && tables.sure_starts && !members.committed().iter().any(receives)
        {
            let members = members.clone();
            return members.committed().iter().try_for_each(|&process| self.starts_of(process as usize, out));
        }
        for word in 0..self.wide.starters.len() {
            let mut bits = self.wide.starters[word];
            while bits != 0 {
                self.starts_of(word * u64::BITS as usize + bits.trailing_zeros() as usize, out)?;
                bits &= bits - 1;
            }
        }
        Ok(())
    }

    fn starts_of(&mut self, process: usize, out: &mut Successors) -> Outcome<()> {
        let tables = &self.model.tables;
        let slot = tables.slot(process, self.machine.locations[process]);
        for &step in tables.list(&slot.starts) {
            if out.len() > self.enough {
                return Ok(());
            }
            if self.guard(step)? {
                self.start(step, out)?;
            }
        }
        Ok(())
    }

    /// Takes the participants' transition, whose guards on variables hold.
    pub(super) fn take_wide(&mut self, out: &mut Successors) -> Outcome<()> {
        let known = self.wide.effect(self.source, self.channel, &self.participants);
        if let Some(effect) = &known {
            let steps = std::mem::take(&mut self.participants);
            let taken = self.take_known(effect, &steps, out);
            self.participants = steps;
            if taken? {
                return Ok(());
            }
        }
        if !std::mem::replace(&mut self.wide.mapped, true) {
            self.map_rows();
        }
        let learnt = self.take_quick(out)?;
        let tables = &self.model.tables;
        if learnt.steady && is_steady(tables, &self.participants) {
            if known.is_none() {
                self.tuples.grow(EFFECT_WORDS);
            }
            let mut effect = known.unwrap_or_else(|| Effect::unknown(tables, &self.participants));
            learnt.add_to(&mut effect);
            self.wide.keep(self.source, self.channel, &self.participants, effect);
        }
        Ok(())
    }
}
