//! A location of weak memory: its writes in modification order, and which threads saw them.

use alloc::vec::Vec;

use super::super::NONE;
use super::super::knowledge::Clock;
use crate::fingerprint::Fingerprint;

/// A write. Writes are numbered in execution order; 0 is the initial value.
#[derive(Debug)]
pub(super) struct Write {
    /// Identifies the write in every schedule: a hash of its thread's past.
    pub(super) name: Fingerprint,
    pub(super) value: u64,
    /// What an acquiring read of it learns.
    pub(super) message: Clock,
    /// Its position in modification order.
    pub(super) position: u32,
    /// Whether a read-modify-write read it, and therefore directly follows it.
    pub(super) taken: bool,
    /// Its event; `NONE` for the initial value.
    pub(super) event: u32,
    /// The events that read it.
    pub(super) readers: Vec<u32>,
    /// Whether it is pure, as the initial value is.
    pub(super) pure: bool,
}

/// An atomic variable.
#[derive(Debug, Default)]
pub(super) struct Location {
    pub(super) writes: Vec<Write>,
    /// Numbers of the writes, in modification order.
    pub(super) order: Vec<u32>,
    /// By thread: when it read or wrote the variable, and which write that was. Coherence makes
    /// both ascending.
    seen: Vec<Vec<(u32, u32)>>,
    /// The last pure write.
    pure: u32,
}

/// The name of every initial value.
pub(super) fn initial_name() -> Fingerprint {
    Fingerprint::START.mix_word(0x1417)
}

impl Location {
    /// Resets the variable to a value that every thread knows.
    pub(super) fn reset(&mut self, value: u64) {
        self.writes.clear();
        self.order.clear();
        self.seen.iter_mut().for_each(Vec::clear);
        self.order.push(0);
        self.writes.push(Write {
            name: initial_name(),
            value,
            message: Vec::new(),
            position: 0,
            taken: false,
            event: NONE,
            readers: Vec::new(),
            pure: true,
        });
        self.pure = 0;
    }

    /// The last write in modification order.
    pub(super) fn newest(&self) -> u32 {
        self.order.last().copied().unwrap_or(0)
    }

    /// The position of the last pure write.
    pub(super) fn last_pure(&self) -> u32 {
        self.writes.get(self.pure as usize).map_or(0, |write| write.position)
    }

    /// The first position that a thread may still read, or write after, given its clock; with
    /// `None` only its own accesses count.
    pub(super) fn floor(&self, t: u32, clock: Option<&[u32]>) -> u32 {
        let mut floor = 0;
        for (by, seen) in (0..).zip(&self.seen) {
            let known = match clock {
                _ if by == t => u32::MAX,
                Some(clock) => clock.get(by as usize).copied().unwrap_or(0),
                None => continue,
            };
            let count = seen.partition_point(|&(time, _)| time <= known);
            if let Some(&(_, write)) = count.checked_sub(1).and_then(|last| seen.get(last)) {
                floor = floor.max(self.writes[write as usize].position);
            }
        }
        floor
    }

    /// The write that a thread saw last, if any.
    pub(super) fn last_seen(&self, t: u32) -> Option<u32> {
        Some(self.seen.get(t as usize)?.last()?.1)
    }

    /// Records that a thread saw a write.
    pub(super) fn see(&mut self, t: u32, time: u32, write: u32) {
        let t = t as usize;
        if t >= self.seen.len() {
            self.seen.resize_with(t + 1, Vec::new);
        }
        self.seen[t].push((time, write));
    }

    /// Inserts a write after another one; returns its number.
    pub(super) fn insert(&mut self, after: u32, write: Write) -> u32 {
        let number = self.writes.len() as u32;
        let position = self.writes[after as usize].position + 1;
        if write.pure {
            self.pure = number;
        }
        self.writes.push(Write { position, ..write });
        self.order.insert(position as usize, number);
        for &moved in &self.order[position as usize + 1..] {
            self.writes[moved as usize].position += 1;
        }
        number
    }

    /// The contribution of a new write after `after` to the fingerprint of a state: modification
    /// order is represented by the set of its adjacent pairs.
    pub(super) fn order_change(&self, after: u32, name: Fingerprint) -> u128 {
        let before = &self.writes[after as usize];
        let mut change = pair(before.name, name);
        if let Some(&next) = self.order.get(before.position as usize + 1) {
            let next = self.writes[next as usize].name;
            change = change.wrapping_sub(pair(before.name, next)).wrapping_add(pair(name, next));
        }
        change
    }

    /// The writes after one, in modification order.
    pub(super) fn behind(&self, write: u32) -> impl Iterator<Item = &Write> {
        let position = self.writes[write as usize].position as usize;
        self.order[position + 1..].iter().map(|&write| &self.writes[write as usize])
    }
}

pub(super) fn pair(first: Fingerprint, second: Fingerprint) -> u128 {
    first.mix(second).mix_word(0x6d6f).summand()
}
