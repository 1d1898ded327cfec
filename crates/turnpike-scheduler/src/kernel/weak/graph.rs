//! The events of an execution under weak memory, and the happens-before order.

use alloc::vec::Vec;

use super::super::NONE;

/// An event of a thread that takes part in ordering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    /// The thread's own component of its clock.
    pub(super) time: u32,
    /// The object that it accesses, if any.
    pub(super) object: u32,
    /// Start and length of its clock.
    clock: (u32, u32),
}

/// All events, in execution order.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    clocks: Vec<u32>,
    by_thread: Vec<Vec<u32>>,
}

impl Graph {
    pub(super) const fn new() -> Graph {
        Graph { events: Vec::new(), clocks: Vec::new(), by_thread: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.clocks.clear();
        self.by_thread.iter_mut().for_each(Vec::clear);
    }

    /// Adds an event of a thread with this clock; returns its number.
    pub(super) fn add(&mut self, thread: u32, object: u32, clock: &[u32]) -> u32 {
        let number = self.events.len() as u32;
        let start = self.clocks.len() as u32;
        self.clocks.extend_from_slice(clock);
        let time = clock.get(thread as usize).copied().unwrap_or(0);
        self.events.push(Event { thread, time, object, clock: (start, clock.len() as u32) });
        if thread as usize >= self.by_thread.len() {
            self.by_thread.resize_with(thread as usize + 1, Vec::new);
        }
        self.by_thread[thread as usize].push(number);
        number
    }

    pub(super) fn clock(&self, event: u32) -> &[u32] {
        let (start, length) = self.events[event as usize].clock;
        &self.clocks[start as usize..][..length as usize]
    }

    /// The events of a thread.
    pub(super) fn of_thread(&self, t: u32) -> &[u32] {
        self.by_thread.get(t as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a clock includes an event.
    pub(super) fn is_known(&self, event: u32, clock: &[u32]) -> bool {
        let Event { thread, time, .. } = self.events[event as usize];
        clock.get(thread as usize).is_some_and(|&known| time <= known)
    }

    /// The clock of a thread's last event on an object other than `object`.
    pub(super) fn clock_elsewhere(&self, t: u32, object: u32) -> Option<&[u32]> {
        let elsewhere = |&&event: &&u32| {
            let on = self.events[event as usize].object;
            on != object || on == NONE
        };
        self.of_thread(t).iter().rev().find(elsewhere).map(|&event| self.clock(event))
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub(super) fn insert(&mut self, member: u32) {
        let word = member as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (member % 64);
    }

    pub(super) fn add_all(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, other) in self.0.iter_mut().zip(&other.0) {
            *mine |= other;
        }
    }

    pub(super) fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(mine, other)| mine & other != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        crate::bits::ones(&self.0)
    }
}

impl Set {
    /// Adds a member if there is one.
    pub(super) fn extend_with(&mut self, member: Option<u32>) {
        if let Some(member) = member {
            self.insert(member);
        }
    }

    pub(super) fn contains(&self, member: u32) -> bool {
        self.0.get(member as usize / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }
}
