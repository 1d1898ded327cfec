//! Bounds on preemptions and delays, and the marked part of an execution in which threads are
//! scheduled.
//!
//! At no cost, the thread of the last step continues while it is enabled; when it waits, yields or
//! has ended, the next enabled one in the order of names runs. A *preemption* switches away from a
//! thread that could have continued. A *delay* skips one thread in that round-robin order, so
//! switching to the third thread costs two. Choices that exceed the remaining budget are removed
//! from the list. Outside of the marked part, only the first choice without cost remains.
//!
//! The choices of a state then depend on the last thread and on the remaining budget, so both are
//! part of its fingerprint.

use super::{Kernel, NONE, Pick};
use crate::bits;
use crate::fingerprint::Fingerprint;
use crate::plan::Plan;
use crate::policy::Way;

/// No bound.
const UNBOUNDED: u32 = u32::MAX;
/// The gap between random preemptions is at most two to this power choices.
const LARGEST_GAP: u64 = 16;

/// The remaining budget of an execution.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Whether anything is bounded.
    pub(super) on: bool,
    /// Whether a choice was removed.
    pub(super) left_out: bool,
    preemptions: u32,
    delays: u32,
    /// Whether threads are scheduled only between marks.
    around: bool,
    /// Whether a marked part was ever entered.
    pub(super) entered: bool,
    /// How many marked parts are open.
    open: u32,
    /// The same before the last step, as needed for the fingerprint.
    open_before: u32,
    /// Number of choices before the next random preemption.
    gap: Option<u64>,
}

impl Allowance {
    pub(super) const fn new() -> Allowance {
        Allowance {
            on: false,
            left_out: false,
            preemptions: UNBOUNDED,
            delays: UNBOUNDED,
            around: false,
            entered: false,
            open: 0,
            open_before: 0,
            gap: None,
        }
    }

    fn is_outside(&self) -> bool {
        self.around && self.open == 0
    }
}

impl Kernel {
    pub(super) fn begin_bounds(&mut self, plan: &Plan<'_>) {
        let bounds = plan.bounds;
        self.allowance = Allowance {
            on: bounds.preemptions.is_some() || bounds.delays.is_some() || bounds.around,
            preemptions: bounds.preemptions.unwrap_or(UNBOUNDED),
            delays: bounds.delays.unwrap_or(UNBOUNDED),
            around: bounds.around,
            ..Allowance::new()
        };
    }

    /// The current thread enters a marked part, see [`crate::Bounds::around`].
    pub fn open_part(&mut self) {
        self.allowance.open = self.allowance.open.saturating_add(1);
        self.allowance.entered = true;
    }

    /// The current thread leaves a marked part.
    pub fn close_part(&mut self) {
        self.allowance.open = self.allowance.open.saturating_sub(1);
    }

    /// The thread of the last step, if it is enabled and not yielding.
    fn continuing_thread(&self) -> Option<u32> {
        let ready = self.last != NONE && bits::test(&self.ready, self.thread(self.last).rank);
        (ready && !self.is_yielding(self.last)).then_some(self.last)
    }

    /// The number of threads with choices, and the position among them of the one that runs at no
    /// cost.
    fn round(&self) -> (u32, u32) {
        let first = match (self.last, self.continuing_thread()) {
            (NONE, _) => 0,
            (_, Some(last)) => self.thread(last).rank,
            (last, None) => self.thread(last).rank + 1,
        };
        let (mut threads, mut start) = (0, None);
        self.each_first(|pick| {
            if start.is_none() && self.thread(pick.thread).rank >= first {
                start = Some(threads);
            }
            threads += 1;
        });
        (threads, start.unwrap_or(0))
    }

    /// Removes the choices that exceed the remaining budget.
    pub(super) fn keep_within_bounds(&mut self) {
        let (threads, start) = self.round();
        let continuing_thread = self.continuing_thread();
        let allowance = &self.allowance;
        let (outside, delays) = (allowance.is_outside(), allowance.delays);
        let preempts = allowance.preemptions > 0;
        let before: u32 = self.runs.iter().map(|run| run.count).sum();
        let (mut place, mut previous) = (NONE, NONE);
        self.runs.retain_mut(|run| {
            let first = run.thread != previous;
            if first {
                place = place.wrapping_add(1);
                previous = run.thread;
            }
            if outside {
                run.count = 1;
                return first && place == start;
            }
            let delay = (place + threads - start) % threads;
            delay <= delays && (preempts || continuing_thread.is_none_or(|last| last == run.thread))
        });
        let after: u32 = self.runs.iter().map(|run| run.count).sum();
        self.allowance.left_out |= after < before;
    }

    /// Preemptions and delays that a choice of the current state costs. Only the last threads of
    /// the round were removed, so the positions of the others are unchanged.
    fn cost(&self, thread: u32) -> (u32, u32) {
        if self.allowance.is_outside() {
            return (0, 0);
        }
        let (threads, start) = self.round();
        let (mut place, mut found) = (0, start);
        self.each_first(|pick| {
            if pick.thread == thread {
                found = place;
            }
            place += 1;
        });
        let delays = (found + threads - start) % threads.max(1);
        (self.continuing_thread().is_some_and(|last| last != thread).into(), delays)
    }

    /// The remaining budget after a choice.
    fn left_after(&self, thread: u32) -> (u32, u32) {
        let (preemptions, delays) = self.cost(thread);
        let less = |left: u32, cost: u32| if left == UNBOUNDED { left } else { left.saturating_sub(cost) };
        (less(self.allowance.preemptions, preemptions), less(self.allowance.delays, delays))
    }

    /// Charges a step of this thread that is about to be taken.
    pub(super) fn spend(&mut self, thread: u32) {
        let left = self.left_after(thread);
        (self.allowance.preemptions, self.allowance.delays) = left;
        self.allowance.open_before = self.allowance.open;
    }

    /// The contribution of bounds to the fingerprint of the current state.
    pub(super) fn bounds_now(&self) -> u128 {
        let Allowance { on, preemptions, delays, open_before, .. } = self.allowance;
        if !on || self.last == NONE {
            return 0;
        }
        self.bounds_summand(self.last, (preemptions, delays), open_before)
    }

    /// Their contribution after a choice of the current state.
    pub(super) fn bounds_after(&self, pick: Pick) -> u128 {
        if !self.allowance.on {
            return 0;
        }
        self.bounds_summand(pick.thread, self.left_after(pick.thread), self.allowance.open)
    }

    fn bounds_summand(&self, last: u32, (preemptions, delays): (u32, u32), open: u32) -> u128 {
        let left = u64::from(preemptions) << 32 | u64::from(delays);
        let last = Fingerprint::START.mix_word(self.thread(last).name);
        last.mix_word(left).mix_word(open.into()).summand()
    }

    /// A random policy would spend the whole budget within the first steps. Instead, the last
    /// thread continues for a random number of choices, so that preemptions are as likely late as
    /// early, whatever the length of the execution.
    pub(crate) fn choose_to_continue(&mut self) -> Option<Pick> {
        let Allowance { on, preemptions, delays, .. } = self.allowance;
        let bounded = on && (preemptions != UNBOUNDED || delays != UNBOUNDED);
        if !bounded || !matches!(self.way, Way::Uniform | Way::Pos | Way::Few | Way::Weighted) {
            return None;
        }
        let (first, _) = self.of_thread(self.continuing_thread()?)?;
        let gap = match self.allowance.gap {
            Some(gap) => gap,
            None => {
                let largest = 1 << self.random.below(LARGEST_GAP + 1);
                self.random.below(largest)
            }
        };
        self.allowance.gap = gap.checked_sub(1);
        if gap == 0 {
            return None;
        }
        self.choose_alternative(first)
    }
}
