//! Random priorities: of threads (PCT), or of pending operations (POS).
//!
//! PCT runs the enabled thread of highest priority; at `depth - 1` randomly chosen points it lowers
//! that thread below all that were not lowered. It finds a bug of depth d with probability at least
//! 1/(n k^(d-1)) in each execution of n threads and k steps. POS draws a priority for each pending
//! operation, and again for those that race with the step taken, which makes all orders of racing
//! operations likely.

use crate::kernel::{Kernel, Pick};
use crate::policy::Way;

/// Priorities of threads that were not lowered exceed this.
const HIGH: u64 = 1 << 63;
/// Change point i assigns this plus i; yielding assigns less.
const MIDDLE: u64 = 1 << 62;

impl Kernel {
    pub(super) fn begin_pct(&mut self, depth: u32, length: u32) {
        self.policy.switches = 0;
        self.policy.lowest = MIDDLE - 1;
        // A depth beyond the number of steps means a change at every step: more points are not
        // needed.
        for _ in 1..depth.min(length.saturating_add(1)) {
            let point = self.random.below(u64::from(length.max(1))) as u32;
            self.policy.points.push(point);
        }
    }

    /// Gives a new thread, or a new pending operation, a random priority.
    #[inline]
    pub(crate) fn draw_priority(&mut self, t: u32) {
        if matches!(self.way, Way::Pct | Way::Pos | Way::Few) {
            let priority = HIGH | self.random.next();
            self.set_priority(t, priority);
        }
    }

    fn set_priority(&mut self, t: u32, priority: u64) {
        let (t, priorities) = (t as usize, &mut self.policy.priorities);
        if t >= priorities.len() {
            priorities.resize(t + 1, 0);
        }
        priorities[t] = priority;
    }

    pub(super) fn choose_pct(&mut self, count: u32) -> Option<Pick> {
        let mut best = self.highest()?;
        // Only states in which several threads are enabled count.
        if self.count_of(best.thread) < count {
            let now = self.policy.switches;
            self.policy.switches += 1;
            if let Some(i) = self.policy.points.iter().position(|&point| point == now) {
                self.set_priority(best.thread, MIDDLE + i as u64);
                best = self.highest()?;
            }
        }
        if self.is_yielding(best.thread) {
            // It runs now, and has the lowest priority afterwards.
            let lowest = self.policy.lowest;
            self.policy.lowest -= 1;
            self.set_priority(best.thread, lowest);
            best = self.highest()?;
        }
        self.choose_alternative(best)
    }

    pub(super) fn choose_highest(&mut self) -> Option<Pick> {
        let best = self.highest()?;
        self.choose_alternative(best)
    }

    /// The first choice of the thread that took the fewest steps.
    pub(super) fn choose_fewest_steps(&mut self) -> Option<Pick> {
        let mut best: Option<(Pick, u32)> = None;
        self.each_first(|pick| {
            let steps = self.steps_of(pick.thread);
            if best.is_none_or(|(_, fewest)| steps < fewest) {
                best = Some((pick, steps));
            }
        });
        self.choose_alternative(best?.0)
    }

    /// The first choice of the enabled thread of highest priority; the first one among equals.
    #[inline]
    fn highest(&self) -> Option<Pick> {
        let (mut best, mut highest) = (None, 0);
        self.each_first(|pick| {
            let priority = self.policy.priorities.get(pick.thread as usize).copied().unwrap_or(0);
            if priority > highest || best.is_none() {
                (best, highest) = (Some(pick), priority);
            }
        });
        best
    }
}
