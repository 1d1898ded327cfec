//! Counters of the edges from a state in a bunch. All of these edges share one counter.

use crate::reduction::graph::NONE;

pub(super) struct Counters {
    counts: Vec<u32>,
    free: Vec<u32>,
    /// For each state, the counter that the current step created for it.
    fresh: Vec<u32>,
}

impl Counters {
    pub(super) fn new(states: usize) -> Counters {
        Counters { counts: Vec::new(), free: Vec::new(), fresh: vec![NONE; states] }
    }

    pub(super) fn get(&self, counter: u32) -> u32 {
        self.counts[counter as usize]
    }

    /// The counter that the current step created for this state.
    pub(super) fn fresh(&self, state: u32) -> u32 {
        self.fresh[state as usize]
    }

    /// Counts one edge in the state's fresh counter. Returns whether the counter had to be created.
    pub(super) fn count_fresh(&mut self, state: u32) -> bool {
        let fresh = &mut self.fresh[state as usize];
        let created = *fresh == NONE;
        if created {
            *fresh = self.free.pop().unwrap_or_else(|| {
                self.counts.push(0);
                self.counts.len() as u32 - 1
            });
        }
        self.counts[*fresh as usize] += 1;
        created
    }

    /// Moves one edge from the counter `old` to the fresh one, as [`Counters::count_fresh`].
    pub(super) fn recount(&mut self, state: u32, old: u32) -> bool {
        self.counts[old as usize] -= 1;
        self.count_fresh(state)
    }

    /// Ends a step: the next count for this state creates a new counter.
    pub(super) fn settle(&mut self, state: u32) {
        self.fresh[state as usize] = NONE;
    }

    /// Frees a counter if no edge is left. Call it at most once per counter and step.
    pub(super) fn free_if_zero(&mut self, counter: u32) {
        if self.counts[counter as usize] == 0 {
            self.free.push(counter);
        }
    }
}
